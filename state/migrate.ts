import { randomUUID } from "node:crypto";
import { type Allocation, byAddress, byCodeUnit, checkSet, IpamError, type Snapshot } from "../core/index.ts";
import { decode, encode, snapshotOf } from "./codec.ts";
import { type Mark, markOfLeft } from "./mark.ts";
import { digestOf, nextStep, type Sight, type Step } from "./next-step.ts";
import { checkApart, checkNoCopy, setsOf } from "./records-apart.ts";

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

function checkFits({ snapshot, chosen }: Sight, { snapshot: there }: Sight, target: RecordPlace): void {
  if (chosen?.isTaken)
    throw new IpamError("in-use", `the record has lines of claim set ${chosen.set} itself`, {
      hint: "As one set, whoever plans a part of it would release the rest. Choose another set.",
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
