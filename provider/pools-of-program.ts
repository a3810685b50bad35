import * as pulumi from "@pulumi/pulumi";
import { emptySnapshot, IpamError, type Pool, type PoolSpec } from "../core/index.ts";
import { checkPools } from "../core/pools.ts";
import { parsePoolSpec } from "../schema/node-ip-pool.ts";
import { recordOfLock } from "../state/offer.ts";
import type { StateArgs } from "./set-state.ts";

/** A pool, and the set that has it. */
interface Taken {
  readonly set: string;
  readonly pool: Pool;
}

/**
 * By the root of the program. The engine calls check in no order, and not at all for what is not a target, so
 * only the program knows all of its sets. One for all copies of this package in the process.
 */
const registry = globalThis as unknown as Record<symbol, WeakMap<object, unknown> | undefined>;

/** What this program has under a key; undefined outside of programs. */
function ofProgram<T>(name: string, none: () => T): T | undefined {
  const root = pulumi.runtime.getStackResource();
  if (root === undefined) return undefined;
  const key = Symbol.for(name);
  const roots = registry[key] ?? new WeakMap<object, unknown>();
  registry[key] = roots;
  if (!roots.has(root)) roots.set(root, none());
  return roots.get(root) as T;
}

/** Is this no run of the engine, but a test with mocks? */
export function isUnitTest(): boolean {
  return pulumi.runtime.getEngine() === undefined; // not hasEngine: that is false until somebody has used it
}

/**
 * Throws pulumi.RunError if another set of the program has one of the pools, or addresses of it; and where the sets of a
 * program do not know of each other.
 */
export function takePools(set: string, specs: { readonly [name: string]: PoolSpec }): void {
  const taken = ofProgram("nodeippool.sets", () => new Map<string, Taken>());
  if (taken === undefined && !isUnitTest())
    throw new pulumi.RunError(
      `allocation set ${set}: a component that is a package of its own does not know of the other sets of the program: make the set in the program, and give the component its addresses`,
    );
  if (taken === undefined) return;
  const before = [...taken.values()]; // sets may have one name, below different parents
  for (const [name, spec] of Object.entries(specs)) {
    const other = taken.get(name);
    if (other !== undefined)
      throw new pulumi.RunError(
        `pool ${name} is in two allocation sets, ${other.set} and ${set}: put all its claims into one`,
      );
    const pool = parsePoolSpec(name, spec).value; // what is wrong with it is for check to say
    if (pool === undefined) continue;
    for (const one of before) refuseShared(one, { set, pool });
    taken.set(name, { set, pool });
  }
}

/**
 * Throws pulumi.RunError if another component of the program makes an object of this kind and name, with the same provider
 * of @pulumi/kubernetes: another provider may lead to another cluster.
 */
export function takeObject(kind: string, name: string, component: string, by: pulumi.ComponentResource): void {
  const clusters = ofProgram("nodeippool.objects", () => new Map<unknown, Map<string, string>>());
  const provider = by.getProvider("kubernetes::");
  const taken = clusters?.get(provider) ?? new Map<string, string>();
  const other = taken.get(`${kind} ${name}`);
  if (other !== undefined)
    throw new pulumi.RunError(
      `${kind} ${other} and ${component} are both named ${name} in the cluster: make them one, or give one of them another metadata.name`,
    );
  clusters?.set(provider, taken.set(`${kind} ${name}`, component));
}

/** A set of the program, and which claim set of which record it is. */
interface ClaimSet {
  readonly name: string;
  readonly state: StateArgs;
  readonly set: string;
}

/** Throws pulumi.RunError if another set of the program is the same claim set of what may be the same record. */
export function takeClaimSet(name: string, state: StateArgs, set: string): void {
  const taken = ofProgram<ClaimSet[]>("nodeippool.claim-sets", () => []) ?? [];
  refuseOneSet(taken, name, state, set);
  taken.push({ name, state, set });
}

export function refuseOneSet(taken: readonly ClaimSet[], name: string, state: StateArgs, set: string): void {
  const other = taken.find((one) => one.set === set && mayBeOne(one.state, state));
  if (other === undefined) return;
  const what = `allocation sets ${other.name} and ${name} have one record, and are set "${set}" of it both`;
  throw new pulumi.RunError(
    `${what}: give one of them another name there, as in set: "${name}"; its addresses stay as they are`,
  );
}

/** Two contexts may be of one cluster, and a context may have any namespace. */
function mayBeOne(a: StateArgs, b: StateArgs): boolean {
  if (a.backend === "lockfile" && b.backend === "lockfile")
    return recordOfLock(`${a.path}`) === recordOfLock(`${b.path}`);
  if (a.backend !== "kubernetes" || b.backend !== "kubernetes") return false;
  return a.namespace === undefined || b.namespace === undefined || a.namespace === b.namespace;
}

function refuseShared(a: Taken, b: Taken): void {
  try {
    checkPools([a.pool, b.pool], emptySnapshot);
  } catch (error) {
    if (!(error instanceof IpamError)) throw error;
    throw new pulumi.RunError(`allocation sets ${a.set} and ${b.set}: ${error.message}`);
  }
}
