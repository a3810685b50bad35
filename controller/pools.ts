import { type Issue, overlaps, type Parsed, type Pool } from "../core/index.ts";
import { parsePoolSpec } from "../schema/node-ip-pool.ts";
import { asBag } from "../schema/objects.ts";
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
 *  cannot be read, also as Cluster    | nothing: InvalidSpec
 *  is being deleted                   | nothing: Terminating
 *  shares addresses with another one  | nothing, of both: OverlappingIPPool
 *  authority Cluster, or none         | all of it
 *  authority Plan with clusterRange   | the clusterRange
 *  authority Plan                     | nothing: the plan-time tools allocate
 */
export function clusterPools(objects: readonly Seen[]): ClusterPool[] {
  const read = objects.map((object): ClusterPool => {
    const { name } = object.metadata;
    const { value: whole, issues = [] } = parsePoolSpec(name, object.spec);
    if (whole === undefined) return { name, object, problem: invalid(issues) };
    if (object.metadata.deletionTimestamp !== undefined)
      return { name, object, whole, problem: { reason: "Terminating", message: "The NodeIPPool is being deleted." } };
    const taken = asTaken(whole, object);
    return taken.issues === undefined
      ? { name, object, whole, pool: taken.value }
      : { name, object, whole, problem: invalid(taken.issues) };
  });
  return read.map((one) => {
    const other = read.find((pool) => pool !== one && share(pool.whole, one.whole));
    if (other === undefined || one.problem !== undefined) return one;
    const { pool: _, ...rest } = one;
    const message = `The NodeIPPool ${other.name} is overlapping with this one.`;
    return { ...rest, problem: { reason: "OverlappingIPPool", message } };
  });
}

function invalid(issues: readonly Issue[]): PoolProblem {
  return { reason: "InvalidSpec", message: issues.map(({ message }) => message).join("; ") };
}

/** The pool as the controller has it: a Plan pool with a clusterRange is that range to it. */
function asTaken(whole: Pool, { metadata, spec }: Seen): Parsed<Pool> {
  const { clusterRange, authority = "Cluster", ...rest } = asBag(spec) ?? {};
  if (clusterRange === undefined) return { value: { ...whole, authority: whole.authority ?? "Cluster" } };
  if (authority !== "Plan") return parsePoolSpec(metadata.name, { ...rest, clusterRange, authority });
  const { additionalRanges: _, reservations: __, ...own } = rest;
  const range = { ...asBag(rest.range), ...asBag(clusterRange) };
  return parsePoolSpec(metadata.name, { ...own, range, authority: "Cluster" });
}

function share(a: Pool | undefined, b: Pool | undefined): boolean {
  return a !== undefined && b !== undefined && a.network === b.network && overlaps(a.range, b.range);
}
