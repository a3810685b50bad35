import { IpamError, overlaps, type Pool } from "../core/index.ts";
import { parsePoolSpec } from "../schema/node-ip-pool.ts";
import { asBag, type Bag } from "../schema/objects.ts";
import type { Seen } from "./seen.ts";

/** A pool as the controller takes it. */
export interface ClusterPool {
  readonly name: string;
  readonly object: Seen;
  /** As it stands there; undefined if it cannot be read. */
  readonly whole?: Pool;
  /** What the controller hands out, or, with authority Plan, what it only knows. Undefined if nothing may be taken from it. */
  readonly pool?: Pool;
  readonly problem?: PoolProblem;
}

/** Why nothing new is taken from a pool. */
export interface PoolProblem {
  readonly reason: "InvalidSpec" | "OverlappingIPPool" | "Terminating" | "UnsynchronizedIPPool";
  readonly message: string;
}

/**
 * What the controller may take from each pool.
 *
 *  the NodeIPPool                     | what may be taken
 *  -----------------------------------+-----------------------------------------
 *  cannot be read                     | nothing: InvalidSpec
 *  is being deleted                   | nothing: Terminating
 *  shares addresses with another one  | nothing, of both: OverlappingIPPool
 *  authority Cluster, or none         | all of it
 *  authority Plan with clusterRange   | the clusterRange
 *  authority Plan                     | nothing: the plan-time tools allocate
 */
export function clusterPools(objects: readonly Seen[]): ClusterPool[] {
  const read = objects.map((object): ClusterPool => {
    const { name } = object.metadata;
    const { value: whole, issues } = parsePoolSpec(name, object.spec);
    if (whole === undefined)
      return {
        name,
        object,
        problem: { reason: "InvalidSpec", message: (issues ?? []).map(({ message }) => message).join("; ") },
      };
    const pool = asTaken(name, object);
    if (object.metadata.deletionTimestamp !== undefined)
      return { name, object, whole, problem: { reason: "Terminating", message: "The NodeIPPool is being deleted." } };
    return { name, object, whole, pool };
  });
  return read.map((one) => {
    const other = read.find((pool) => pool !== one && share(pool.whole, one.whole));
    if (other === undefined || one.problem !== undefined) return one;
    const { pool: _, ...rest } = one;
    const message = `The NodeIPPool ${other.name} is overlapping with this one.`;
    return { ...rest, problem: { reason: "OverlappingIPPool", message } };
  });
}

/** The pool as the controller has it: a Plan pool with a clusterRange is that range to it. */
function asTaken(name: string, { spec }: Seen): Pool {
  const {
    authority = "Cluster",
    clusterRange,
    additionalRanges,
    reservations,
    ...rest
  } = asBag(spec) as Bag & {
    readonly range: Bag;
  };
  const own =
    authority === "Plan" && clusterRange !== undefined
      ? { ...rest, range: { ...rest.range, ...(clusterRange as Bag) }, authority: "Cluster" }
      : { ...(spec as Bag), authority };
  const { value, issues } = parsePoolSpec(name, own);
  if (value === undefined) throw new IpamError("invalid", issues ?? []);
  return value;
}

function share(a: Pool | undefined, b: Pool | undefined): boolean {
  return a !== undefined && b !== undefined && a.network === b.network && overlaps(a.range, b.range);
}
