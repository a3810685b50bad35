import { createHash, randomUUID } from "node:crypto";
import { IpamError, type Snapshot } from "../core/index.ts";
import { encode } from "./codec.ts";
import type { Mark } from "./mark.ts";

/** What is at one end of a move, at one moment. */
export interface Sight {
  /** Empty where the record is elsewhere. */
  readonly snapshot: Snapshot;
  readonly mark: Mark | undefined;
  /** Tells this place from any other one; undefined where only its name does. */
  readonly place: string | undefined;
  /** Returns whether the record that left by this mark came here; undefined if that is unknown. */
  hasArrived(left: Mark): boolean | undefined;
  /** Returns whether a record left here by the move of this mark, whatever came since. */
  hasDeparted(takes: Mark): boolean;
}

/** One end of a move: a record and its mark. What is written replaces what was seen, or IpamError `conflict` is thrown. */
export interface RecordPlace<S extends Sight = Sight> {
  readonly name: string;
  look(): Promise<S>;
  /** Looks, and sees to it that nobody writes what was decided before: they read again, and find the mark. */
  settle(): Promise<S>;
  /** Throws if a record of this content cannot be here. */
  checkFits(record: Snapshot): void;
  mark(seen: S, mark: Mark): Promise<void>;
  /** Opens the record; `arrived` is the move that has brought it. */
  unmark(seen: S, arrived?: string): Promise<void>;
  /** Makes this the record, under the mark that is there. Can be killed and done again. */
  write(seen: S, record: Snapshot): Promise<void>;
  /** Leaves nothing of the record but a mark. */
  clear(seen: S, mark: Mark): Promise<void>;
}

/** What a move does next; `nextStep` has the table. */
export type Step = "announce" | "close" | "reopen" | "take" | "write" | "clear" | "open" | "done";

/** One run of a move. */
interface Move<S extends Sight = Sight, T extends Sight = Sight> {
  readonly source: RecordPlace<S>;
  readonly target: RecordPlace<T>;
  /** The id by which this run has announced the record; a new one each time: by the last one, it may have come meanwhile. */
  run: string;
}

/**
 * Moves a record, lines and all, to a place that is empty, or has the same record: no address changes hands. Killed
 * anywhere, the same call goes on where it stopped. `onStep` is told of each step that is done. Throws IpamError: `invalid`
 * (nothing to move), `in-use`, `overlap`, `exhausted` (it does not fit there; nothing has happened), `stale`, and what
 * either place throws.
 */
export async function moveRecord<S extends Sight, T extends Sight>(
  source: RecordPlace<S>,
  target: RecordPlace<T>,
  onStep: (step: Step) => void = () => {},
): Promise<Snapshot> {
  const move = { source, target, run: "" };
  for (let tries = 1; tries <= 100; tries++)
    try {
      const [from, to] = [await source.look(), await target.look()];
      const step = nextStep(from, to, move);
      await take(step, move, from, to);
      if (step !== "done") onStep(step);
      if (step === "done" || step === "open") return to.snapshot;
    } catch (error) {
      if (!(error instanceof IpamError)) throw error;
      // Somebody else was first, or nobody knows: look again. What does not fit was refused with another code.
      if (error.code === "conflict" || error.code === "unknown-outcome") continue;
      if (error.code !== "unavailable" && (await withdraw(move).catch(() => false))) onStep("reopen");
      throw error;
    }
  throw new IpamError("unavailable", `other moves to ${target.name} go on at the same time`);
}

/** Takes a step, given what both ends have. */
async function take<S extends Sight, T extends Sight>(step: Step, move: Move<S, T>, from: S, to: T): Promise<void> {
  const { source, target } = move;
  const id = from.mark?.id ?? to.mark?.id ?? "";
  switch (step) {
    case "announce": {
      target.checkFits(from.snapshot);
      move.run = randomUUID();
      const before = leftMarkOf(to);
      return target.mark(to, { state: "expects", id: move.run, other: source.name, ...(before && { before }) });
    }
    case "close": {
      const { mark, place, snapshot } = await target.settle();
      if (mark?.id !== id) return;
      checkRoom(from.snapshot, snapshot, target.name);
      return source.mark(from, { state: "leaves", id, other: target.name, ...(place !== undefined && { place }) });
    }
    case "reopen":
      return source.unmark(from);
    case "take": {
      const { snapshot } = await source.settle();
      checkRoom(snapshot, to.snapshot, target.name);
      target.checkFits(snapshot);
      return target.mark(to, { state: "takes", id, other: source.name, digest: digestOf(snapshot) });
    }
    case "write":
      return target.write(to, from.snapshot);
    case "clear":
      return source.clear(from, { state: "left", id, other: target.name, digest: digestOf(to.snapshot) });
    case "open":
      if (from.mark?.state === "left") await source.clear(from, from.mark); // all of it, should that have been interrupted
      return target.unmark(to, to.mark?.id);
  }
}

