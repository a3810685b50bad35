import { ownerOfKey, type Snapshot } from "../../core/index.ts";
import type { Facts } from "../../integrations/contract/integration.ts";
import { isLeftToPlan } from "../../schema/node-ip-pool.ts";
import type { ClusterPool } from "./cluster-pool.ts";

/** Returns the pools that allocate nothing now, each with why, and with the owners that have addresses of it. */
export function unsoundPools(
  pools: readonly ClusterPool[],
  { allocations }: Pick<Snapshot, "allocations">,
): NonNullable<Facts["unsound"]> {
  const found = pools.flatMap(({ name, problem, object, whole, unread }) => {
    if (problem === undefined) return [];
    // What does not fit the record may have been allocated here before.
    const isPlanned = isLeftToPlan(object) && problem.reason !== "UnsynchronizedIPPool";
    const owners = new Set(allocations.flatMap((line) => (line.pool === name ? ownerOfKey(line.claim) : [])));
    return [
      [name, { why: problem.message, isPlanned, owners, ...(unread && { unread }), ...(whole && { whole }) }] as const,
    ];
  });
  return new Map(found);
}
