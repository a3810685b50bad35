import { IpamError, type PoolRecord, type Snapshot } from "../core/index.ts";
import { readAllocationLine, readPoolLine } from "./codec.ts";
import { claimAtPlace, type Entry, entries as entriesOf, type Merged, onePool, settle } from "./merge.ts";

/**
 * The record in a text that a merge has broken, by conflict markers or by lines that do not go together, when the
 * versions it came from are out of reach. All lines of both sides count, so nothing that one side still held is
 * freed; what collides is settled as in `mergeRecords`, and two lines for one pool are refused likewise. Throws `corrupt`
 * for a line that is none.
 */
export function salvage(text: string, file: string, landed?: Snapshot): Merged {
  // What landed is in force, whatever became of the text.
  const inForce = new Map(entriesOf(landed).map((entry) => [claimAtPlace(entry.line), entry]));
  const pools = new Map((landed?.pools ?? []).map((pool) => [pool.name, pool]));
  const found = new Map<string, PoolRecord>();
  const entries = new Map<string, Entry>();
  for (const { line, number } of listLines(text)) {
    const corrupt = (why: string) =>
      new IpamError("corrupt", [{ message: `this line ${why}:\n  ${line}`, at: { file, line: number, column: 1 } }]);
    if (!line.startsWith("- ")) throw corrupt("is neither a lock entry nor a conflict marker");
    const pool = readPoolLine(line);
    if (typeof pool !== "string") found.set(pool.name, onePool(found.get(pool.name) ?? pool, pool));
    const entry = readAllocationLine(line);
    if (typeof entry !== "string") {
      // A line that is live on one side is live.
      const key = claimAtPlace(entry.line);
      if (entries.get(key)?.releasing !== false) entries.set(key, entry);
    } else if (typeof pool === "string") throw corrupt(entry);
  }
  const candidates = [...new Map([...entries, ...inForce])].map(([key, entry]) => ({
    ...entry,
    rank: inForce.has(key) ? 3 : 0,
    instead: [{ line: entry.line, releasing: true, rank: 0 }],
  }));
  return settle(candidates, [...new Map([...pools, ...found]).values()], landed !== undefined);
}

const frame = /^(?:#.*|version: 1|(?:pools|allocations|releasing):(?: \[\])?|(?:<{7}|>{7})(?: .*)?|)$/;

/** The lines of a text but for its frame, the heads of its lists and the marks of git; the base part of a diff3 conflict is left out. */
function* listLines(text: string): Generator<{ line: string; number: number }> {
  let inBase = false;
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  for (const [i, line] of lines.entries()) {
    if (/^\|{7}(?: |$)/.test(line)) inBase = true;
    else if (line === "=======") inBase = false;
    else if (!inBase && !frame.test(line)) yield { line, number: i + 1 };
  }
}
