import { type Allocation, claimKey, formatAddress, IpamError, identityOf, type Snapshot } from "../core/index.ts";
import { contains } from "../core/range.ts";
import { lockfile } from "../state/index.ts";
import { readCluster } from "./cluster-record.ts";
import type { Read } from "./read-inputs.ts";
import { recordOf, type SetInputs, type SetState, sameValue } from "./set-state.ts";

/*
 * A set can go from one record to another. Nobody reads the old one after that: an address that stays behind in it would
 * be given to somebody else.
 */

/** The record that a set was in, where it goes to another one now; undefined where it stays, or that one is gone. */
export async function recordLeft(
  before: Partial<SetState> | undefined,
  { state }: SetInputs,
): Promise<Snapshot | undefined> {
  if (before?.state === undefined || sameValue(before.state, state)) return undefined;
  if (before.state.backend === "stack") return recordOf([before as SetState]);
  try {
    if (before.state.backend === "lockfile") return lockfile(before.state.path).readSync();
    const { snapshot, identity } = await readCluster(before.state);
    return before.record === undefined || before.record === identity ? snapshot : undefined;
  } catch (error) {
    const hasMoved = error instanceof IpamError && error.issues.some(({ remedy }) => remedy?.[0] === "moved");
    if (hasMoved) return undefined; // with all that was in it
    throw error;
  }
}

/**
 * Throws IpamError `in-use` for addresses of these pools that are in the record that a set leaves, and neither in the one
 * it goes to nor claimed by it.
 */
export function refuseForgetting(
  left: Snapshot,
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
  const networks = new Map(left.pools.map(({ name, network }) => [name, network]));
  const isOurs = ({ pool, address }: Allocation) =>
    pools.some(({ network, range }) => network === networks.get(pool) && contains(range, address));
  const forgotten = (line: Allocation) => isOurs(line) && !known.has(text(line));
  const lines = [
    ...left.releasing.filter(forgotten),
    ...left.allocations.filter((line) => forgotten(line) && !claimed.has(identityOf(line))),
  ];
  const [first] = lines;
  if (first === undefined) return;
  const count = lines.length === 1 ? "1 address" : `${lines.length} addresses`;
  throw new IpamError("in-use", [
    {
      path: ["state"],
      message: `the record that this set leaves has ${count} of its pools that would be forgotten, as ${formatAddress(first.address)} of ${first.claim}`,
      hint: "First release what is releasing there, move the record, and only then drop claims. Addresses of other sets cannot stay behind in these pools.",
    },
  ]);
}
