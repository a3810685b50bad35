import {
  type Allocation,
  BlockIndex,
  blocksOverlap,
  byAddress,
  byCodeUnit,
  describeSubnet,
  emptySnapshot,
  formatBlock,
  IpamError,
  type Issue,
  identityOf,
  type PoolRecord,
  placeOf,
  type Snapshot,
  sameSubnet,
} from "../core/index.ts";
import { type Content, decode, encode } from "./codec.ts";
import { apart, compose, type Entry, entries, sameEntry, type Version, versionOf } from "./compose.ts";

/** A line that lost its address or its claim to another one, and must be planned anew. */
export interface Loser {
  readonly line: Allocation;
  readonly winner: Allocation;
  /** Has nobody the address, because the winner has given it up but may still have it? */
  readonly isReleasing: boolean;
}

export interface Merged {
  readonly snapshot: Snapshot;
  readonly losers: readonly Loser[];
}

/**
 * Merges two records that grew from one base, address by address:
 *
 *  ours \ theirs | as base | changed                                            | gone
 *  --------------+---------+----------------------------------------------------+--------
 *  as base       | base    | theirs                                             | gone
 *  changed       | ours    | both changes in one line, where they go together   | ours
 *                |         | (`compose`), and no other line has that claim      |
 *                |         | live; else one claim: what landed, or the side it  |
 *                |         | is part of, or the live one; two: both claim it    |
 *                |         | (below)                                            |
 *  gone          | gone    | theirs                                             | gone
 *
 * Where two lines then claim one address, or one claim has two addresses: a line that `landed` holds wins, else a
 * live line that both sides still hold, else that of `side`, the one which `landed` is part of, else nobody may say:
 * IpamError `conflict` names both. Losers are left out; where nobody else has the address now, the line stands that one
 * side left as it was, or it is releasing, if the loser had it in the base.
 */
export function mergeRecords(
  base: Snapshot,
  ours: Snapshot,
  theirs: Snapshot,
  landed?: Snapshot,
  side?: "ours" | "theirs",
): Merged {
  const [b, o, t, l] = [base, ours, theirs, landed ?? emptySnapshot].map(versionOf) as Versions;
  const picked = [...new Set([...o.at.keys(), ...t.at.keys()])].flatMap((place) => pick(place, [b, o, t, l], side));
  const isLive = (version: Version, line: Allocation) => version.placeOfClaim.get(identityOf(line)) === placeOf(line);
  return settle(uncrossed(picked, l, side), mergePools(base, ours, theirs), landed, {
    isOfSide: (entry) =>
      side !== undefined && sameEntry(entry, { ours: o, theirs: t }[side].at.get(placeOf(entry.line))),
    isHeldByBoth: ({ line, of }) =>
      of === undefined ? isLive(o, line) && isLive(t, line) : of.every(({ releasing }) => !releasing),
    wasHeld: ({ line, of }) => of !== undefined || b.at.get(placeOf(line))?.line.claim === line.claim,
    stands: ({ line }) => {
      const before = b.at.get(placeOf(line));
      return before && [o, t].some((one) => sameEntry(before, one.at.get(placeOf(line)))) ? before : undefined;
    },
  });
}

/** Base, ours, theirs, and what landed. */
type Versions = [Version, Version, Version, Version];
type Side = "ours" | "theirs" | undefined;

/** The table, for one address. */
function pick(place: string, [base, ours, theirs, landed]: Versions, side: Side): Entry[] {
  const [before, one, other] = [base, ours, theirs].map((version) => version.at.get(place));
  if (one === undefined || other === undefined)
    return [one, other].filter((entry) => entry !== undefined).filter((entry) => !sameEntry(entry, before));
  if (sameEntry(one, other) || sameEntry(other, before)) return [one];
  if (sameEntry(one, before)) return [other];
  const decided = decide(one, other, landed, side);
  const composed = compose(place, base, ours, theirs, decided);
  return composed === undefined ? apart(one, other, decided) : [composed];
}

