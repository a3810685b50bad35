import { type Allocation, IpamError, type PoolRecord, type Snapshot } from "../core/index.ts";
import { readAllocationLine, readPoolLine } from "./codec.ts";
import { type Entry, type Merged, settle } from "./merge.ts";

/**
 * The record in a text that a merge has broken, by conflict markers or by lines that do not go together, when the
 * versions it came from are out of reach. All lines of both sides count, so nothing that one side still held is
 * freed; what collides is settled as in `mergeRecords`. Throws `corrupt` for a line that is none.
 */
export function salvage(text: string, file: string, landed?: Snapshot): Merged {
  const pools = new Map<string, PoolRecord>();
  const entries = new Map<string, Entry>();
  for (const { section, line, number } of sections(text)) {
    const value = section === "pools" ? readPoolLine(line) : readAllocationLine(line);
    if (typeof value === "string")
      throw new IpamError("corrupt", [
        { message: `this line ${value}:\n  ${line}`, at: { file, line: number, column: 1 } },
      ]);
    if ("prefix" in value) pools.set(value.name, value);
    else add(entries, value, section === "releasing");
  }
  return settle([...entries.values()], [...pools.values()], landed);
}

/** One entry for each address and claim; one that is live on a side is live. */
function add(entries: Map<string, Entry>, line: Allocation, releasing: boolean): void {
  const key = `${line.pool} ${line.address} ${line.claim}`;
  if (entries.get(key)?.releasing !== false) entries.set(key, { line, releasing });
}

/** The list lines of a text, with the section each stands in; the base part of a diff3 conflict is left out. */
function* sections(text: string): Generator<{ section: string; line: string; number: number }> {
  let section = "";
  let atConflict = "";
  let inBase = false;
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  for (const [i, line] of lines.entries()) {
    if (line.startsWith("<<<<<<< ")) atConflict = section;
    else if (line.startsWith("||||||| ")) inBase = true;
    else if (line === "=======") [section, inBase] = [atConflict, false];
    else if (inBase || line.startsWith(">>>>>>> ")) continue;
    else if (line.startsWith("- ")) yield { section, line, number: i + 1 };
    else section = /^(pools|allocations|releasing):/.exec(line)?.[1] ?? section;
  }
}
