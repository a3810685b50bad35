import {
  type Allocation,
  BlockIndex,
  blocksOverlap,
  byAddress,
  byCodeUnit,
  describeSubnet,
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
import { allocationLine, decode, encode } from "./codec.ts";

/** A line and the list it stands in. */
export interface Entry {
  readonly line: Allocation;
  readonly releasing: boolean;
}

/** A line that may stand in the merged record: of two that share an address or a claim, the higher one does. */
interface Ranked extends Entry {
  readonly rank: number;
}

/** A line that one of the versions has. */
interface Candidate extends Ranked {
  /** What may stand at its address if its claim has another one, the first one first. */
  readonly instead: readonly Ranked[];
}

/** A line that lost its address or its claim to another one, and must be planned anew. */
export interface Loser {
  readonly line: Allocation;
  readonly winner: Allocation;
  /** Whether no owner has the address, because the winner is releasing it and may still use it. */
  readonly isReleasing: boolean;
}

export interface Merged {
  readonly snapshot: Snapshot;
  readonly losers: readonly Loser[];
}

/**
 * Merges two records that grew from one base, address by address:
 *
 *  base    | ours    | theirs  | merged
 *  --------+---------+---------+----------------------------------------------------------------------------------
 *  any     | same    | same    | that
 *  any     | as base | changed | theirs (nothing, where they freed it); and the other way round
 *  any     | changed | freed   | ours; and the other way round
 *  present | renamed | changed | both live: `conflict`, whatever landed. It may be one node, with two names
 *  any     | changed | changed | one claim: what landed, else the line of `side`, else the live one, else either one,
 *          |         |         | or both where claim set or length differ. Two claims: both
 *
 * Of two lines that then share an address or a claim, the one of the higher rank stands; of one rank: `conflict`.
 *
 *  rank | the line
 *  -----+----------------------------------------------------------------------------------
 *  3    | is one of `landed`
 *  2    | is live on both sides
 *  1    | is one of `side`, the side that `landed` is part of
 *  0    | any other
 *
 * The other one has lost. Where its claim has another address now, and nobody else has its own, there stands the line of
 * the base that one side left as it was; else the lost line, releasing, if it had that address in the base.
 */
export function mergeRecords(
  base: Snapshot,
  ours: Snapshot,
  theirs: Snapshot,
  landed?: Snapshot,
  side?: "ours" | "theirs",
): Merged {
  const [b, o, t, l] = [base, ours, theirs, landed].map(byPlace) as [Lines, Lines, Lines, Lines];
  const places = [...new Set([...o.keys(), ...t.keys()])];
  refuse(
    places.flatMap((place) => halfRenamed(b.get(place), o.get(place), t.get(place)) ?? []),
    { hint: "Take the lock of one side as it is, git add it, and declare the other side's renames on it." },
  );
  const inLanded = new Set(entries(landed).map(keyOf));
  const sided = side && { ours: o, theirs: t }[side];
  const live = [ours, theirs].map(({ allocations }) => new Set(allocations.map(claimAtPlace)));
  const ranked = (entry: Entry): Ranked => {
    if (inLanded.has(keyOf(entry))) return { ...entry, rank: 3 };
    if (live.every((claims) => claims.has(claimAtPlace(entry.line)))) return { ...entry, rank: 2 };
    return { ...entry, rank: sameEntry(entry, sided?.get(placeOf(entry.line))) ? 1 : 0 };
  };
  const candidates = places.flatMap((place) => {
    const [before, one, other] = [b, o, t].map((lines) => lines.get(place));
    const isLeft = before && [one, other].some((entry) => sameEntry(before, entry));
    return pick(before, one, other, [l.get(place), sided?.get(place)]).map(({ line, releasing }) => {
      const released = before?.line.claim === line.claim ? [{ line, releasing: true }] : [];
      return { ...ranked({ line, releasing }), instead: [...(isLeft ? [before] : []), ...released].map(ranked) };
    });
  });
  return settle(candidates, mergePools(base, ours, theirs), landed !== undefined);
}

/** The lines of a record, by place. */
type Lines = ReadonlyMap<string, Entry>;

function byPlace(record: Snapshot | undefined): Lines {
  return new Map(entries(record).map((entry) => [placeOf(entry.line), entry]));
}

/** All lines of a record. */
export function entries(record: Snapshot | undefined): Entry[] {
  const list = (lines: readonly Allocation[] = [], releasing: boolean) => lines.map((line) => ({ line, releasing }));
  return [...list(record?.allocations, false), ...list(record?.releasing, true)];
}

/** Tells a claim at an address from others. */
export function claimAtPlace(line: Allocation): string {
  return `${placeOf(line)} ${line.claim}`;
}

/** Tells a line from others, in whichever version of the record. */
function keyOf({ line, releasing }: Entry): string {
  return `${claimAtPlace(line)} ${releasing}`;
}

/** The first table, for one address. `deciding`: what decides between two lines of one claim, the first one first. */
function pick(
  base: Entry | undefined,
  ours: Entry | undefined,
  theirs: Entry | undefined,
  deciding: readonly (Entry | undefined)[],
): readonly Entry[] {
  if (ours === undefined || theirs === undefined)
    return [ours, theirs].filter((entry) => entry !== undefined && !sameEntry(entry, base)) as Entry[];
  if (sameEntry(ours, theirs) || sameEntry(theirs, base)) return [ours];
  if (sameEntry(ours, base)) return [theirs];
  if (ours.line.claim !== theirs.line.claim) return [ours, theirs];
  const decided = deciding.find((one) => sameEntry(ours, one) || sameEntry(theirs, one));
  if (decided !== undefined) return [decided];
  if (ours.line.length !== theirs.line.length) return [ours, theirs];
  if (ours.releasing !== theirs.releasing) return [ours.releasing ? theirs : ours];
  if (ours.line.set !== theirs.line.set) return [ours, theirs];
  // The same one whatever side is called ours.
  return [byCodeUnit(allocationLine(ours.line), allocationLine(theirs.line)) <= 0 ? ours : theirs];
}

function sameEntry(a: Entry, b: Entry | undefined): boolean {
  return b !== undefined && a.releasing === b.releasing && sameLine(a.line, b.line);
}

/** What is wrong where one side renamed the owner of a live line, and the other one changed something else of it. */
function halfRenamed(base: Entry | undefined, ours: Entry | undefined, theirs: Entry | undefined): Issue | undefined {
  if (!base || !ours || !theirs || ours.releasing || theirs.releasing) return undefined;
  const isOwners = ({ line }: Entry) => ownerOfKey(line.claim) === ownerOfKey(base.line.claim);
  const [changed, renamed] = isOwners(ours) ? [ours, theirs] : [theirs, ours];
  if (!isOwners(changed) || isOwners(renamed) || sameEntry(changed, base)) return undefined;
  const what = `${formatBlock(base.line)} of ${base.line.claim} is changed on both sides`;
  return { message: `${what}: to ${renamed.line.claim}, and to ${changed.line.claim}` };
}

/** Throws `conflict` with these issues, if there are any, and advice with the last one. */
function refuse(issues: readonly Issue[], advice: Pick<Issue, "hint" | "remedy">): void {
  const last = issues.at(-1);
  if (last !== undefined) throw new IpamError("conflict", [...issues.slice(0, -1), { ...last, ...advice }]);
}

/** Lets the candidates in, the highest first; one that finds its address or its claim taken has lost. */
export function settle(candidates: readonly Candidate[], pools: readonly PoolRecord[], hasLanded: boolean): Merged {
  const rivalsOf = rivalry(candidates, pools);
  /** What stands where a candidate was let in. */
  const standing = new Map<Candidate, Ranked>();
  const byClaim = new Map<string, Ranked>();
  const losers: Loser[] = [];
  const undecided: Issue[] = [];
  const enter = (candidate: Candidate, entry: Ranked) => {
    standing.set(candidate, entry);
    if (!entry.releasing) byClaim.set(identityOf(entry.line), entry);
  };
  for (const one of candidates.toSorted((a, b) => b.rank - a.rank || byLine(a, b))) {
    const rivals = rivalsOf(one);
    const holders = rivals.flatMap((rival) => standing.get(rival) ?? []);
    const sameClaim = one.releasing ? undefined : byClaim.get(identityOf(one.line));
    const winner = holders.find(({ rank }) => rank <= one.rank) ?? holders[0] ?? sameClaim;
    if (winner === undefined) enter(one, one);
    else if (winner.rank <= one.rank) undecided.push({ message: collision(winner.line, one.line) });
    else {
      losers.push({ line: one.line, winner: winner.line, isReleasing: winner.releasing });
      if (holders.length > 0) continue;
      // A wider block than the one that was lost may reach into what others were given.
      const fits = (entry: Entry) =>
        entry.line === one.line ||
        (!byClaim.has(identityOf(entry.line)) && rivalsOf(entry).every((rival) => rivals.includes(rival)));
      const instead = one.instead.find(fits);
      if (instead !== undefined) enter(one, instead);
    }
  }
  refuse(undecided, {
    hint: hasLanded
      ? "The revision that is said to be in force has neither. Say one that has: origin/main, where main is behind it"
      : "Say which side, REV (a branch or commit), is in force; the other is planned anew.",
    remedy: ["record", "landed"],
  });
  return { snapshot: recordOf([...standing.values()], pools), losers };
}

function byLine(a: Entry, b: Entry): number {
  return byAddress(a.line, b.line) || byCodeUnit(a.line.claim, b.line.claim);
}

/** Tells which candidates share an address of a network with a line. */
function rivalry(candidates: readonly Candidate[], pools: readonly PoolRecord[]): (entry: Entry) => Candidate[] {
  const networks = new Map(pools.map((pool) => [pool.name, pool.network]));
  const networkOf = ({ line }: Entry) => networks.get(line.pool);
  const blocks = candidates.map((entry) => ({ address: entry.line.address, length: entry.line.length, entry }));
  const groups = Map.groupBy(blocks, ({ entry }) => networkOf(entry));
  const indexes = new Map([...groups].map(([network, group]) => [network, new BlockIndex(group)]));
  return (entry) => (indexes.get(networkOf(entry))?.at(entry.line) ?? []).map((one) => one.entry);
}

function collision(a: Allocation, b: Allocation): string {
  const [x, y] = [formatBlock(a), formatBlock(b)];
  if (x === y && a.claim === b.claim) return `${x} of ${a.claim} is in claim set ${a.set} and in claim set ${b.set}`;
  if (x === y) return `both ${a.claim} and ${b.claim} were given ${x}`;
  return blocksOverlap(a, b)
    ? `${a.claim} was given ${x} and ${b.claim} ${y}, which overlap`
    : `${a.claim} was given both ${x} and ${y}`;
}

/** The pools of both sides; where they differ, that of the side which changed it. */
function mergePools(base: Snapshot, ours: Snapshot, theirs: Snapshot): PoolRecord[] {
  const byName = ({ pools }: Snapshot) => new Map(pools.map((pool) => [pool.name, pool]));
  const [b, o, merged] = [byName(base), byName(ours), byName(ours)];
  for (const pool of theirs.pools) {
    const [before, known] = [b.get(pool.name), o.get(pool.name)];
    if (known === undefined) merged.set(pool.name, pool);
    else if (before && sameSubnet(known, before)) merged.set(pool.name, furtherOn(pool, known, before));
    else if (before && sameSubnet(pool, before)) merged.set(pool.name, furtherOn(known, pool, before));
    else merged.set(pool.name, onePool(known, pool));
  }
  return [...merged.values()];
}

/** A pool with the last address of either version that comes later after that of the base: all that either allocated lies before it. */
function furtherOn(pool: PoolRecord, other: PoolRecord, base?: PoolRecord): PoolRecord {
  const { first, last: end } = pool.prefix;
  const from = base?.last ?? first;
  const size = end - first + 1n;
  const steps = ({ last }: PoolRecord) => (last === undefined ? -1n : (last - from + size) % size);
  const { last } = steps(other) > steps(pool) ? other : pool;
  return last === undefined ? pool : { ...pool, last };
}

/** The pool that both sides recorded. Throws `conflict` if they are two. */
export function onePool(a: PoolRecord, b: PoolRecord): PoolRecord {
  if (sameSubnet(a, b)) return furtherOn(a, b);
  throw new IpamError("conflict", `pool ${a.name} was recorded as ${describeSubnet(a)} and as ${describeSubnet(b)}`, {
    hint: "Say on one branch, in manifests and lock, what the other one says, and merge then.",
  });
}

/** The record of these lines, through the same checks as any text. */
function recordOf(all: readonly Entry[], pools: readonly PoolRecord[]): Snapshot {
  const list = (releasing: boolean) =>
    all.flatMap((entry) => (entry.releasing === releasing ? entry.line : [])).sort(byAddress);
  const used = new Set(all.map(({ line }) => line.pool));
  const record = {
    pools: pools.filter((pool) => used.has(pool.name)).sort((a, b) => byCodeUnit(a.name, b.name)),
    allocations: list(false),
    releasing: list(true),
  };
  return decode(encode(record), "the merged lock");
}
