import {
  type Claim,
  checkPools,
  claimKey,
  clusterSet,
  familyOf,
  type Pending,
  type Pool,
  type Snapshot,
  sameSubnet,
  type UnreadableSubnet,
} from "../../core/index.ts";
import { overlap } from "../../state/overlap.ts";
import type { LinesByOwner } from "../record/lines-by-owner.ts";
import type { ClusterPool, PoolProblem } from "./cluster-pool.ts";
import { whyNot } from "./failing-objects.ts";
import { heldLines, heldProblem } from "./left-to-plan.ts";
import type { RecordedPool } from "./pools-together.ts";

/**
 * Says of each pool whether it can be allocated from, by the record.
 *
 *  the pool                                      | gives
 *  ----------------------------------------------+-------------------------------------------
 *  cannot be read itself, or overlaps another one| nothing: as pools.ts says
 *  may have lines in a part of the record that   | nothing, also while it is being deleted:
 *   cannot be read, or shares addresses with one |  UnsynchronizedIPPool, with what is wrong
 *   that may, or has the name of one             |
 *  does not fit its lines on record              | nothing: UnsynchronizedIPPool
 *  is a plan's, and the controller has live lines| nothing: UnsynchronizedIPPool; they stay
 *   of it from before                            |  (left-to-plan.ts)
 *  is in a subnet whose part of the record has   | nothing new: what is on record is kept and
 *   no room for another line                     |  released as ever
 *  any other                                     | addresses
 */
export function recordable(all: readonly ClusterPool[], snapshot: Snapshot): readonly ClusterPool[] {
  const { unreadable = [], full = [] } = snapshot;
  const misfit = (pools: readonly Pool[]) => whyNot(() => checkPools(pools, snapshot, clusterSet));
  const isWhole = unreadable.length + full.length === 0;
  const held = heldLines(all, snapshot);
  if (isWhole && held.size === 0 && misfit(all.flatMap(({ pool }) => pool ?? [])) === undefined) return all;
  return all.map((defined) => {
    const unread = unreadable.find((subnet) => subnet.isRead !== true && isTouchedBy(defined, subnet))?.pools[0];
    const one = unread ? { ...defined, unread: familyOf(unread.prefix.first) } : defined;
    const { pool, ...rest } = one;
    if (pool === undefined && one.problem?.reason !== "Terminating") return one;
    const why = unreadable.find((subnet) => isTouchedBy(one, subnet))?.why ?? (pool && misfit([pool]));
    const problem = (message: string): PoolProblem => ({ reason: "UnsynchronizedIPPool", message });
    if (why !== undefined) return { ...rest, problem: problem(why) };
    const its = pool && held.get(pool.name);
    if (its !== undefined) return { ...rest, problem: heldProblem(its) };
    const noRoom = full.find(({ pools }) => pool && pools.some((other) => sameSubnet(other, pool)))?.why;
    return pool && noRoom ? { ...one, pool: { ...pool, automatic: [] }, noRoom } : one;
  });
}

/**
 * Refuses the claims that would take a new line, and get none now: the record has no room for one, or has lost lines of the pool, and
 * the owner does not show its address.
 */
export function withoutRoom(
  { claims, isObserved }: { readonly claims: readonly Claim[]; readonly isObserved: (claim: Claim) => boolean },
  pools: ReadonlyMap<string, ClusterPool>,
  lines: LinesByOwner,
  loss: { whyWaits(pool: string): string | undefined },
): Pending[] {
  const isNew = (claim: Claim) => !lines.hasLine(claim) && lines.releasingOf(claim).length === 0;
  return claims.flatMap((claim): Pending[] => {
    const { owner, name, pool } = claim;
    const { noRoom } = pools.get(pool) ?? {};
    const message = noRoom ?? (isObserved(claim) ? undefined : loss.whyWaits(pool));
    if (message === undefined || !isNew(claim)) return [];
    return [{ claim: claimKey(owner, name), pool, code: "invalid", message }];
  });
}

/** Returns the pools that have lines, or may have some that cannot be read. Of `doubled` names, several pools are defined. */
export function recordedIn(snapshot: Snapshot, doubled: ReadonlySet<string>): RecordedPool[] {
  const { pools, allocations, releasing, unreadable = [] } = snapshot;
  const lineOf = (name: string) => [...allocations, ...releasing].find(({ pool }) => pool === name);
  const known = pools.map((pool) =>
    doubled.has(pool.name) ? { ...pool, blockLength: lineOf(pool.name)?.length } : pool,
  );
  return [...known, ...unreadable.flatMap((subnet) => subnet.pools)];
}

function isTouchedBy({ name, whole }: ClusterPool, { pools }: UnreadableSubnet): boolean {
  return pools.some(
    (pool) => pool.name === name || (whole !== undefined && (sameSubnet(pool, whole) || overlap(pool, whole))),
  );
}
