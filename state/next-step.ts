import { createHash } from "node:crypto";
import { IpamError, type Snapshot } from "../core/index.ts";
import { encode } from "./codec.ts";
import { type Mark, markOfLeft, type Onward, refusalOfOnward } from "./mark.ts";
import { isCopyOf } from "./records-apart.ts";

/** What is at one end of a move, at one moment. */
export interface Sight {
  readonly snapshot: Snapshot;
  readonly mark: Mark | undefined;
  /** The set that lines of set `default` go as, where one was chosen, and whether the record has lines of it itself. */
  readonly chosen?: { readonly set: string; readonly isTaken: boolean };
  /** Tells this place from any other one. A place that does not expect a record may have none. */
  readonly place: string | undefined;
  /** Has the move of this mark ended here: has its record come, or left? Undefined where nobody can tell any more. */
  hasEnded(move: Mark): boolean | undefined;
  /** The moves that have brought a record here that is here; undefined where nobody remembers. */
  readonly arrived?: readonly string[];
  /** Where the record that came by this move has gone on to since, if it has, and this place knows. */
  onward?(move: Mark): Onward | undefined;
}

export type Step = "point" | "announce" | "close" | "open" | "reopen" | "carry" | "clear" | "finish" | "done";

/**
 * What comes next in a move, whoever began it, from what both ends say. At no moment can both be written, and
 * from `close` to `carry` neither can.
 *
 *  source    | target               | step
 *  ----------+----------------------+----------------------------------------------------------------------------
 *  no mark   | no mark, or left     | announce: the target expects a record, and nobody uses it any more
 *  no mark   | expects, by this run | close: the source leaves for this target; from here on nobody uses it
 *  no mark   | expects, by another  | announce: whoever has let go of a record for that one takes it back
 *  no mark   | takes x, all of this | close, as x: this is a copy of a source that was lost on the way
 *  leaves x  | expects x            | open: the target takes x, and nothing else until it has it
 *  leaves x  | takes x              | carry: the whole record is written, and then the target's mark is gone, or `has`
 *  leaves x  | has taken x          | clear
 *  leaves x  | none of these        | reopen: no move is announced twice, so x never comes there
 *  left x    | has taken x          | done; refused if x has gone on from there
 *  x has left| has x                | finish: the mark is gone
 *
 *  Refused: a source that leaves for another place than this target; a target that takes another record, or leaves, or
 *  expects that of another place, or whose own record has left for another place than this source; a source that expects
 *  or takes one; a source that has left.
 */
export function nextStep(source: Sight, target: Sight, name: string, run: string): Step {
  const [from, to] = [source.mark, target.mark];
  if (to?.state === "has" && source.hasEnded(to)) return "finish";
  if (from?.state === "left") {
    if (to?.state === "leaves") throw busy("the target's own record is on its way", to.other);
    const onward = target.onward?.(from);
    if (onward !== undefined) throw refusalOfOnward(from, "the source", onward);
    if (target.hasEnded(from)) return "done";
    throw new IpamError("stale", `the record has moved to ${from.other} before`, {
      hint: "Use it there. What is here is not what came there then.",
    });
  }
  if (from?.state === "leaves") return stepOfLeaving(from, target, name);
  if (from !== undefined) throw busy("the source is about to get a record itself", from.other);
  if (to?.state === "leaves") throw busy("the target's own record is on its way", to.other);
  checkComesBack(markOfLeft(to), source, name);
  if (to?.state === "takes") return stepOfLost(source.snapshot, to);
  if (to?.state === "has") throw busy("the target is taking a record", to.other, to.set);
  if (to === undefined && isCopy(source, target)) return "point";
  if (to?.state !== "expects") return "announce";
  if (to.from !== undefined && to.from !== source.place) throw busy("the target expects another record", to.other);
  return to.id === run ? "close" : "announce";
}

/** Throws if the target's own record has left, by this mark, for another place than the source, or is not there any more. */
function checkComesBack(left: Mark | undefined, source: Sight, name: string): void {
  if (left === undefined) return;
  if (source.hasEnded(left) === false) throw elsewhere(left);
  const onward = source.onward?.(left);
  if (onward !== undefined) throw refusalOfOnward(left, name, onward);
}

/** Of what a target takes whose source may be lost: nobody knows but by the content. */
function stepOfLost(record: Snapshot, { digest, other, set }: Mark): Step {
  if (digest === digestOf(record)) return "close";
  const { issues } = busy("the target is taking a record", other, set);
  const hint =
    "If this is a copy of that source, it lacks what was not committed there: plan that again, from the same manifests, and the same lines come.";
  throw new IpamError("in-use", [
    ...issues,
    { message: "this record has other lines than the one that is to come", hint },
  ]);
}

/** Is a source without a mark what came to the target before, and is there as it came? Its own mark was lost then, or is not here yet. */
function isCopy(source: Sight, { snapshot, arrived = [] }: Sight): boolean {
  return arrived.length > 0 && source.snapshot.pools.length > 0 && isCopyOf(snapshot, source.snapshot);
}

function stepOfLeaving(from: Mark, target: Sight, name: string): Step {
  if (target.hasEnded(from)) return "clear";
  if (from.place !== target.place)
    throw from.other === name ? lostTarget(name) : busy("the record is on its way", from.other);
  const { state, id } = target.mark ?? {};
  if (id === from.id && state === "takes") return "carry";
  return id === from.id && state === "expects" ? "open" : "reopen";
}

/** `set` is what that move was begun with. */
function busy(what: string, other: string, set?: string): IpamError {
  const message = `${what} (${other}), and that move has not ended`;
  if (set === undefined) return new IpamError("in-use", message, { hint: "End that one first." });
  return new IpamError("in-use", message, {
    hint: `End that one first. It was begun as set ${set}, and goes on as that, also from a copy of its source.`,
  });
}

function lostTarget(name: string): IpamError {
  return new IpamError(
    "in-use",
    `the record is on its way to ${name}, and what it was to come to is not there any more`,
    {
      hint: "That was restored, checked out or deleted on the way: bring it back; or give the move up, as the page on state backends says of this mark.",
    },
  );
}

function elsewhere({ other }: Mark): IpamError {
  return new IpamError("in-use", `the target's own record has moved to ${other}, and that is not the source`, {
    hint: "Name the place that it has moved to. If that record is lost, its addresses are in use still: the page on state backends says how to bring it back.",
  });
}

/** Tells the content of a record from others. */
export function digestOf(record: Snapshot): string {
  return createHash("sha256").update(encode(record)).digest("hex").slice(0, 16);
}
