import { type Allocation, formatAddress, IpamError, type Pool, placeOf, type Snapshot } from "../core/index.ts";
import { contains } from "../core/range.ts";
import { lockfile } from "../state/index.ts";
import { readCluster } from "./cluster-record.ts";
import { movedTo } from "./recorded.ts";
import { type Previous, type SetInputs, type SetState, type StateArgs, sameValue } from "./set-state.ts";
import { linesOfStack } from "./stack-record.ts";

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
}

export const nothingLeft: Left = { records: [], pools: new Set() };

/** `before` is the set as the stack has it. */
export async function whatIsLeft(
  before: SetState | undefined,
  previous: Previous,
  { state, pools }: SetInputs,
): Promise<Left> {
  const known = before !== undefined && sameValue(before.state, state) ? before.addresses : {};
  const coming = Object.keys(pools).filter((pool) => !Object.hasOwn(known, pool));
  return coming.length === 0
    ? nothingLeft
    : { records: await recordsLeft(before, previous, state), pools: new Set(coming) };
}

async function recordsLeft(before: SetState | undefined, previous: Previous, state: StateArgs): Promise<Snapshot[]> {
  const states = [before, ...previous.others].filter((one) => one !== undefined);
  const elsewhere = states.filter((one) => !sameValue(one.state, state));
  const distinct = elsewhere.filter(
    (one, i) => elsewhere.findIndex((other) => sameValue(other.state, one.state)) === i,
  );
  const left = await Promise.all(distinct.map((one) => recordLeft(one, previous, state)));
  return left.filter((one) => one !== undefined);
}

async function recordLeft(of: SetState, previous: Previous, to: StateArgs): Promise<Snapshot | undefined> {
  if (of.state.backend === "stack") return linesOfStack(previous);
  try {
    if (of.state.backend === "lockfile") return lockfile(of.state.path).readSync();
    const { snapshot, identity } = await readCluster(of.state);
    return of.record === undefined || of.record === identity ? snapshot : undefined; // that one is gone
  } catch (error) {
    const kind = { stack: "stack", lockfile: "file", kubernetes: "cluster" }[to.backend];
    if (movedTo(error) === kind) return undefined; // to where the set goes now, with all that was in it
    throw error;
  }
}

/**
 * Throws IpamError `in-use` for addresses of pools that come which are in another record, and that their claims, or the names
 * those have now, neither hold nor have to release in the one that this set is planned in.
 */
export function refuseForgetting(left: Left, after: Snapshot, pools: readonly Pool[], { moved }: SetInputs): void {
  const renames = new Map(moved.map(({ from, to }) => [to, from]));
  const kept = new Map([...after.allocations, ...after.releasing].map((line) => [placeOf(line), line.claim]));
  const isKept = (line: Allocation) => {
    const claim = kept.get(placeOf(line));
    return claim !== undefined && [claim, renames.get(claim)].includes(line.claim);
  };
  const coming = pools.filter(({ name }) => left.pools.has(name));
  const lines = left.records.flatMap((record) => {
    const networks = new Map(record.pools.map(({ name, network }) => [name, network]));
    const isOurs = ({ pool, address }: Allocation) =>
      coming.some(({ network, range }) => network === networks.get(pool) && contains(range, address));
    return [...record.releasing, ...record.allocations].filter((line) => isOurs(line) && !isKept(line));
  });
  const [first] = lines;
  if (first === undefined) return;
  const count = lines.length === 1 ? "1 address" : `${lines.length} addresses`;
  throw new IpamError("in-use", [
    {
      path: ["state"],
      message: `another record of this stack has ${count} of these pools that would be forgotten, as ${formatAddress(first.address)} of ${first.claim}`,
      hint: "First release what is releasing there, move the record, and only then drop claims. Addresses of other sets cannot stay behind in these pools.",
    },
  ]);
}
