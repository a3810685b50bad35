import { createHash, randomUUID } from "node:crypto";
import { type Allocation, byAddress, byCodeUnit, checkSet, IpamError, type Snapshot } from "../core/index.ts";
import { decode, encode, snapshotOf } from "./codec.ts";
import { type Mark, markOfLeft, type Onward, refusalOfOnward } from "./mark.ts";
import { checkApart, checkNoCopy, isAllIn, setsOf } from "./records-apart.ts";

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

/** One end of a move: a record and its mark. What is written replaces what was seen, or IpamError `conflict` is thrown. */
export interface RecordPlace<S extends Sight = Sight> {
  readonly name: string;
  look(): Promise<S>;
  /** Looks, and sees to it that nobody writes what was decided before: they read again, and find the mark. */
  settle(): Promise<S>;
  /** Throws if a record of this content cannot be here. */
  checkFits(record: Snapshot): void;
  mark(seen: S, mark: Mark): Promise<void>;
  unmark(seen: S): Promise<void>;
  /** Makes this the record, and remembers that it came: without a mark, or by this one. Can be killed and done again. */
  take(seen: S, record: Snapshot, mark: Mark): Promise<void>;
  /** Leaves nothing of the record but a mark. */
  clear(seen: S, mark: Mark): Promise<void>;
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

/** Is a source without a mark what came to the target before, or a part of it? Its own mark was lost then, or is not here yet. */
function isCopy(source: Sight, { snapshot, arrived = [] }: Sight): boolean {
  return arrived.length > 0 && source.snapshot.pools.length > 0 && isAllIn(source.snapshot, snapshot);
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
    remedy: ["set", set],
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

/**
 * Moves a record, lines and all, to another place: no address changes hands. Killed anywhere, the same call goes
 * on where it stopped. `onStep` is told of each step that was made. Throws IpamError: `invalid` (nothing to move),
 * `in-use`, `overlap`, `exhausted` (it does not fit there; nothing has happened), `stale`, and what either place throws.
 */
export async function moveRecord<S extends Sight, T extends Sight>(
  source: RecordPlace<S>,
  target: RecordPlace<T>,
  onStep: (step: Step) => void = () => {},
): Promise<Snapshot> {
  let run = "";
  for (let lost = 0; ; ) {
    const [from, to] = [await source.look(), await target.look()];
    try {
      const step = nextStep(from, to, target.name, run);
      if (step === "done") return to.snapshot;
      // A new one each time: by the last one, a record may have come there meanwhile.
      if (step === "announce") run = randomUUID();
      await make(step, source, target, from, to, run);
      onStep(step);
      if (step === "finish") return to.snapshot; // from here on others write there
    } catch (error) {
      if (!(error instanceof IpamError)) throw error;
      // Somebody else was first, or nobody knows: look again. What does not fit was refused with another code.
      const isOpen = error.code === "conflict" || error.code === "unknown-outcome";
      if (isOpen && ++lost <= 20) continue;
      if (!isOpen && error.code !== "unavailable") await withdraw(source, target, onStep).catch(() => {});
      throw error;
    }
  }
}

/**
 * The move was refused. A target that expects this record does so no longer, and what was let go of for it is taken back.
 * In between it expects a move that nobody makes. A file does not say who it is: where it was another one that is
 * expected, that one takes back what it has let go of, and announces its move again.
 */
async function withdraw<S extends Sight, T extends Sight>(
  source: RecordPlace<S>,
  target: RecordPlace<T>,
  onStep: (step: Step) => void,
): Promise<void> {
  const [from, to] = [await source.look(), await target.look()];
  if (to.mark?.state !== "expects" || (to.mark.from !== undefined && to.mark.from !== from.place)) return;
  const { id, before } = to.mark;
  if (from.mark?.state === "leaves" && from.mark.id === id) {
    await target.mark(to, { ...to.mark, id: randomUUID() });
    await source.unmark(from);
    onStep("reopen");
    return withdraw(source, target, onStep);
  }
  await (before === undefined ? target.unmark(to) : target.mark(to, before));
}

async function make<S extends Sight, T extends Sight>(
  step: Exclude<Step, "done">,
  source: RecordPlace<S>,
  target: RecordPlace<T>,
  from: S,
  to: T,
  run: string,
): Promise<void> {
  const id = from.mark?.id ?? (step === "close" ? to.mark?.id : undefined) ?? run;
  const incoming = (state: Mark["state"]): Mark => ({ state, id, other: source.name });
  const outgoing = (state: Mark["state"]): Mark => ({ state, id, other: target.name });
  if (step === "announce") {
    checkFits(from, to, target);
    const before = markOfLeft(to.mark);
    const origin = from.place === undefined ? {} : { from: from.place };
    await target.mark(to, { ...incoming("expects"), ...origin, ...(before === undefined ? {} : { before }) });
  } else if (step === "close") {
    const { mark, place } = await target.settle();
    if (mark?.id === id) await source.mark(from, { ...outgoing("leaves"), ...(place === undefined ? {} : { place }) });
  } else if (step === "reopen") {
    checkNeverCame(from, to, target);
    await source.unmark(from);
  } else if (step === "open") {
    const settled = await source.settle();
    checkFits(settled, to, target);
    const { set } = from.mark ?? {};
    const digest = digestOf(settled.snapshot);
    await target.mark(to, { ...incoming("takes"), digest, ...(set === undefined ? {} : { set }) });
  } else if (step === "carry") {
    const settled = await source.settle();
    await target.take(to, united(to.snapshot, settled.snapshot), incoming("has"));
  } else if (step === "point") {
    await source.clear(from, { ...outgoing("left"), id: to.arrived?.at(-1) ?? id, digest: digestOf(to.snapshot) });
  } else if (step === "finish") {
    if (from.mark?.state === "left") await source.clear(from, from.mark); // all of it, should that have been interrupted
    await target.unmark(to);
  } else await source.clear(from, { ...outgoing("left"), digest: digestOf(to.snapshot) });
}

/** Tells the content of a record from others. */
export function digestOf(record: Snapshot): string {
  return createHash("sha256").update(encode(record)).digest("hex").slice(0, 16);
}

function checkFits({ snapshot, chosen }: Sight, { snapshot: there }: Sight, target: RecordPlace): void {
  if (chosen?.isTaken)
    throw new IpamError("in-use", `the record has lines of claim set ${chosen.set} itself`, {
      hint: "As one set, whoever plans a part of it would release the rest. Choose another name",
      remedy: ["set"],
    });
  checkApart(snapshot, there, target.name, chosen?.set);
  target.checkFits(united(there, snapshot));
}

/** Throws `in-use` where a copy of a source that is closed may have gone there instead. */
function checkNeverCame({ snapshot }: Sight, { snapshot: there, mark }: Sight, { name }: RecordPlace): void {
  checkNoCopy(snapshot, there, name);
  if (mark?.state === "left")
    throw new IpamError(
      "in-use",
      `${name} has sent its record on to ${mark.other}, and a copy of this one may be in it`,
      {
        hint: "If it is not, give this move up, as the page on state backends says of this mark.",
      },
    );
}

/**
 * The same place, whose lines of set `default` are of another set: the one that a move has begun with, or else this.
 * Throws IpamError `invalid` for no name of a set.
 */
export function withSet<S extends Sight>(place: RecordPlace<S>, wanted: string | undefined): RecordPlace<S> {
  if (wanted !== undefined) checkSet(wanted);
  let known = wanted;
  const seenAs = ({ snapshot, ...seen }: S) => {
    const set = seen.mark?.set ?? known;
    if (wanted !== undefined && set !== wanted)
      throw new IpamError("invalid", `this move has begun as set ${set}, and ends as that`);
    known = set;
    if (set === undefined) return { ...seen, snapshot } as S;
    const chosen = {
      set,
      isTaken: set !== "default" && ["default", set].every((one) => setsOf(snapshot).includes(one)),
    };
    return { ...seen, snapshot: asSet(snapshot, set), chosen } as S;
  };
  return {
    ...place,
    look: async () => seenAs(await place.look()),
    settle: async () => seenAs(await place.settle()),
    mark: (seen, mark) => place.mark(seen, known === undefined ? mark : { ...mark, set: known }),
  };
}

function asSet({ pools, allocations, releasing }: Snapshot, set: string): Snapshot {
  const of = (lines: readonly Allocation[]) => lines.map((line) => (line.set === "default" ? { ...line, set } : line));
  return snapshotOf({ pools, allocations: of(allocations), releasing: of(releasing) });
}

/** Both records in one. What is in both already must be the same. */
function united(there: Snapshot, coming: Snapshot): Snapshot {
  const names = new Set(coming.pools.map((pool) => pool.name));
  for (const name of names)
    if (there.base.has(name) && there.base.get(name) !== coming.base.get(name))
      throw new IpamError("in-use", `pool ${name} has other addresses in the target`);
  const rest = <T extends { readonly pool: string }>(lines: readonly T[]) =>
    lines.filter(({ pool }) => !names.has(pool));
  const merged = snapshotOf({
    pools: [...there.pools.filter(({ name }) => !names.has(name)), ...coming.pools].sort((a, b) =>
      byCodeUnit(a.name, b.name),
    ),
    allocations: [...rest(there.allocations), ...coming.allocations].sort(byAddress),
    releasing: [...rest(there.releasing), ...coming.releasing].sort(byAddress),
  });
  return decode(encode(merged), "the moved record");
}
