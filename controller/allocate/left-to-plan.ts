import {
  type Allocation,
  clusterSet,
  formatBlock,
  listed,
  ownerName,
  ownerOfKey,
  type Snapshot,
} from "../../core/index.ts";
import type { ClusterIntegration } from "../../integrations/contract/cluster-integration.ts";
import { isManaged } from "../../integrations/contract/managed-by.ts";
import { isLeftToPlan } from "../../schema/node-ip-pool.ts";
import type { Seen } from "../cache/seen.ts";
import type { World } from "../cache/world.ts";
import { sourceOf } from "./asking.ts";
import type { ClusterPool, PoolProblem } from "./cluster-pool.ts";
import type { SourceOf } from "./reset.ts";

/** Returns, by pool, the live lines that the controller allocated before the pool was left to a plan. */
export function heldLines(
  pools: Iterable<ClusterPool>,
  { allocations }: Snapshot,
): ReadonlyMap<string, readonly Allocation[]> {
  const left = new Set([...pools].flatMap(({ name, object }) => (isLeftToPlan(object) ? name : [])));
  if (left.size === 0) return new Map();
  return Map.groupBy(
    allocations.filter(({ pool, set }) => left.has(pool) && set === clusterSet),
    ({ pool }) => pool,
  );
}

/** Returns what is wrong with a pool that was left to a plan while these addresses are in use, with the next step. */
export function heldProblem(held: readonly Allocation[]): PoolProblem {
  const which = listed(held.map((line) => `${formatBlock(line)} of ${ownerName(line.claim)}`));
  const message = `spec.authority is Plan, but addresses that the controller allocated are in use: ${which}. They stay, and the controller allocates no others. Set authority to Cluster again, or let the plan take them over, as docs/cluster-pools.md says.`;
  return { reason: "UnsynchronizedIPPool", message };
}

/** Returns the sources, by their keys, of held lines whose owners are there: what was made of these stays, also once the source is deleted. */
export function heldSources(
  pools: Iterable<ClusterPool>,
  snapshot: Snapshot,
  world: World,
  integrations: readonly ClusterIntegration[],
): string[] {
  const claims = [...heldLines(pools, snapshot).values()].flat().map(({ claim }) => claim);
  const live = claims.filter((claim) => !isEnding(ownerOfKey(claim), world));
  return live.flatMap((claim) => sourceOf(claim, world, integrations) ?? []);
}

/** Whether an owner is gone, or being deleted. */
export function isEnding(owner: string, world: World): boolean {
  return world.isGone(owner) || world.owner(owner)?.metadata.deletionTimestamp !== undefined;
}

/** Whether a plan has taken over a line: the object that the controller had made for its owner was replaced by one that it does not manage. */
export function isHandedOver({ claim }: Allocation, world: World, sourceOf: SourceOf): boolean {
  const owner = ownerOfKey(claim);
  const isMade = (object: Seen) => world.kindFor(object).keepMade !== undefined;
  const isFor = (object: Seen) => world.concerns(object).owners.includes(owner);
  return world.ofSource(sourceOf(claim) ?? "").some((one) => isMade(one) && !isManaged(one) && isFor(one));
}
