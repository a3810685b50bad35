import * as pulumi from "@pulumi/pulumi";
import { emptySnapshot, IpamError, type Pool, type PoolSpec } from "../core/index.ts";
import { checkPools } from "../core/pools.ts";
import { parsePoolSpec } from "../schema/node-ip-pool.ts";
import { recordOfLock } from "../state/offer.ts";
import type { StateArgs } from "./set-state.ts";

/** A set of the program: the pools that it has, and which claim set of which record it is. */
interface Taken {
  readonly name: string;
  readonly pools: readonly Pool[];
  readonly state: StateArgs;
  readonly set: string;
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

/** Returns whether this is a test with mocks, not a run of the engine. */
export function isUnitTest(): boolean {
  return pulumi.runtime.getEngine() === undefined; // not hasEngine: that is false until somebody has used it
}

/**
 * Throws pulumi.RunError if another set of the program has one of the pools, or addresses of it, or is the same claim set
 * of what may be the same record; and where the sets of a program do not know of each other.
 */
export function takeSet(name: string, specs: { readonly [pool: string]: PoolSpec }, state: StateArgs, set: string) {
  const taken = ofProgram("nodeippool.sets", (): Taken[] => []);
  if (taken === undefined && !isUnitTest())
    throw new pulumi.RunError(
      `allocation set ${name}: a component that is a package of its own does not know of the other sets of the program: create the set in the program, and give the component its addresses`,
    );
  // What is wrong with a pool is for check to say.
  const pools = Object.entries(specs).flatMap(([pool, spec]) => parsePoolSpec(pool, spec).value ?? []);
  const one = { name, pools, state, set };
  for (const other of taken ?? []) refuseShared(other, one);
  taken?.push(one);
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

export function refuseShared(a: Taken, b: Taken): void {
  const twice = a.pools.find((pool) => b.pools.some(({ name }) => name === pool.name));
  if (twice !== undefined)
    throw new pulumi.RunError(
      `pool ${twice.name} is in two allocation sets, ${a.name} and ${b.name}: put all its claims into one`,
    );
  if (a.set === b.set && mayBeOne(a.state, b.state))
    throw new pulumi.RunError(
      `allocation sets ${a.name} and ${b.name} have one record, and are set "${a.set}" of it both: give one of them another name there, as in set: "${b.name}"`,
    );
  try {
    // Pool by pool: what is wrong among those of one set is for check to say.
    for (const pool of a.pools) for (const other of b.pools) checkPools([pool, other], emptySnapshot);
  } catch (error) {
    if (!(error instanceof IpamError)) throw error;
    throw new pulumi.RunError(`allocation sets ${a.name} and ${b.name}: ${error.message}`);
  }
}

/** Two contexts may be of one cluster, and a context may have any namespace. */
function mayBeOne(a: StateArgs, b: StateArgs): boolean {
  if (a.backend === "lockfile" && b.backend === "lockfile")
    return recordOfLock(`${a.path}`) === recordOfLock(`${b.path}`);
  if (a.backend !== "kubernetes" || b.backend !== "kubernetes") return false;
  return a.namespace === undefined || b.namespace === undefined || a.namespace === b.namespace;
}
