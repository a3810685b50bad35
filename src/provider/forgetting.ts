import { type Allocation, claimKey, formatAddress, IpamError, identityOf, type Snapshot } from "../core/index.ts";
import { contains } from "../core/range.ts";
import { lockfile } from "../state/index.ts";
import { readCluster } from "./cluster-record.ts";
import type { Read } from "./read-inputs.ts";
import { type Previous, type SetInputs, type SetState, type StateArgs, sameValue } from "./set-state.ts";
import { linesOfStack } from "./stack-record.ts";

/*
 * A set can go from one record to another, and a pool to a set of another record. Nobody of these reads the old one after
 * that: an address that stays behind in it would be given to somebody else.
 */

/** What the other records hold that sets of this stack are in, or were: lines by their records. */
export async function recordsLeft(
  before: SetState | undefined,
  previous: Previous,
  state: StateArgs,
): Promise<Snapshot[]> {
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
    const remedies = error instanceof IpamError ? error.issues.map(({ remedy }) => remedy) : [];
    const kind = { stack: "stack", lockfile: "file", kubernetes: "cluster" }[to.backend];
    // It has moved to where the set goes now, with all that was in it.
    if (remedies.some((remedy) => remedy?.[0] === "moved" && remedy[1] === kind)) return undefined;
    throw error;
  }
}

/**
 * Throws IpamError `in-use` for addresses of these pools that are in the record that a set leaves, and neither in the one
 * it goes to nor claimed by it.
 */
export function refuseForgetting(
  left: readonly Snapshot[],
  recorded: Snapshot,
  { pools, claims }: Pick<Read, "pools" | "claims">,
  { moved }: SetInputs,
): void {
  const text = (line: Allocation) => `${identityOf(line)} ${formatAddress(line.address)}`;
  const known = new Set([...recorded.allocations, ...recorded.releasing].map(text));
  const renames = new Map(moved.map(({ from, to }) => [to, from]));
  const claimed = new Set(
    claims.flatMap(({ owner, name, pool }) => {
      const key = claimKey(owner, name);
      return [key, renames.get(key) ?? key].map((claim) => identityOf({ pool, claim }));
    }),
  );
  const lines = left.flatMap((record) => {
    const networks = new Map(record.pools.map(({ name, network }) => [name, network]));
    const isOurs = ({ pool, address }: Allocation) =>
      pools.some(({ network, range }) => network === networks.get(pool) && contains(range, address));
    const forgotten = (line: Allocation) => isOurs(line) && !known.has(text(line));
    return [
      ...record.releasing.filter(forgotten),
      ...record.allocations.filter((line) => forgotten(line) && !claimed.has(identityOf(line))),
    ];
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
