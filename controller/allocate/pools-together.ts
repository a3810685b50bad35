import { byCodeUnit, describeSubnet, overlaps, type PoolRecord, sameSubnet } from "../../core/index.ts";
import { objectKey } from "../../integrations/contract/object-key.ts";
import { overlap } from "../../state/overlap.ts";
import { isNodeIPPool } from "./asking.ts";
import type { ClusterPool, PoolProblem } from "./cluster-pool.ts";

/** A pool with addresses on record, and the length of its blocks where several pools have its name: it may tell which one has them. */
export interface RecordedPool extends PoolRecord {
  readonly blockLength?: number | undefined;
}

/**
 * Decides which pools can be used together. The rules are those of the record, so that no commit is refused for the sake of one pool:
 * an address belongs to one pool of its network, and the record has one object for each network and cidr, so pools of one network
 * whose cidrs overlap must have the same cidr.
 *
 *  the pool                                           | is used
 *  ---------------------------------------------------+----------------------------------
 *  disagrees with others that define the same network | no, and the others neither
 *  has the name of a pool that comes before it        | no; the other one is, and an Event says so on it, too
 *  clashes with a pool that comes before it           | no; the other one is, and an Event says so on it, too
 *  clashes with addresses on record of no such pool   | no
 *  any other                                          | yes
 *
 * Pools of authority Plan come first, because the controller cannot hold back what a plan allocates; then pools with addresses on
 * record; then the oldest. So a new pool never stops one that is in use.
 */
export function poolsTogether(pools: readonly ClusterPool[], recorded: readonly RecordedPool[]): ClusterPool[] {
  const inRecord = (one: ClusterPool) => recorded.some((line) => isSame(line, one));
  const first: ClusterPool[] = [];
  const problems = new Map<ClusterPool, string>();
  const shadowed = new Set<ClusterPool>();
  const noted = new Map<ClusterPool, string>();
  for (const one of inOrder(pools, inRecord)) {
    const apart = disagreement(one, pools);
    const twin = first.find(({ name }) => name === one.name);
    const earlier = twin ?? first.find((other) => whyNotBoth(other, one, inRecord) !== undefined);
    const found = apart ?? (earlier ? whyNotBeside(earlier, one, inRecord) : besideRecord(one, recorded));
    if (twin !== undefined) shadowed.add(one);
    if (found !== undefined) problems.set(one, found);
    else if (one.problem?.reason !== "InvalidSpec") first.push(one);
    if (earlier !== undefined && one.problem === undefined)
      noted.set(earlier, `${twin ? hasName(one) : isOverlapping(one)} That one gives no addresses: see its Events.`);
  }
  return pools.map((one) => {
    const message = problems.get(one);
    const { pool: _, ...rest } = { ...one, ...(shadowed.has(one) && { isShadowed: true }) };
    if (one.problem !== undefined) return rest;
    return message === undefined ? withNote(one, noted.get(one)) : { ...rest, problem: overlapping(message) };
  });
}

function overlapping(message: string): PoolProblem {
  return { reason: "OverlappingIPPool", message };
}

/** Why neither of two pools of one name is used; undefined if they are of different systems. */
function disagreement(one: ClusterPool, pools: readonly ClusterPool[]): string | undefined {
  const others = pools.filter((other) => other !== one && other.name === one.name);
  return others.map(({ object }) => one.differsFrom?.(object)).find((why) => why !== undefined);
}

function whyNotBeside(first: ClusterPool, second: ClusterPool, inRecord: (one: ClusterPool) => boolean): string {
  if (first.name === second.name) return `${hasName(first)} Rename this one, or remove one of them.`;
  return `${isOverlapping(first)} ${whyNotBoth(first, second, inRecord)}`;
}

function withNote(one: ClusterPool, overlappedBy: string | undefined): ClusterPool {
  return overlappedBy === undefined ? one : { ...one, overlappedBy };
}

function isSame(line: RecordedPool, { name, whole }: ClusterPool): boolean {
  if (line.name !== name || whole === undefined || !sameSubnet(line, whole)) return false;
  return line.blockLength === undefined || line.blockLength === whole.blockLength;
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
  if (overlaps(a.range, b.range)) return `They share addresses. ${remake(second, "a range of its own")}`;
  // The addresses of a pool that only plans allocate from need not be in this record.
  const areHere = [first, second].every((one) => one.pool?.authority === "Cluster" || inRecord(one));
  if (!areHere || !overlap(a, b)) return undefined;
  return `It is ${describeSubnet(a)}, this one ${describeSubnet(b)}. ${remake(second, "the same cidr")}`;
}

/** The next step for a pool that clashes. The API server refuses to change start, cidr and network of a NodeIPPool, and to lower its end. */
function remake({ object }: ClusterPool, change: string): string {
  if (!isNodeIPPool(object)) return `Give this one ${change}.`;
  return `Delete this pool and make it again with ${change}, or with another spec.network.`;
}

/** Why a pool cannot begin beside what is on record of pools that are not defined, or defined otherwise, now. */
function besideRecord(one: ClusterPool, recorded: readonly PoolRecord[]): string | undefined {
  const { whole, pool } = one;
  if (whole === undefined || pool?.authority !== "Cluster" || recorded.some(({ name }) => name === one.name))
    return undefined;
  const other = recorded.find((line) => overlap(line, whole));
  if (other === undefined) return undefined;
  return `Addresses of pool ${other.name} in ${describeSubnet(other)} are on record, and overlap ${describeSubnet(whole)}. ${remake(one, "the same cidr")}`;
}

function isOverlapping({ title }: ClusterPool): string {
  return `The ${title} is overlapping with this one.`;
}

function hasName({ title }: ClusterPool): string {
  return `The ${title} has the name of this one.`;
}
