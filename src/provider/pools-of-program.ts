import * as pulumi from "@pulumi/pulumi";
import { emptySnapshot, IpamError, type Pool, type PoolSpec } from "../core/index.ts";
import { checkPools } from "../core/pools.ts";
import { parsePoolSpec } from "../schema/node-ip-pool.ts";

/** A pool, and the set that has it. */
interface Taken {
  readonly set: string;
  readonly pool: Pool;
}

/**
 * Pools by the root of the program. The engine calls check in no order, and not at all for what is not a target, so
 * only the program knows all of its sets. One for all copies of this package in the process.
 */
const registry = globalThis as unknown as Record<symbol, WeakMap<object, Map<string, Taken>> | undefined>;
const key = Symbol.for("nodeippool.sets");

/** Throws pulumi.RunError if another set of the program has one of the pools, or addresses of it. */
export function takePools(set: string, specs: { readonly [name: string]: PoolSpec }): void {
  const root = pulumi.runtime.getStackResource();
  if (root === undefined) return;
  const roots = registry[key] ?? new WeakMap<object, Map<string, Taken>>();
  registry[key] = roots;
  const taken = roots.get(root) ?? new Map<string, Taken>();
  roots.set(root, taken);
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

function refuseShared(a: Taken, b: Taken): void {
  try {
    checkPools([a.pool, b.pool], emptySnapshot);
  } catch (error) {
    if (!(error instanceof IpamError)) throw error;
    throw new pulumi.RunError(`allocation sets ${a.set} and ${b.set}: ${error.message}`);
  }
}
