import { IpamError } from "../core/index.ts";
import { refusalOf } from "../kube/index.ts";
import { type LogEvent, type LogLevel, logLevels } from "./ground.ts";

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

function thrown(error: unknown): object {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const status = refusalOf(error)?.status;
  if (error instanceof IpamError)
    return { error: message, code: error.code, ...(status === undefined ? {} : { status }) };
  return { error: message, code: "bug", stack };
}
