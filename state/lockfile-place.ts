import { emptySnapshot, IpamError } from "../core/index.ts";
import { decode, encode } from "./codec.ts";
import { type Mark, markedText, withoutMark } from "./mark.ts";
import type { RecordPlace } from "./migrate.ts";
import { digestOf, type Sight } from "./next-step.ts";
import { refuseDeleted } from "./other-locks.ts";
import { readText, replaceFile } from "./replace-file.ts";

interface FileSight extends Sight {
  readonly text: string | undefined;
  /** The same without its mark: as long as the record leaves, its lines are as they were, whatever they go as. */
  readonly lines: string;
}

/**
 * A lockfile as one end of a move. What tells it from its copies is the first mark by which it expected a record, as
 * long as it has one. `name` is what people of other folders are told.
 */
export function lockfilePlace(path: string, name = path): RecordPlace<FileSight> {
  const look = async (): Promise<FileSight> => {
    const text = readText(path);
    if (text === undefined) refuseDeleted(path);
    const { mark, rest } = withoutMark(text ?? "", path);
    const snapshot = text === undefined ? emptySnapshot : decode(rest, path);
    const isTarget = mark?.state === "expects" || mark?.state === "takes" || mark?.state === "has";
    return {
      text,
      lines: text === undefined ? encode(snapshot) : rest,
      mark,
      snapshot,
      place: isTarget ? mark.place : undefined,
      // Without its mark it remembers nothing; a source that has nothing any more knows what had come.
      hasEnded: ({ state, id, digest }) =>
        mark === undefined
          ? (state === "left" && digest === digestOf(snapshot)) || undefined
          : mark.state === "has" && mark.id === id,
    };
  };
  const write = async ({ text }: FileSight, next: string) => {
    if (replaceFile(path, text, next) !== "written")
      throw new IpamError("conflict", `${path} was written by somebody else`);
  };
  const marked = (seen: FileSight, mark: Mark, lines: string) =>
    write(seen, markedText(mark.state === "left" ? mark : { place: seen.place ?? mark.id, ...mark }, lines));
  return {
    name,
    look,
    settle: look, // whoever read it before finds another text, and fails
    checkFits() {},
    mark: (seen, mark) => marked(seen, mark, seen.lines),
    unmark: (seen) => write(seen, seen.lines),
    take: (seen, record, mark) => marked(seen, mark, encode(record)),
    clear: (seen, mark) => write(seen, markedText(mark, encode(emptySnapshot))),
  };
}
