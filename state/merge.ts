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
  ownerOfKey,
  type PoolRecord,
  placeOf,
  type Snapshot,
  sameLine,
  sameSubnet,
} from "../core/index.ts";
import { allocationLine, type Content, decode, encode } from "./codec.ts";

/** A line and the list it stands in. */
export interface Entry {
  readonly line: Allocation;
  readonly releasing: boolean;
}

/** All lines of a record. */
export function entries(record: Content): Entry[] {
  const list = (lines: readonly Allocation[], releasing: boolean) => lines.map((line) => ({ line, releasing }));
  return [...list(record.allocations, false), ...list(record.releasing, true)];
}

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
 *  changed       | ours    | one claim: what landed, or the side it is part of, | ours
 *                |         | or the live one, or (NIC or uid differ) either;    |
 *                |         | two: both claim it (below)                         |
 *  gone          | gone    | theirs                                             | gone
 *
 * Where two lines then claim one address, or one claim has two addresses: a line that `landed` holds wins, else a
 * live line that both sides still hold, else that of `side`, the one which `landed` is part of, else nobody may say:
 * IpamError `conflict` names both. Losers are left out; where nobody else has the address now, the line stands that one
 * side left as it was, or it is releasing, if the loser had it in the base. Nobody may say either, whatever landed, where
 * one side renamed the owner of a live line, and the other one changed something else of it.
 */
export function mergeRecords(
  base: Snapshot,
  ours: Snapshot,
  theirs: Snapshot,
  landed?: Snapshot,
  side?: "ours" | "theirs",
): Merged {
  const [b, o, t, l] = [base, ours, theirs, landed ?? emptySnapshot].map(versionOf) as Versions;
  refuseHalfRenamed(b, o, t);
  const picked = [...new Set([...o.at.keys(), ...t.at.keys()])].flatMap((place) => pick(place, [b, o, t, l], side));
  const isLive = (version: Version, line: Allocation) => version.placeOfClaim.get(identityOf(line)) === placeOf(line);
  return settle(picked, mergePools(base, ours, theirs), landed, {
    isOfSide: (entry) =>
      side !== undefined && sameEntry(entry, { ours: o, theirs: t }[side].at.get(placeOf(entry.line))),
    isHeldByBoth: ({ line }) => isLive(o, line) && isLive(t, line),
    wasHeld: ({ line }) => b.at.get(placeOf(line))?.line.claim === line.claim,
    stands: ({ line }) => {
      const before = b.at.get(placeOf(line));
      return before && [o, t].some((one) => sameEntry(before, one.at.get(placeOf(line)))) ? before : undefined;
    },
  });
}

/** One version of a record, as a merge looks at it. */
interface Version {
  readonly at: ReadonlyMap<string, Entry>;
  /** Where a claim has its address, by its identity. */
  readonly placeOfClaim: ReadonlyMap<string, string>;
}

/** Base, ours, theirs, and what landed. */
type Versions = [Version, Version, Version, Version];

function versionOf(record: Snapshot): Version {
  return {
    at: new Map(entries(record).map((entry) => [placeOf(entry.line), entry])),
    placeOfClaim: new Map(record.allocations.map((line) => [identityOf(line), placeOf(line)])),
  };
}

/** The table, for one address. */
function pick(
  place: string,
  [base, ours, theirs, landed]: Versions,
  side: "ours" | "theirs" | undefined,
): readonly Entry[] {
  const [before, one, other] = [base, ours, theirs].map((version) => version.at.get(place));
  if (one === undefined || other === undefined)
    return [one, other].filter((entry) => entry !== undefined).filter((entry) => !sameEntry(entry, before));
  if (sameEntry(one, other) || sameEntry(other, before)) return [one];
  if (sameEntry(one, before)) return [other];
  if (one.line.claim !== other.line.claim) return [one, other];
  const known = landed.at.get(place);
  const decided = [one, other].find((entry) => sameEntry(entry, known)) ?? (side && { ours: one, theirs: other }[side]);
  return decided === undefined ? preferred(one, other) : [decided];
}

/**
 * Throws `conflict` for a live line of which one side renamed the owner, and the other one changed something else: it may
 * be one node, and would lose its address to its other name, whichever side is in force.
 */
function refuseHalfRenamed(base: Version, ours: Version, theirs: Version): void {
  const issues = [...base.at].flatMap(([place, before]): Issue[] => {
    const sides = [ours, theirs].flatMap(({ at }) => at.get(place) ?? []).filter(({ releasing }) => !releasing);
    const [renamed, ...others] = sides.filter((entry) => !hasSameOwner(entry, before));
    const [changed] = sides.filter((entry) => hasSameOwner(entry, before) && !sameEntry(before, entry));
    if (renamed === undefined || changed === undefined || others.length > 0) return [];
    const what = `${formatBlock(before.line)} of ${before.line.claim} is changed on both sides`;
    return [{ message: `${what}: to ${renamed.line.claim}, and to ${changed.line.claim}` }];
  });
  const last = issues.at(-1);
  if (last === undefined) return;
  const hint = "Take the lock of one side as it is, git add it, and declare the other side's renames on it.";
  throw new IpamError("conflict", [...issues.slice(0, -1), { ...last, hint }]);
}

function hasSameOwner(a: Entry, b: Entry): boolean {
  return ownerOfKey(a.line.claim) === ownerOfKey(b.line.claim);
}

/** Of two lines of one claim: the live one, else either, but the same whatever side is called ours; both if set or length differ. */
function preferred(ours: Entry, theirs: Entry): readonly Entry[] {
  if (ours.line.length !== theirs.line.length) return [ours, theirs];
  if (ours.releasing !== theirs.releasing) return [ours.releasing ? theirs : ours];
  if (ours.line.set !== theirs.line.set) return [ours, theirs];
  return [byCodeUnit(allocationLine(ours.line), allocationLine(theirs.line)) <= 0 ? ours : theirs];
}

function sameEntry(a: Entry, b: Entry | undefined): boolean {
  return b !== undefined && a.releasing === b.releasing && sameLine(a.line, b.line);
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
    if (inLanded.has(entryKey(entry))) return 3;
    if (history.isHeldByBoth(entry)) return 2;
    return history.isOfSide(entry) ? 1 : 0;
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
  if (x === y && a.claim === b.claim) return `${x} of ${a.claim} is in claim set ${a.set} and in claim set ${b.set}`;
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
