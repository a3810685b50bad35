import { emptySnapshot, IpamError } from "../core/index.ts";
import { decode, encode } from "./codec.ts";
import { type Mark, markedText, withoutMark } from "./mark.ts";
import { digestOf, type RecordPlace, type Sight } from "./migrate.ts";
import { refuseMissing } from "./missing-lock.ts";
import { readText, replaceFile } from "./replace-file.ts";

interface FileSight extends Sight {
  readonly text: string | undefined;
}

/** A lockfile as one end of a move. `name` is what people of other folders are told; `init` begins one beside others. */
export function lockfilePlace(path: string, name = path, init = false): RecordPlace<FileSight> {
  const look = async (): Promise<FileSight> => {
    const text = readText(path);
    if (text === undefined) refuseMissing(path, init);
    const { mark, rest } = withoutMark(text ?? "", path);
    const snapshot = text === undefined ? emptySnapshot : decode(rest, path);
    // Without its mark a file remembers nothing, but may still have what came.
    const hasArrived = ({ digest }: Mark) => digest === digestOf(snapshot) || undefined;
    const hasDeparted = ({ id }: Mark) => mark?.state === "left" && mark.id === id;
    return { text, mark, snapshot, place: undefined, hasArrived, hasDeparted };
  };
  const write = async ({ text }: FileSight, next: string) => {
    if (replaceFile(path, text, next) !== "written")
      throw new IpamError("conflict", `${path} was written by somebody else`);
  };
  return {
    name,
    look,
    settle: look, // whoever read it before finds another text, and fails
    checkFits() {},
    mark: (seen, mark) => write(seen, markedText(mark, encode(seen.snapshot))),
    unmark: (seen) => write(seen, encode(seen.snapshot)),
    write: (seen, record) => write(seen, markedText(seen.mark as Mark, encode(record))),
    clear: (seen, mark) => write(seen, markedText(mark, encode(emptySnapshot))),
  };
}
