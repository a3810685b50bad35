import { emptySnapshot, IpamError, type Snapshot } from "../core/index.ts";
import { decode, encode } from "./codec.ts";
import { markedText, withoutMark } from "./mark.ts";
import type { RecordPlace, Sight } from "./migrate.ts";
import { readText, replaceFile } from "./replace-file.ts";

interface FileSight extends Sight {
  readonly text: string | undefined;
}

/** A lockfile as one end of a move. */
export function lockfilePlace(path: string): RecordPlace<FileSight> {
  const look = async (): Promise<FileSight> => {
    const text = readText(path);
    const { mark, rest } = withoutMark(text ?? "", path);
    const snapshot = text === undefined ? emptySnapshot : decode(rest, path);
    return {
      text,
      mark,
      snapshot,
      hasTaken: (_, record) => text !== undefined && mark === undefined && holdsPools(snapshot, record),
    };
  };
  const write = async ({ text }: FileSight, next: string) => {
    if (replaceFile(path, text, next) !== "written")
      throw new IpamError("conflict", `${path} was written by somebody else`);
  };
  return {
    name: path,
    look,
    settle: look, // whoever read it before finds another text, and fails
    checkFits() {},
    mark: (seen, mark) => write(seen, markedText(mark, encode(seen.snapshot))),
    take: (seen, record) => write(seen, encode(record)),
    clear: (seen, mark) => write(seen, markedText(mark, encode(emptySnapshot))),
  };
}

/** A file remembers no moves. But none of these pools was here when the move began, and nobody could begin them since. */
function holdsPools(snapshot: Snapshot, { pools }: Snapshot): boolean {
  const here = new Set(snapshot.pools.map((pool) => pool.name));
  return pools.every((pool) => here.has(pool.name));
}
