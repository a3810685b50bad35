import { IpamError, type PoolRecord, placeOf, type Snapshot } from "../core/index.ts";
import { readAllocationLine, readPoolLine } from "./codec.ts";
import { type Entry, entries as entriesOf, type Merged, onePool, settle } from "./merge.ts";

/**
 * The record in a text that a merge has broken, by conflict markers or by lines that do not go together, when the
 * versions it came from are out of reach. All lines of both sides count, so nothing that one side still held is
 * freed; what collides is settled as in `mergeRecords`, and two lines for one pool are refused likewise. Throws `corrupt`
 * for a line that is none.
 */
export function salvage(text: string, file: string, landed?: Snapshot): Merged {
  const pools = new Map<string, PoolRecord>();
  const inForce = new Map(landed === undefined ? [] : entriesOf(landed).map((entry) => [keyOf(entry), entry]));
  const entries = new Map<string, Entry>();
  for (const { line, number } of listLines(text)) {
    const corrupt = (why: string) =>
      new IpamError("corrupt", [{ message: `this line ${why}:\n  ${line}`, at: { file, line: number, column: 1 } }]);
    if (!line.startsWith("- ")) throw corrupt("is neither a lock entry nor a conflict marker");
    const pool = readPoolLine(line);
    if (typeof pool !== "string") pools.set(pool.name, onePool(pools.get(pool.name) ?? pool, pool));
    const entry = readAllocationLine(line);
    if (typeof entry !== "string") add(entries, inForce.get(keyOf(entry)) ?? entry);
    if (typeof pool === "string" && typeof entry === "string") throw corrupt(entry);
  }
  // What landed is in force, whatever became of the text.
  for (const [key, entry] of inForce) if (!entries.has(key)) entries.set(key, entry);
  for (const pool of landed?.pools ?? []) if (!pools.has(pool.name)) pools.set(pool.name, pool);
  return settle([...entries.values()], [...pools.values()], landed);
}

/** One entry for each address and claim, as it landed; else one that is live on a side is live. */
function add(entries: Map<string, Entry>, entry: Entry): void {
  const key = keyOf(entry);
  if (entries.get(key)?.releasing !== false) entries.set(key, entry);
}

function keyOf({ line }: Entry): string {
  return `${placeOf(line)} ${line.claim}`;
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
