import { type Allocation, formatBlock, IpamError, nameOfKey, ownerOfKey } from "../core/index.ts";
import { refusalOf } from "../kube/index.ts";

import { type LogEvent, type LogLevel, logLevels, type RecordChange } from "./dependencies.ts";

/** Writes what is as important as `least`, one JSON object a line. */
export function logger(least: LogLevel, write: (line: string) => void, now: () => Date): (event: LogEvent) => void {
  const most = logLevels.indexOf(least);
  return (event) => {
    if (logLevels.indexOf(event.level) <= most) write(`${logLine(event, now())}\n`);
  };
}

/**
 * An event as JSON: time, level, message, and its fields.
 *
 *  what was thrown       | error       | code             | status                | stack
 *  ----------------------+-------------+------------------+-----------------------+-------
 *  nothing               |             |                  |                       |
 *  an IpamError          | its message | its code         | the server's, if any  |
 *  anything else: a bug  | its message | bug              |                       | yes
 */
export function logLine({ level, message, error, ...fields }: LogEvent, time: Date): string {
  return JSON.stringify({ time, level, message, ...fields, ...(error === undefined ? {} : thrown(error)) });
}

/**
 * Returns how important it is that a key is tried again after an error, `pause` milliseconds later. Two writers that meet are a conflict,
 * which is normal; a pause this long says that they meet again and again.
 */
export function retryLevel(error: unknown, pause: number): LogLevel {
  return error instanceof IpamError && error.code === "conflict" && pause < 10_000 ? "debug" : "warn";
}

function thrown(error: unknown): object {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const status = refusalOf(error)?.status;
  if (error instanceof IpamError)
    return { error: message, code: error.code, ...(status === undefined ? {} : { status }) };
  return { error: message, code: "bug", stack };
}

/** Logs each line that a commit changed. */
export function logChange(change: RecordChange, log: (event: LogEvent) => void): void {
  for (const [message, lines] of Object.entries(change))
    for (const line of lines as readonly Allocation[]) {
      const [owner, claim] = [ownerOfKey(line.claim), nameOfKey(line.claim)];
      log({ level: "info", message, owner, address: formatBlock(line), pool: line.pool, claim });
    }
}
