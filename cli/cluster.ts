import { clusterPools } from "../controller/allocate/pools.ts";
import type { Seen } from "../controller/cache/seen.ts";
import type { Authority, Pool } from "../core/index.ts";
import { asBag, type Bag, conditionOf } from "../schema/objects.ts";
import type { StateOptions } from "./state.ts";

/** A NodeIPPool of the cluster that has the record. */
export interface PoolOfCluster {
  /** As whoever keeps the record there has it: to them it is theirs to plan. */
  readonly pool: Pool;
  readonly authority: Authority;
  /** What its condition Available says where it is not True. */
  readonly problem?: string;
}

/**
 * The NodeIPPools of the cluster that has the record; none where there is no such kind, or nobody may read it. One that cannot
 * be read is left out: the controller says why on it.
 */
export async function poolsOfCluster({ context }: StateOptions): Promise<PoolOfCluster[]> {
  const { findAccess, objectsOf, refusalOf } = await import("../kube/index.ts");
  const objects = objectsOf(findAccess({ context }));
  const found = await objects.list({ apiVersion: "nmstate.io/v1", plural: "nodeippools" }).catch((error) => {
    if ([403, 404].includes(refusalOf(error)?.status ?? 0)) return [];
    throw error;
  });
  objects.close();
  return clusterPools(found as unknown as Seen[]).flatMap(({ pool, whole, object }) => {
    const read = pool ?? whole;
    if (read === undefined) return [];
    const authority = asBag(object.spec)?.authority === "Plan" ? "Plan" : "Cluster";
    return { pool: { ...read, authority: "Plan" as const }, authority, ...problemOf(object) };
  });
}

function problemOf({ status }: Bag): { readonly problem?: string } {
  const available = conditionOf(asBag(status)?.conditions, "Available");
  if (available === undefined || available.status === "True") return {};
  return { problem: `${available.reason}: ${available.message}` };
}

/** Returns whether the cluster has a node of this name. */
export async function isNode(name: string, { context }: StateOptions): Promise<boolean> {
  const { findAccess, objectsOf } = await import("../kube/index.ts");
  const objects = objectsOf(findAccess({ context }));
  const node = await objects.get({ apiVersion: "v1", plural: "nodes" }, name);
  objects.close();
  return node !== undefined;
}
