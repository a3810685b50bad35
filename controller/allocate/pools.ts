import { type Issue, joinedPool, type Parsed, type Pool } from "../../core/index.ts";
import type { ClusterIntegration } from "../../integrations/contract/cluster-integration.ts";
import type { DefinedPool } from "../../integrations/contract/integration.ts";
import { objectKey } from "../../integrations/contract/object-key.ts";
import { parsePoolSpec } from "../../schema/node-ip-pool.ts";
import { asBag, placeless, titleOf } from "../../schema/objects.ts";
import type { Seen } from "../cache/seen.ts";
import type { ClusterPool, PoolProblem } from "./cluster-pool.ts";
import { whyNot } from "./failing-objects.ts";
import { poolsTogether, type RecordedPool } from "./pools-together.ts";

/**
 * What the controller may take from each pool.
 *
 *  the pool                           | what may be taken
 *  -----------------------------------+-----------------------------------------
 *  cannot be read, also as Cluster    | nothing: InvalidSpec
 *  is being deleted                   | nothing: Terminating
 *  cannot be used beside another one  | nothing: OverlappingIPPool (pools-together.ts)
 *  authority Cluster, or none         | all of it
 *  authority Plan with clusterRange   | the clusterRange
 *  authority Plan                     | nothing: the plan-time tools allocate
 */
export function clusterPools(
  nodeIPPools: readonly Seen[],
  others: readonly ClusterPool[] = [],
  recorded: readonly RecordedPool[] = [],
): ClusterPool[] {
  return poolsTogether([...others.reduce(joined, []), ...nodeIPPools.map(readPool)], recorded);
}

/** What is defined alike in several places is one pool, as long as one of them stays. What one of them excludes goes to nobody. */
function joined(pools: readonly ClusterPool[], one: ClusterPool): ClusterPool[] {
  const joinWith = ({ whole }: ClusterPool) => whole && one.whole && joinedPool(whole, one.whole);
  const same = pools.find((pool) => joinWith(pool) !== undefined);
  const whole = same && joinWith(same);
  if (same === undefined || whole === undefined) return [...pools, one];
  const [first, second] = same.problem === undefined ? [same, one] : [one, same];
  const alike = [...(same.alike ?? []), second.object];
  const both = { ...first, alike, whole, ...(first.pool && { pool: ofCluster(whole) }) };
  return pools.map((pool) => (pool === same ? both : pool));
}

/** Returns whether an object defines a pool. */
export function isDefinedBy(pool: ClusterPool, key: string): boolean {
  return definersOf(pool).includes(key);
}

/** Returns the keys of the objects that define a pool, first the one that counts; none of one that nobody here knows. */
export function definersOf(pool: ClusterPool | undefined): string[] {
  const { object, alike = [] } = pool ?? {};
  return object === undefined ? [] : [object, ...alike].map(objectKey);
}

function readPool(object: Seen): ClusterPool {
  const { name } = object.metadata;
  const one = { name, title: `NodeIPPool ${name}`, object };
  const { value: whole, issues = [] } = parsePoolSpec(name, object.spec);
  if (whole === undefined) return { ...one, problem: invalid(issues) };
  if (isEnding(object)) return { ...one, whole, problem: terminating("NodeIPPool") };
  const taken = asTaken(whole, object);
  return taken.issues === undefined
    ? { ...one, whole, pool: taken.value }
    : { ...one, whole, problem: invalid(taken.issues) };
}

/** The pools that objects define. Of one that cannot be read nobody knows them. */
export function poolsDefinedBy(integration: ClusterIntegration, object: Seen): ClusterPool[] {
  let pools: readonly DefinedPool[] = [];
  whyNot(() => {
    const { value: model } = integration.read({ owned: [placeless(object)], others: [] });
    if (model !== undefined) pools = integration.pools?.(model) ?? [];
  });
  const differsFrom = (other: Seen) =>
    integration.read({ owned: [object, other].map(placeless), others: [] }).issues?.[0]?.message;
  return pools.map(({ pool: whole }): ClusterPool => {
    const one = { name: whole.name, title: `pool ${whole.name} of ${titleOf(object)}`, object, whole, differsFrom };
    return isEnding(object) ? { ...one, problem: terminating(titleOf(object)) } : { ...one, pool: ofCluster(whole) };
  });
}

/** For how long a pool wants its addresses held back, in milliseconds. */
export function graceOf(one: ClusterPool | undefined): number {
  const { addressReuseGracePeriodSeconds: seconds } = asBag(one?.object.spec) ?? {};
  return typeof seconds === "number" ? seconds * 1000 : 0;
}

function isEnding({ metadata }: Seen): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function terminating(what: string): PoolProblem {
  return { reason: "Terminating", message: `The ${what} is being deleted.` };
}

function ofCluster(pool: Pool): Pool {
  return { ...pool, authority: pool.authority ?? "Cluster" };
}

function invalid(issues: readonly Issue[]): PoolProblem {
  return { reason: "InvalidSpec", message: issues.map(({ message }) => message).join("; ") };
}

/** The pool as the controller has it: a Plan pool with a clusterRange is that range to it. */
function asTaken(whole: Pool, { metadata, spec }: Seen): Parsed<Pool> {
  const { clusterRange, authority = "Cluster", ...rest } = asBag(spec) ?? {};
  if (clusterRange === undefined) return { value: ofCluster(whole) };
  if (authority !== "Plan") return parsePoolSpec(metadata.name, { ...rest, clusterRange, authority });
  const { additionalRanges: _, reservations: __, ...own } = rest;
  const range = { ...asBag(rest.range), ...asBag(clusterRange) };
  return parsePoolSpec(metadata.name, { ...own, range, authority: "Cluster" });
}
