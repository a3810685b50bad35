import { byCodeUnit, describeSubnet, overlaps, type PoolRecord, sameSubnet } from "../core/index.ts";
import { objectKey } from "../integrations/object-key.ts";
import { overlap } from "../state/overlap.ts";
import type { ClusterPool } from "./cluster-pool.ts";

/**
 * Decides which pools can be used together. The rules are those of the record, so that no commit is refused for the sake of one pool:
 * an address belongs to one pool of its network, and the record has one object for each network and cidr, so pools of one network
 * whose cidrs overlap must have the same cidr.
 *
 *  the pool                                           | is used
 *  ---------------------------------------------------+----------------------------------
 *  has the name of another pool                       | no, and the other one neither
 *  clashes with a pool that comes before it           | no; the other one is, and an Event says so on it, too
 *  clashes with addresses on record of no such pool   | no
 *  any other                                          | yes
 *
 * Pools of authority Plan come first, because the controller cannot hold back what a plan allocates; then pools with addresses on
 * record; then the oldest. So a new pool never stops one that is in use.
 */
export function poolsTogether(pools: readonly ClusterPool[], recorded: readonly PoolRecord[]): ClusterPool[] {
  const inRecord = (one: ClusterPool) => recorded.some((line) => isSame(line, one));
  const first: ClusterPool[] = [];
  const problems = new Map<ClusterPool, string>();
  const noted = new Map<ClusterPool, string>();
  for (const one of inOrder(pools, inRecord)) {
    const twin = pools.find((other) => other !== one && other.name === one.name);
    const earlier = first.find((other) => whyNotBoth(other, one, inRecord) !== undefined);
    const beside = earlier && whyNotBoth(earlier, one, inRecord);
    const found = twin
      ? sameName(one, twin)
      : earlier
        ? `${isOverlapping(earlier)} ${beside}`
        : besideRecord(one, recorded);
    if (found !== undefined) problems.set(one, found);
    else if (one.problem?.reason !== "InvalidSpec") first.push(one);
    if (earlier !== undefined && twin === undefined && one.problem === undefined)
      noted.set(earlier, `${isOverlapping(one)} That one gives no addresses until it is changed.`);
  }
  return pools.map((one) => {
    const message = problems.get(one);
    if (one.problem !== undefined || message === undefined) return withNote(one, noted.get(one));
    const { pool: _, ...rest } = one;
    return { ...rest, problem: { reason: "OverlappingIPPool", message } };
  });
}

function withNote(one: ClusterPool, overlappedBy: string | undefined): ClusterPool {
  return overlappedBy === undefined ? one : { ...one, overlappedBy };
}

function isSame(line: PoolRecord, { name, whole }: ClusterPool): boolean {
  return line.name === name && whole !== undefined && sameSubnet(line, whole);
}

function inOrder(pools: readonly ClusterPool[], inRecord: (one: ClusterPool) => boolean): ClusterPool[] {
  const rank = (one: ClusterPool) => (one.whole?.authority === "Plan" ? 0 : inRecord(one) ? 1 : 2);
  const since = ({ object }: ClusterPool) => `${object.metadata.creationTimestamp ?? ""}`;
  const key = ({ object, name }: ClusterPool) => `${objectKey(object)} ${name}`;
  return pools.toSorted((a, b) => rank(a) - rank(b) || byCodeUnit(since(a), since(b)) || byCodeUnit(key(a), key(b)));
}

/** Why the second of two pools cannot be used beside the first, with the next step; undefined if it can. */
function whyNotBoth(
  first: ClusterPool,
  second: ClusterPool,
  inRecord: (one: ClusterPool) => boolean,
): string | undefined {
  const [a, b] = [first.whole, second.whole];
  if (a === undefined || b === undefined || a.network !== b.network) return undefined;
  if (overlaps(a.range, b.range)) return `They share addresses. Give this one a range of its own${orNetwork}`;
  // The addresses of a pool that only plans allocate from need not be in this record.
  const areHere = [first, second].every((one) => one.pool?.authority === "Cluster" || inRecord(one));
  if (!areHere || !overlap(a, b)) return undefined;
  return `It is ${describeSubnet(a)}, this one ${describeSubnet(b)}. Give both the same cidr${orNetwork}`;
}

const orNetwork = ", or say which network it is in (spec.network).";

/** Why a pool cannot begin beside what is on record of pools that are not defined, or defined otherwise, now. */
function besideRecord(one: ClusterPool, recorded: readonly PoolRecord[]): string | undefined {
  const { whole, pool } = one;
  if (whole === undefined || pool?.authority !== "Cluster" || recorded.some(({ name }) => name === one.name))
    return undefined;
  const other = recorded.find((line) => overlap(line, whole));
  if (other === undefined) return undefined;
  return `Addresses of pool ${other.name} in ${describeSubnet(other)} are on record, and overlap ${describeSubnet(whole)}. Give this pool the same cidr${orNetwork}`;
}

function isOverlapping({ title }: ClusterPool): string {
  return `The ${title} is overlapping with this one.`;
}

function sameName(one: ClusterPool, twin: ClusterPool): string {
  return one.differsFrom?.(twin.object) ?? `The ${twin.title} has the name of this one.`;
}