/** Takes a move back that was refused before the target took anything. Was the source closed? */
async function withdraw<S extends Sight, T extends Sight>({ source, target }: Move<S, T>): Promise<boolean> {
  const [from, to] = [await source.look(), await target.look()];
  const isClosed = from.mark?.state === "leaves" && from.mark.id === to.mark?.id;
  if (to.mark?.state !== "expects" || !(isClosed || to.mark.other === source.name)) return false;
  // First the target: nobody can take this any more.
  await (to.mark.before === undefined ? target.unmark(to) : target.mark(to, to.mark.before));
  if (isClosed) await source.unmark(from);
  return isClosed;
}

/** What says, at a target, that its own record is elsewhere. */
function leftMarkOf({ mark }: Sight): Mark | undefined {
  return mark?.state === "left" ? mark : mark?.before;
}

/**
 * What comes next in a move, whoever began it, from what both ends say. At no moment can both be written, and from `close`
 * to `open` neither can.
 *
 *  source   | target                        | step
 *  ---------+-------------------------------+-----------------------------------------------------------------------
 *  no mark  | open, or left                 | announce: the target expects the record, and nobody uses it any more
 *  no mark  | expects, by this run          | close: the source leaves, and nobody uses it any more
 *  no mark  | expects, by another run       | announce: whoever has closed a source for that one opens it again
 *  no mark  | takes x, all of this          | close, as x: this is the source as it was before it was closed
 *  leaves x | expects x                     | take: from here on the target takes x, and nothing else
 *  leaves x | takes x                       | write; clear, once all of it is there
 *  leaves x | has x, and is open            | clear
 *  leaves x | else, and none of its pools   | reopen: no move is announced twice, so x never comes there
 *  x left   | takes x, all of it            | open, whatever came to the source since
 *  left x   | has x                         | done
 *
 *  Refused: all else; a target that has another record, or whose own one is in another place than the source; a source that
 *  leaves for another place than this target.
 */
function nextStep(source: Sight, target: Sight, move: Move): Step {
  const [from, to] = [source.mark, target.mark];
  if (to?.state === "takes" && source.hasDeparted(to) && to.digest === digestOf(target.snapshot)) return "open";
  if (from?.state === "left") return stepOfLeft(from, target);
  if (from?.state === "leaves") return stepOfLeaving(from, source, target, move);
  if (from !== undefined) throw busy("the source is about to get a record itself", from);
  if (source.snapshot.pools.length === 0) throw new IpamError("invalid", "there is no record to move");
  if (to?.state === "leaves") throw busy("the target's own record is on its way", to);
  if (to?.state === "takes") {
    if (to.digest === digestOf(source.snapshot)) return "close";
    throw busy("the target is taking another record, or the source has changed since", to);
  }
  const left = leftMarkOf(target);
  if (left !== undefined && source.hasArrived(left) === false) throw elsewhere(left);
  checkRoom(source.snapshot, target.snapshot, move.target.name);
  return to?.state === "expects" && to.id === move.run ? "close" : "announce";
}

function stepOfLeft(left: Mark, target: Sight): Step {
  if (target.mark === undefined && target.hasArrived(left)) return "done";
  throw new IpamError("stale", `the record has moved to ${left.other} before`, {
    hint: "Use it there. What is here is not what came there then.",
  });
}

function stepOfLeaving(from: Mark, source: Sight, target: Sight, move: Move): Step {
  const to = target.mark;
  if (to === undefined && target.hasArrived(from)) return "clear";
  const isTarget = from.place === undefined ? from.other === move.target.name : from.place === target.place;
  // A record that the target had may be the one that came by a copy of this source, unless it is here.
  const isElsewhere = to?.state === "left" && !(to.other === move.source.name && source.hasArrived(to));
  if (!isTarget || isElsewhere) throw busy("the record is on its way", from);
  if (to?.id !== from.id) {
    const known = new Set(target.snapshot.pools.map((pool) => pool.name));
    if (source.snapshot.pools.some((pool) => known.has(pool.name)))
      throw busy("a copy of the record may be there", from);
    return "reopen";
  }
  if (to.state === "expects") return "take";
  return digestOf(target.snapshot) === digestOf(source.snapshot) ? "clear" : "write";
}

/** Throws `in-use` for a target that has another record: two records never become one. */
function checkRoom(record: Snapshot, there: Snapshot, name: string): void {
  if (there.pools.length === 0 || digestOf(there) === digestOf(record)) return;
  const pools = there.pools.map((pool) => pool.name).join(", ");
  throw new IpamError("in-use", `${name} has a record already, with pools ${pools}`, {
    hint: "A record moves to an empty place alone: take another namespace, or another file.",
  });
}

function busy(what: string, { other }: Mark): IpamError {
  return new IpamError("in-use", `${what} (${other}), and that move has not ended`, {
    hint: "End that one first, from both ends as it began. If one of them is lost, the page on recovery says what to do.",
  });
}

function elsewhere({ other }: Mark): IpamError {
  return new IpamError("in-use", `the target's own record has moved to ${other}, and that is not the source`, {
    hint: "Name the place that it has moved to. If that record is lost, its addresses are in use still: the page on recovery says how to bring it back.",
  });
}

/** Tells the content of a record from others. */
export function digestOf(record: Snapshot): string {
  return createHash("sha256").update(encode(record)).digest("hex").slice(0, 16);
}