/** Which of two lines at one address is in force: the one that landed, else that of the side which `landed` is part of. */
function decide(ours: Entry, theirs: Entry, landed: Version, side: Side): Entry | undefined {
  const known = landed.at.get(placeOf(ours.line));
  return [ours, theirs].find((entry) => sameEntry(entry, known)) ?? (side && { ours, theirs }[side]);
}

/** Takes lines apart again that were composed to the name of another one. */
function uncrossed(picked: readonly Entry[], landed: Version, side: Side): Entry[] {
  const live = Map.groupBy(
    picked.filter(({ releasing }) => !releasing),
    ({ line }) => identityOf(line),
  );
  return picked.flatMap((entry) => {
    const others = (live.get(identityOf(entry.line))?.length ?? 0) - (entry.releasing ? 0 : 1);
    if (entry.of === undefined || others === 0) return [entry];
    const [ours, theirs] = entry.of as [Entry, Entry];
    return apart(ours, theirs, decide(ours, theirs, landed, side));
  });
}

/** What is known of the lines before they were merged. */
interface History {
  /** Is this how the side has it that landed? */
  readonly isOfSide: (entry: Entry) => boolean;
  readonly isHeldByBoth: (entry: Entry) => boolean;
  readonly wasHeld: (entry: Entry) => boolean;
  /** The line of the base at its address, where one side left it as it was. */
  readonly stands: (entry: Entry) => Entry | undefined;
}

const unknownHistory: History = {
  isOfSide: () => false,
  isHeldByBoth: () => false,
  wasHeld: () => true,
  stands: () => undefined,
};

/** How much speaks for an entry. */
function strengthOf(landed: Snapshot | undefined, history: History): (entry: Entry) => number {
  const inLanded = new Set(landed === undefined ? [] : entries(landed).map(entryKey));
  return (entry) => {
    const lines = entry.of ?? [entry];
    if (lines.some((line) => inLanded.has(entryKey(line)))) return 3;
    if (history.isHeldByBoth(entry)) return 2;
    return lines.some(history.isOfSide) ? 1 : 0;
  };
}

/** Lets the entries in, the strongest first; an entry that finds its address or its claim taken has lost. */
export function settle(
  candidates: readonly Entry[],
  pools: readonly PoolRecord[],
  landed: Snapshot | undefined,
  history: History = unknownHistory,
): Merged {
  const strength = strengthOf(landed, history);
  const rivalsOf = rivalry(candidates, pools);
  /** What stands where a candidate was let in. */
  const standing = new Map<Entry, Entry>();
  const byClaim = new Map<string, Entry>();
  const losers: Loser[] = [];
  const undecided: Issue[] = [];
  const ordered = candidates.toSorted((a, b) => strength(b) - strength(a) || byLine(a, b));
  const enter = (candidate: Entry, entry: Entry) => {
    standing.set(candidate, entry);
    if (!entry.releasing) byClaim.set(identityOf(entry.line), entry);
  };
  for (const entry of ordered) {
    const rivals = rivalsOf(entry);
    const holders = rivals.flatMap((rival) => standing.get(rival) ?? []);
    const winner =
      holders.find((one) => strength(one) <= strength(entry)) ??
      holders[0] ??
      (entry.releasing ? undefined : byClaim.get(identityOf(entry.line)));
    if (winner === undefined) enter(entry, entry);
    else if (strength(winner) > strength(entry)) {
      losers.push({ line: entry.line, winner: winner.line, isReleasing: winner.releasing });
      if (holders.length > 0) continue;
      const before = history.stands(entry);
      // A wider block than the one that was lost may reach into what others were given.
      const fits = before !== undefined && rivalsOf(before).every((rival) => rivals.includes(rival));
      if (fits && !byClaim.has(identityOf(before.line))) enter(entry, before);
      else if (history.wasHeld(entry)) enter(entry, { line: entry.line, releasing: true });
    } else undecided.push({ message: collision(winner.line, entry.line) });
  }
  refuseUndecided(undecided, landed !== undefined);
  return { snapshot: checked([...standing.values()], pools), losers };
}

