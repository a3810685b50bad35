import {
  type Allocation,
  byAddress,
  byCodeUnit,
  describeSubnet,
  emptySnapshot,
  formatAddress,
  IpamError,
  type Issue,
  identityOf,
  type PoolRecord,
  placeOf,
  type Snapshot,
  sameLine,
} from "../core/index.ts";
import { allocationLine, type Content, decode, encode } from "./codec.ts";

/** A line that lost its address or its claim to another one, and must be planned anew. */
export interface Loser {
  readonly line: Allocation;
  readonly winner: Allocation;
}

export interface Merged {
  readonly snapshot: Snapshot;
  readonly losers: readonly Loser[];
}

/** A line and the list it stands in. */
export interface Entry {
  readonly line: Allocation;
  readonly releasing: boolean;
}

/**
 * Merges two records that grew from one base, address by address:
 *
 *  ours \ theirs | as base | changed                            | gone
 *  --------------+---------+------------------------------------+--------
 *  as base       | base    | theirs                             | gone
 *  changed       | ours    | equal: it; one claim: what landed, | ours
 *                |         | else the live one; two claims:     |
 *                |         | both claim it (below)              |
 *  gone          | gone    | theirs                             | gone
 *
 * Where two lines then claim one address, or one claim has two addresses: a line that `landed` holds wins, else a
 * live line that both sides still hold, else that of `side`, the one which `landed` is part of, else nobody may say:
 * IpamError `conflict` names both. Losers are left out; but
 * an address that a loser had in the base, and nobody else has now, is releasing.
 */
export function mergeRecords(
  base: Snapshot,
  ours: Snapshot,
  theirs: Snapshot,
  landed?: Snapshot,
  side?: "ours" | "theirs",
): Merged {
  const [b, o, t] = [base, ours, theirs].map(entriesOf) as [Entries, Entries, Entries];
  const l = entriesOf(landed ?? emptySnapshot);
  const candidates: Entry[] = [];
  for (const key of new Set([...o.keys(), ...t.keys()]))
    candidates.push(...pick(b.get(key), o.get(key), t.get(key), l.get(key)));
  const isLive = (side: Entries, line: Allocation) => {
    const entry = side.get(placeOf(line));
    return entry !== undefined && !entry.releasing && entry.line.claim === line.claim;
  };
  return settle(candidates, mergePools(base, ours, theirs), landed, {
    isOfSide: (entry) => side !== undefined && sameAs(entry, { ours: o, theirs: t }[side].get(placeOf(entry.line))),
    isHeldByBoth: (line) => isLive(o, line) && isLive(t, line),
    wasHeld: (line) => b.get(placeOf(line))?.line.claim === line.claim,
  });
}

type Entries = Map<string, Entry>;

function entriesOf(snapshot: Snapshot): Entries {
  return new Map(entries(snapshot).map((entry) => [placeOf(entry.line), entry]));
}

export function entries(record: Content): Entry[] {
  const list = (lines: readonly Allocation[], releasing: boolean) => lines.map((line) => ({ line, releasing }));
  return [...list(record.allocations, false), ...list(record.releasing, true)];
}

function pick(
  base: Entry | undefined,
  ours: Entry | undefined,
  theirs: Entry | undefined,
  landed: Entry | undefined,
): Entry[] {
  const present = [ours, theirs].filter((entry) => entry !== undefined);
  if (ours === undefined || theirs === undefined) {
    const gone = present.every((entry) => base !== undefined && sameEntry(entry, base));
    return gone ? [] : present;
  }
  if (sameEntry(ours, theirs) || (base !== undefined && sameEntry(theirs, base))) return [ours];
  if (base !== undefined && sameEntry(ours, base)) return [theirs];
  if (ours.line.claim !== theirs.line.claim) return [ours, theirs];
  if (landed !== undefined) return [sameEntry(theirs, landed) ? theirs : ours];
  if (ours.releasing !== theirs.releasing) return [ours.releasing ? theirs : ours];
  // On two NICs, say: whichever, but the same one whatever side is called ours.
  return [[ours, theirs].sort((x, y) => byCodeUnit(allocationLine(x.line), allocationLine(y.line)))[0] as Entry];
}

function sameAs(entry: Entry, other: Entry | undefined): boolean {
  return other !== undefined && sameEntry(entry, other);
}

