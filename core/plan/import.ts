import { compareAddresses } from "../address.ts";
import type { Snapshot } from "../allocation.ts";
import { blockAt, isSingle, lengthOf } from "../block.ts";
import type { Claim } from "../claim.ts";
import { byCodeUnit, IpamError } from "../errors.ts";
import type { Pool } from "../pool.ts";
import { checkPools } from "../pools.ts";
import { contains } from "../range.ts";
import type { Use } from "../use.ts";
import { choosePools } from "./choose-pool.ts";
import { type Had, PoolImport } from "./import-pool.ts";
import { type Plan, planOf } from "./plan.ts";
import { checkSet, requestsByPool } from "./request.ts";

/** What `planImport` decides from. */
export interface ImportInput {
  readonly pools: readonly Pool[];
  readonly claims: readonly Claim[];
  readonly snapshot: Snapshot;
  /** What nodes have now. Uses without an owner are passed over. */
  readonly uses: readonly Use[];
  /** Claim set of the claims. Default `default`. */
  readonly set?: string;
}

/**
 * A plan that records what nodes already have, and moves nobody. Pure; the same inputs in any order give the same plan.
 *
 *  the node has on the NIC of a claim | the claim's line | decision
 *  -----------------------------------+------------------+-----------------------------------------------------
 *  the address of the line            | any              | keep
 *  another one                        | any              | conflict
 *  one that the pool may hand out     | none             | assign; a reservation of this import is renamed to the claim
 *  more than there are claims         | none             | conflict, unless reservations of the pool tell which
 *  only others of the pool's subnet   | none             | out-of-range
 *
 * Which claim an address is for, `adoptable` says, as it does when a plan adopts what was imported before; where it cannot
 * tell, that is a conflict. Whatever else the pools may hand out becomes a line `Node/<node>/imported/<address>` of set
 * `imported` (`Node/<node>/<pool>`, if the use names its pool), unless its owner has a line for it already. An address that
 * two owners have, or that is recorded for another one, is a conflict. Addresses that no pool may hand out are passed over,
 * and so are temporary ones, unless another owner has them too.
 * Throws IpamError `conflict` with every case, or `out-of-range` if there is no other, and `invalid`, `overlap` and `in-use` as `plan` does.
 */
export function planImport(input: ImportInput): Plan {
  const { snapshot, set = "default" } = input;
  checkSet(set);
  checkPools(input.pools, snapshot, set);
  const pools = [...input.pools].sort((a, b) => byCodeUnit(a.name, b.name));
  const requests = requestsByPool(pools, choosePools(input.claims, pools, snapshot).claims);
  const had = input.uses
    .filter((use): use is Had => use.owner !== undefined)
    .map((use) => asBlock(use, pools))
    .sort(byPlace);
  const uses = had.filter((use) => !use.isTemporary);
  const temporary = had.filter((use) => use.isTemporary);
  const parts = pools.map((pool) => new PoolImport(pool, requests.get(pool.name) ?? [], had, snapshot, set));
  const claimed = new Set(parts.flatMap((part) => part.match(uses, parts)));
  const rest = uses.filter((use) => !claimed.has(use));
  for (const part of parts) part.reserve(rest);
  for (const part of parts) part.passOver(temporary);
  const conflicts = parts.flatMap((part) => part.issues.conflict);
  const issues = [...conflicts, ...parts.flatMap((part) => part.issues["out-of-range"])];
  if (issues.length > 0) throw new IpamError(conflicts.length > 0 ? "conflict" : "out-of-range", issues);
  return planOf(set, snapshot, pools, parts);
}

/** In a pool of blocks, who has an address has its whole block; and all of a wider prefix, where it has one inside the pool. */
function asBlock(use: Had, pools: readonly Pool[]): Had {
  const pool = pools.find(({ name, range }) => (use.pool ?? name) === name && contains(range, use.address));
  if (pool === undefined || use.length !== undefined || isSingle({ ...use, length: pool.blockLength })) return use;
  const isWider = use.prefixLength !== undefined && use.prefixLength > pool.prefix.length;
  return { ...use, ...blockAt(use.address, Math.min(pool.blockLength, isWider ? use.prefixLength : pool.blockLength)) };
}

function byPlace(a: Had, b: Had): number {
  return (
    compareAddresses(a.address, b.address) ||
    lengthOf(a) - lengthOf(b) ||
    byCodeUnit(a.owner, b.owner) ||
    byCodeUnit(a.interface ?? "", b.interface ?? "")
  );
}
