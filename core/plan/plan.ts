import type { Address } from "../address.ts";
import { byAddress, type PoolRecord, type Snapshot } from "../allocation.ts";
import { type Claim, ownerOfKey } from "../claim.ts";
import { byCodeUnit, IpamError, type Issue } from "../errors.ts";
import type { Pool } from "../pool.ts";
import { checkPools } from "../pools.ts";
import type { Changes, Pending } from "./changes.ts";
import { choosePools } from "./choose-pool.ts";
import { type Moved, Renames } from "./moved.ts";
import { planPool } from "./plan-pool.ts";
import { checkSet, requestsByPool } from "./request.ts";

/** What `plan` decides from. */
export interface PlanInput {
  readonly pools: readonly Pool[];
  /** Every claim of the set; with `owners`, at least those of these owners. A line of the set without a claim here is released. */
  readonly claims: readonly Claim[];
  readonly snapshot: Snapshot;
  /**
   * Only these owners (`Node/a`) are looked at: claims of others are passed over, and their lines stay as they are recorded
   * and are in no list of the plan. But a declared rename reaches the line that it is about, whoever has it.
   */
  readonly owners?: ReadonlySet<string>;
  /** Claim set; lines of other sets are occupied space. Default `default`. */
  readonly set?: string;
  /** Declared renames, claim key to claim key: the address stays. One may go on from where another one ends. */
  readonly moved?: readonly Moved[];
  /** Let a live owner lose its address and get another one of the same pool. */
  readonly allowMove?: boolean;
}

/** The difference between what is claimed and one snapshot. Data: nothing has happened yet. */
export interface Plan extends Changes {
  readonly set: string;
  /** Content tokens of the pools as this plan found them; a pool without a record has none. */
  readonly base: ReadonlyMap<string, string>;
  /** The pools as configured; a commit records those that get their first line, and where a pool of order Next allocated last. */
  readonly pools: readonly PoolRecord[];
}

/** Returns whether committing this plan writes nothing. */
export function isNoop(plan: Plan): boolean {
  return plan.assign.length === 0 && plan.release.length === 0 && plan.keep.every((kept) => kept.was === undefined);
}

/**
 * Decides who gets what. Pure; the same inputs in any order give the same plan. First whoever holds an address
 * keeps it, then wanted addresses, then free ones in the order of the pool, each in key order. An address that any line holds,
 * live or releasing, goes to nobody else in this plan.
 * Throws IpamError `invalid` (a claim twice, an unknown pool, renames that contradict each other), `overlap` (of pools),
 * `in-use` (a recorded pool has another prefix or network).
 */
export function plan(input: PlanInput): Plan {
  const { pools, snapshot, set = "default" } = input;
  checkSet(set);
  checkPools(pools, snapshot, set);
  const { moved = [], allowMove = false, owners } = input;
  const renames = new Renames(moved);
  const chosen = choosePools(input.claims, pools, snapshot, renames);
  const requests = requestsByPool(pools, chosen.claims);
  const live = Map.groupBy(snapshot.allocations, (line) => line.pool);
  const releasing = Map.groupBy(snapshot.releasing, (line) => line.pool);
  const keys = new Map([...requests].map(([name, list]) => [name, new Set(list.map(({ key }) => key))]));
  refuseMoved([...keys.values()].flatMap((claimed) => renames.issues(claimed)));

  const names = new Set([...pools.map((pool) => pool.name), ...live.keys()]);
  const byName = new Map(pools.map((pool) => [pool.name, pool]));
  const recorded = new Map(snapshot.pools.map((pool) => [pool.name, pool]));
  const parts = [...names].sort(byCodeUnit).map((name) => {
    const { last } = recorded.get(name) ?? {};
    const lines = { live: live.get(name) ?? [], releasing: releasing.get(name) ?? [], last };
    const claimed = keys.get(name) ?? new Set();
    const namesOf = (claim: string) => renames.before(claim, claimed);
    return {
      name,
      ...planPool(byName.get(name), requests.get(name) ?? [], lines, { set, allowMove, namesOf, owners }),
    };
  });
  const last = new Map(parts.map((part) => [part.name, part.last]));
  const isMeant = ({ claim }: Pending) => owners === undefined || owners.has(ownerOfKey(claim));
  return planOf(set, snapshot, pools, [...parts, { pending: chosen.pending.filter(isMeant) }], last);
}

/** The plan that the decisions for each pool make, in the order of the record. */
export function planOf(
  set: string,
  { base }: Snapshot,
  pools: readonly Pool[],
  parts: readonly Partial<Changes>[],
  last: ReadonlyMap<string, Address | undefined> = new Map(),
): Plan {
  return {
    set,
    base,
    pools: recordsOf(pools, last),
    assign: parts.flatMap(({ assign = [] }) => assign).sort(byAddress),
    keep: parts.flatMap(({ keep = [] }) => keep).sort((a, b) => byAddress(a.allocation, b.allocation)),
    release: parts.flatMap(({ release = [] }) => release).sort((a, b) => byAddress(a.allocation, b.allocation)),
    pending: parts.flatMap(({ pending = [] }) => pending).sort((a, b) => byCodeUnit(a.claim, b.claim)),
  };
}

/** Throws `invalid`; what is wrong with a rename in several pools is said once. */
function refuseMoved(issues: readonly Issue[]): void {
  const each = new Map(issues.map((issue) => [issue.message, issue]));
  if (each.size === 0) return;
  throw new IpamError(
    "invalid",
    [...each.values()].sort((a, b) => byCodeUnit(a.message, b.message)),
  );
}

function recordsOf(pools: readonly Pool[], allocated: ReadonlyMap<string, Address | undefined>): PoolRecord[] {
  return pools
    .map(({ name, prefix, network }): PoolRecord => {
      const last = allocated.get(name);
      return { name, prefix, network, ...(last === undefined ? {} : { last }) };
    })
    .sort((a, b) => byCodeUnit(a.name, b.name));
}
