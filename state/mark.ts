import { IpamError } from "../core/index.ts";

/** What a record says of itself while it moves to another place, and after that; migrate.ts has the steps. Nobody uses one that has a mark. */
export interface Mark {
  /**
   * `expects`: a record is about to come here. `takes`: it is coming; the other place has closed it. `leaves`: this record
   * is going there. `left`: it is there.
   */
  readonly state: (typeof states)[number];
  /** Of the move. */
  readonly id: string;
  /** The name of the other place, for people. */
  readonly other: string;
  /** With `leaves`, which place that is, where something tells. */
  readonly place?: string;
  /** With `left`, the digest of what has come there; with `takes`, of what is to come. */
  readonly digest?: string;
  /** With `expects`, the mark that was there: the place's own record is elsewhere. */
  readonly before?: Mark;
}

const states = ["expects", "takes", "leaves", "left"] as const;

/** undefined if the text is no mark. */
export function parseMark(text: string): Mark | undefined {
  try {
    const { state, id, other, ...more } = JSON.parse(text);
    const { place = "any", digest = "any", before, ...rest } = more;
    const isMark = states.includes(state) && [id, other, place, digest].every((one) => typeof one === "string" && one);
    const isWhole = before === undefined || parseMark(JSON.stringify(before)) !== undefined;
    return isMark && isWhole && Object.keys(rest).length === 0 ? { state, id, other, ...more } : undefined;
  } catch {
    return undefined;
  }
}

/** What whoever wants to use a record with a mark is told; `target` is where records like that one move to. */
export function refusalOfMark({ state, other }: Mark, name: string, target: "cluster" | "file"): IpamError {
  if (state === "left")
    return new IpamError("stale", `the record of ${name} has moved to ${other}`, {
      hint: target === "file" ? "Use it there, and begin no other one here" : "Use it there.",
      remedy: ["moved", target],
    });
  const [what, where] =
    state === "leaves" ? ["is moving", `to ${other}`] : ["is to get a record that moves", `from ${other}`];
  return new IpamError("unavailable", `${name} ${what} ${where}, and that has not ended`, {
    hint: "Run that move again: it goes on where it stopped.",
  });
}

const line = /^mark: (.*)\r?\n/m;

/** The text of a lock with a mark. Nothing that reads a lock takes it for one. */
export function markedText(mark: Mark, text: string): string {
  return text.replace(/^version: /m, (version) => `mark: ${JSON.stringify(mark)}\n${version}`);
}

/** The mark of a lock, and the lock without it. */
export function withoutMark(text: string, path: string): { readonly mark: Mark | undefined; readonly rest: string } {
  const found = line.exec(text);
  if (found === null) return { mark: undefined, rest: text };
  const mark = parseMark(found[1] as string);
  if (mark === undefined)
    throw new IpamError("corrupt", `${path} has a mark that cannot be read`, { hint: "Restore it as it was." });
  return { mark, rest: text.replace(line, "") };
}

/** Throws if a lock has a mark anywhere, also in what git left of a merge. */
export function refuseMarked(text: string, path: string): void {
  const { mark } = withoutMark(text, path);
  if (mark !== undefined) throw refusalOfMark(mark, path, "cluster");
}
