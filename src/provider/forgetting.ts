import {
  type Allocation,
  emptySnapshot,
  formatAddress,
  IpamError,
  type Pool,
  placeOf,
  type Snapshot,
} from "../core/index.ts";
import { contains } from "../core/range.ts";
import { lockfile } from "../state/index.ts";
import { readCluster } from "./cluster-record.ts";
import { isSameRecord, movedTo, type RecordAt } from "./recorded.ts";
import { type Previous, type SetInputs, type SetState, sameValue } from "./set-state.ts";
import { holderOf, linesOfSet, linesOfStack } from "./stack-record.ts";

/*
 * A set can go from one record to another, and a pool to a set of another record. Nobody of these reads the old one after
 * that: an address that stays behind in it would be given to somebody else.
 */

/** What may be left behind where a set, or some of its pools, come to a record. */
export interface Left {
  /** Those that the stack's sets are in, or were. */
  readonly records: readonly Snapshot[];
  /** The pools that come. Of the others, what is in those records is out of date. */
  readonly pools: ReadonlySet<string>;
  /** What the set itself has in a record that it leaves. */
  readonly own: Snapshot;
}

export const nothingLeft: Left = { records: [], pools: new Set(), own: emptySnapshot };

/** `before` is the set as the stack has it; `there` is where it comes to, or stays. */
export async function whatIsLeft(
  before: SetState | undefined,
  previous: Previous,
  { pools }: SetInputs,
  there: RecordAt,
): Promise<Left> {
  const stays = before !== undefined && isSameRecord(before, there);
  const states = before === undefined ? previous.others : [before, ...previous.others];
  const isKnown = (pool: string) => stays && Object.hasOwn(before.addresses, pool) && holderOf(pool, states) === before;
  const coming = Object.keys(pools).filter((pool) => !isKnown(pool));
  const own = before === undefined || stays ? emptySnapshot : await ownLines(before, previous, pools, there);
  return coming.length === 0
    ? { ...nothingLeft, own }
    : { records: await recordsLeft(before, previous, there), pools: new Set(coming), own };
}

/**
 * What a set has in a record that it leaves. The stack forgets all of it; of a shared record, what is releasing of other
 * pools stays where it is.
 */
async function ownLines(before: SetState, previous: Previous, pools: object, there: RecordAt): Promise<Snapshot> {
  if (before.state.backend === "stack") return linesOfSet(before, previous);
  const record = await recordLeft(before, previous, there);
  if (record === undefined) return emptySnapshot;
  const states = [before, ...previous.others];
  const isOwn = ({ set, pool }: Allocation) => set === before.set && holderOf(pool, states) === before;
  const allocations = record.allocations.filter(isOwn);
  return {
    ...record,
    allocations,
    releasing: record.releasing.filter((line) => isOwn(line) && Object.hasOwn(pools, line.pool)),
  };
}

async function recordsLeft(before: SetState | undefined, previous: Previous, there: RecordAt): Promise<Snapshot[]> {
  const states = [before, ...previous.others].filter((one) => one !== undefined);
  const elsewhere = states.filter((one) => !isSameRecord(one, there));
  const distinct = elsewhere.filter(
    (one, i) => elsewhere.findIndex((other) => sameValue(other.state, one.state)) === i,
  );
  const left = await Promise.all(distinct.map((one) => recordLeft(one, previous, there)));
  return left.filter((one) => one !== undefined);
}

async function recordLeft(of: SetState, previous: Previous, there: RecordAt): Promise<Snapshot | undefined> {
  if (of.state.backend === "stack") return linesOfStack(previous);
  try {
    if (of.state.backend === "lockfile") return lockfile(of.state.path).readSync();
    const { snapshot, identity } = await readCluster(of.state);
    return of.record === undefined || of.record === identity ? snapshot : undefined; // that one is gone
  } catch (error) {
    const kind = { stack: "stack", lockfile: "file", kubernetes: "cluster" }[there.state.backend];
    if (movedTo(error) === kind) return undefined; // to where the set goes now, with all that was in it
    throw error;
  }
}

/**
 * Throws IpamError `in-use` for what would be forgotten: all that the set has in a record that it leaves, and addresses of
 * pools that come which are in another record, if the same claims, or the names those have now, neither hold nor have to
 * release it in the one that this set is planned in.
 */
export function refuseForgetting(left: Left, after: Snapshot, pools: readonly Pool[], { moved }: SetInputs): void {
  const renames = new Map(moved.map(({ from, to }) => [to, from]));
  const kept = new Map(placed(after).map(({ line, place }) => [place, line.claim]));
  const isKept = ({ line, place }: Placed) => {
    const claim = kept.get(place);
    return claim !== undefined && [claim, renames.get(claim)].includes(line.claim);
  };
  const coming = pools.filter(({ name }) => left.pools.has(name));
  const isOurs = ({ line, network }: Placed) =>
    coming.some((pool) => pool.network === network && contains(pool.range, line.address));
  const lines = [...placed(left.own), ...left.records.flatMap(placed).filter(isOurs)];
  refuseLost(lines.flatMap((one) => (isKept(one) ? [] : one.line)));
}

/** A line, and where it stands: an address of a pool of a network. */
interface Placed {
  readonly line: Allocation;
  readonly network: string | undefined;
  readonly place: string;
}

function placed({ pools, allocations, releasing }: Snapshot): Placed[] {
  const networks = new Map(pools.map(({ name, network }) => [name, network]));
  return [...releasing, ...allocations].map((line) => {
    const network = networks.get(line.pool);
    return { line, network, place: `${placeOf(line)} ${network}` };
  });
}

function refuseLost(lines: readonly Allocation[]): void {
  const [first] = lines;
  if (first === undefined) return;
  const count = new Set(lines.map(placeOf)).size;
  const what = count === 1 ? "1 address" : `${count} addresses`;
  throw new IpamError("in-use", [
    {
      path: ["state"],
      message: `another record of this stack has ${what} that would be forgotten, as ${formatAddress(first.address)} of ${first.claim} in pool ${first.pool}`,
      hint: "First release what is releasing there, then move the record alone, with the same pools and claims, and only then change those. Addresses of other sets cannot stay behind in these pools.",
    },
  ]);
}