function byLine(a: Entry, b: Entry): number {
  return byAddress(a.line, b.line) || byCodeUnit(a.line.claim, b.line.claim);
}

/** Tells which candidates share an address of a network with one of them. */
function rivalry(candidates: readonly Entry[], pools: readonly PoolRecord[]): (entry: Entry) => Entry[] {
  const networks = new Map(pools.map((pool) => [pool.name, pool.network]));
  const networkOf = ({ line }: Entry) => networks.get(line.pool);
  const groups = Map.groupBy(candidates, networkOf);
  const indexes = new Map(
    [...groups].map(([network, group]) => [
      network,
      new BlockIndex(group.map((entry) => ({ address: entry.line.address, length: entry.line.length, entry }))),
    ]),
  );
  return (entry) => (indexes.get(networkOf(entry))?.at(entry.line) ?? []).map((one) => one.entry);
}

function refuseUndecided(undecided: readonly Issue[], isSaid: boolean): void {
  const last = undecided.at(-1);
  if (last === undefined) return;
  const hint = isSaid
    ? "The revision that is said to be in force has neither. Say one that has: origin/main, where main is behind it"
    : "Say which side, REV (a branch or commit), is in force; the other is planned anew.";
  throw new IpamError("conflict", [...undecided.slice(0, -1), { ...last, hint, remedy: ["record", "landed"] }]);
}

function entryKey({ line, releasing }: Entry): string {
  return `${placeOf(line)} ${line.claim} ${releasing}`;
}

function collision(a: Allocation, b: Allocation): string {
  const [x, y] = [formatBlock(a), formatBlock(b)];
  if (x === y) return `both ${a.claim} and ${b.claim} were given ${x}`;
  return blocksOverlap(a, b)
    ? `${a.claim} was given ${x} and ${b.claim} ${y}, which overlap`
    : `${a.claim} was given both ${x} and ${y}`;
}

function mergePools(base: Snapshot, ours: Snapshot, theirs: Snapshot): PoolRecord[] {
  const find = (snapshot: Snapshot, name: string) => snapshot.pools.find((pool) => pool.name === name);
  const names = new Set([...ours.pools, ...theirs.pools].map((pool) => pool.name));
  return [...names].map((name) => {
    const [b, o, t] = [find(base, name), find(ours, name), find(theirs, name)];
    if (o === undefined || t === undefined) return (o ?? t) as PoolRecord;
    if (b !== undefined && sameSubnet(t, b)) return o;
    if (b !== undefined && sameSubnet(o, b)) return t;
    return onePool(o, t);
  });
}

/** The pool that both sides recorded. Throws `conflict` if they are two. */
export function onePool(a: PoolRecord, b: PoolRecord): PoolRecord {
  if (sameSubnet(a, b)) return a;
  throw new IpamError("conflict", `pool ${a.name} was recorded as ${describeSubnet(a)} and as ${describeSubnet(b)}`, {
    hint: "Say on one branch, in manifests and lock, what the other one says, and merge then.",
  });
}

/** The record of these entries, through the same checks as any text. */
function checked(all: readonly Entry[], pools: readonly PoolRecord[]): Snapshot {
  const list = (releasing: boolean) =>
    all
      .filter((entry) => entry.releasing === releasing)
      .map(({ line }) => line)
      .sort(byAddress);
  const used = new Set(all.map(({ line }) => line.pool));
  const record: Content = {
    pools: pools.filter((pool) => used.has(pool.name)).sort((a, b) => byCodeUnit(a.name, b.name)),
    allocations: list(false),
    releasing: list(true),
  };
  return decode(encode(record), "the merged lock");
}