function sameEntry(a: Entry, b: Entry): boolean {
  return a.releasing === b.releasing && sameLine(a.line, b.line);
}

/** What is known of the lines before they were merged. */
interface History {
  /** Is this how the side has it that landed? */
  readonly isOfSide: (entry: Entry) => boolean;
  readonly isHeldByBoth: (line: Allocation) => boolean;
  readonly wasHeld: (line: Allocation) => boolean;
}

const unknownHistory: History = { isOfSide: () => false, isHeldByBoth: () => false, wasHeld: () => true };

/** Lets the entries in, the strongest first; an entry that finds its address or its claim taken has lost. */
export function settle(
  candidates: readonly Entry[],
  pools: readonly PoolRecord[],
  landed: Snapshot | undefined,
  history: History = unknownHistory,
): Merged {
  const inLanded = new Set(landed === undefined ? [] : entries(landed).map(entryKey));
  const strength = (entry: Entry) => {
    if (inLanded.has(entryKey(entry))) return 3;
    if (history.isHeldByBoth(entry.line)) return 2;
    return history.isOfSide(entry) ? 1 : 0;
  };
  const network = new Map(pools.map((pool) => [pool.name, pool.network]));
  const byPlace = new Map<string, Entry>();
  const byClaim = new Map<string, Entry>();
  const losers: Loser[] = [];
  const undecided: Issue[] = [];
  const ordered = [...candidates].sort(
    (a, b) => strength(b) - strength(a) || byAddress(a.line, b.line) || byCodeUnit(a.line.claim, b.line.claim),
  );
  for (const entry of ordered) {
    const place = `${network.get(entry.line.pool)} ${entry.line.address}`;
    const claim = identityOf(entry.line);
    const winner = byPlace.get(place) ?? (entry.releasing ? undefined : byClaim.get(claim));
    if (winner === undefined) {
      byPlace.set(place, entry);
      if (!entry.releasing) byClaim.set(claim, entry);
    } else if (strength(winner) > strength(entry)) {
      losers.push({ line: entry.line, winner: winner.line });
      if (!byPlace.has(place) && history.wasHeld(entry.line)) byPlace.set(place, { line: entry.line, releasing: true });
    } else undecided.push({ message: collision(winner.line, entry.line) });
  }
  refuseUndecided(undecided);
  return { snapshot: checked([...byPlace.values()], pools), losers };
}

function refuseUndecided(undecided: readonly Issue[]): void {
  const last = undecided.at(-1);
  if (last === undefined) return;
  const hint = "Say which side is in force, and the other is planned anew.";
  throw new IpamError("conflict", [...undecided.slice(0, -1), { ...last, hint, remedy: ["merge-landed"] }]);
}

function entryKey({ line, releasing }: Entry): string {
  return `${placeOf(line)} ${line.claim} ${releasing}`;
}

function collision(a: Allocation, b: Allocation): string {
  const [x, y] = [formatAddress(a.address), formatAddress(b.address)];
  return x === y ? `both ${a.claim} and ${b.claim} were given ${x}` : `${a.claim} was given both ${x} and ${y}`;
}

function mergePools(base: Snapshot, ours: Snapshot, theirs: Snapshot): PoolRecord[] {
  const find = (snapshot: Snapshot, name: string) => snapshot.pools.find((pool) => pool.name === name);
  const names = new Set([...ours.pools, ...theirs.pools].map((pool) => pool.name));
  return [...names].map((name) => {
    const [b, o, t] = [find(base, name), find(ours, name), find(theirs, name)];
    if (o === undefined || t === undefined) return (o ?? t) as PoolRecord;
    if (b !== undefined && describeSubnet(t) === describeSubnet(b)) return o;
    if (b !== undefined && describeSubnet(o) === describeSubnet(b)) return t;
    return onePool(o, t);
  });
}

/** The pool that both sides recorded. Throws `conflict` if they are two. */
export function onePool(a: PoolRecord, b: PoolRecord): PoolRecord {
  if (describeSubnet(a) === describeSubnet(b)) return a;
  throw new IpamError("conflict", `pool ${a.name} was recorded as ${describeSubnet(a)} and as ${describeSubnet(b)}`, {
    hint: "Keep one of the two in the manifests and take that side's lock.",
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
