import {
  type Address,
  type Allocation,
  compareAddresses,
  contains,
  formatAddress,
  freeSpaceOf,
  nameOfKey,
  nodeNameOf,
  offsetOf,
  ownerOfKey,
  type Pending,
  type Pool,
  parseOwner,
} from "../../core/index.ts";
import { howToGrow } from "../../core/pool.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import { conflictsAnnotation, type PoolConflicts } from "../../schema/pool-conflicts.ts";
import type { PoolProblem } from "../allocate/cluster-pool.ts";
import type { Seen } from "../cache/seen.ts";

/** What is known of a pool. */
export interface PoolFacts {
  /** Undefined if its NodeIPPool cannot be read. */
  readonly pool: Pool | undefined;
  readonly problem: PoolProblem | undefined;
  /** Why the record has no room for another address of it. */
  readonly noRoom?: string | undefined;
  readonly live: readonly Allocation[];
  readonly releasing: readonly Allocation[];
  /** Claims that get nothing from it. */
  readonly pending: readonly Pending[];
  /** Addresses of the pool that two have, or that somebody has who was not given it. */
  readonly collisions: readonly string[];
  /** What its NodeIPPool says of addresses that hosts have which are nobody's here. */
  readonly conflicts: PoolConflicts;
  /** Why it is being rebuilt from what nodes run. */
  readonly rebuilding?: string | undefined;
}

/** What a pool says while a reset rebuilds it. */
export const beingReset = "The pool is being rebuilt from what nodes run.";

/** The first this many offsets are shown. */
const shown = 1000;

/**
 * The status of a NodeIPPool: the proposal's condition Available, and Ready, Reconciling and Stalled for what reads kstatus.
 *
 *  the pool                                | Available | reason              | Ready | Reconciling | Stalled
 *  ----------------------------------------+-----------+---------------------+-------+-------------+--------
 *  cannot be read                          | False     | InvalidSpec         | False | False       | True
 *  is being deleted                        | False     | Terminating         | False | True        | False
 *  shares addresses with another one       | False     | OverlappingIPPool   | False | False       | True
 *  is not as it is recorded, or no record  | False     | UnsynchronizedIPPool| False | False       | True
 *  is being reset, or lost live lines      | Unknown   | ReconcilingPool     | False | True        | False
 *  nodes have addresses they were not given| False     | IPCollision         | False | False       | True
 *  says that other hosts have some that it | False     | IPCollision         | False | False       | True
 *   gives, also once nobody has them here  |           |                     |       |             |
 *  claims get nothing from it, as it is    | False     | ExhaustedIPPool     | False | False       | True
 *   full or disabled; or its record is full|           |                     |       |             |
 *  claims hold what it gives no more, or it| False     | UnsynchronizedIPPool| False | False       | True
 *   reserves for one what another one has  |           |                     |       |             |
 *  otherwise                               | True      | ReconciledPool      | True  | False       | False
 */
export function poolStatus(facts: PoolFacts): { readonly fields: Bag; readonly conditions: readonly Bag[] } {
  const [available, reason, message] = verdict(facts);
  const isReconciling = reason === "Terminating" || reason === "ReconcilingPool";
  const flag = (type: string, is: boolean) => ({ type, status: is ? "True" : "False", reason, message });
  const conditions = [
    { type: "Available", status: available, reason, message },
    flag("Ready", available === "True"),
    flag("Reconciling", isReconciling),
    flag("Stalled", available !== "True" && !isReconciling),
  ];
  return { fields: facts.pool === undefined ? {} : counts(facts.pool, facts), conditions };
}

function verdict(facts: PoolFacts): [string, string, string] {
  const { pool, problem, rebuilding, pending, live } = facts;
  if (problem !== undefined) return ["False", problem.reason, problem.message + holders(problem, facts)];
  if (rebuilding !== undefined) return ["Unknown", "ReconcilingPool", rebuilding];
  const collisions = [...facts.collisions.slice(0, 3), ...kept(facts)];
  if (collisions.length > 0) return ["False", "IPCollision", collisions.join(" ")];
  if (facts.noRoom !== undefined) return ["False", "ExhaustedIPPool", facts.noRoom];
  const exhausted = pending.filter(({ code }) => code === "exhausted");
  if (exhausted.length > 0)
    return [
      "False",
      "ExhaustedIPPool",
      `The IP pool is ${whyEmpty(pool)}: ${exhausted.length} more needed, for ${names(exhausted)}. ${nextOf(pool)}`,
    ];
  // Who only wants what another one has is told so itself: nothing is wrong with the pool.
  const holding = new Set(live.map(({ claim }) => claim));
  const isOfPool = (claim: string) => holding.has(claim) || (pool !== undefined && isReserved(pool, claim));
  const outside = pending.find(({ code, claim }) => code === "in-use" && isOfPool(claim));
  if (outside !== undefined) return ["False", "UnsynchronizedIPPool", outside.message];
  return ["True", "ReconciledPool", "The pool is up to date"];
}

/** The addresses that nobody has here, and that nobody is given because other hosts have them. One that the pool excludes is settled. */
function kept({ pool, live, releasing, conflicts }: PoolFacts): string[] {
  const own = new Set([...live, ...releasing].map(({ address }) => address));
  const isKept = (address: Address) => !own.has(address) && contains(pool?.assignable ?? [], address);
  const entries = [...conflicts].filter(([address]) => isKept(address)).sort(([a], [b]) => compareAddresses(a, b));
  if (entries.length === 0) return [];
  const said = entries.slice(0, 3).map(([address, mac]) => `${formatAddress(address)} (MAC address ${mac})`);
  const more = entries.length > 3 ? ` and ${entries.length - 3} more` : "";
  return [
    `Other hosts answer for ${said.join(", ")}${more}, so nobody is given that. Take it off that host, and then out of annotation ${conflictsAnnotation}.`,
  ];
}

function isReserved(pool: Pool, claim: string): boolean {
  const owner = parseOwner(ownerOfKey(claim)).value;
  return owner !== undefined && pool.reservations.for({ owner, name: nameOfKey(claim), pool: pool.name }) !== undefined;
}

/** Returns why a pool gives nothing more, and the next step, for those who wait for its addresses. */
export function whyExhausted(name: string, pool: Pool | undefined): string {
  return `pool ${name} is ${whyEmpty(pool)}. ${nextOf(pool).replace(/\.$/, "")}`;
}

/** Returns the same for a node, which may wait for several pools. */
export function whyNodeWaits(pools: ReadonlyMap<string, Pool | undefined>): string {
  const each = [...pools].map(([name, pool]) => `${name}, which is ${whyEmpty(pool)}`);
  const next = new Set([...pools.values()].map(nextOf));
  return `This node waits for addresses of NodeIPPool ${each.join(", and of ")}. ${[...next].join(" ")}`;
}

function whyEmpty(pool: Pool | undefined): "disabled" | "exhausted" {
  return pool?.rules.disable ? "disabled" : "exhausted";
}

/** Returns the next step where a pool gives nothing more. */
function nextOf(pool: Pool | undefined): string {
  if (pool?.rules.disable) return "Take spec.disable out of it, or ask another pool.";
  return pool === undefined ? "See its conditions." : howToGrow(pool);
}

function holders({ reason }: PoolProblem, { live, releasing }: PoolFacts): string {
  if (reason !== "Terminating") return "";
  if (live.length > 0)
    return ` It is in use by ${live.length}: ${names(live)}. It goes when no policy asks for it any more.`;
  if (releasing.length === 0) return "";
  const addresses = releasing.length === 1 ? "1 address" : `${releasing.length} addresses`;
  return ` ${addresses} that ${names(releasing)} had may still be in use, and keep it until reports show that they are not. If you know that they are off, release them by name.`;
}

function names(claims: readonly { readonly claim: string }[]): string {
  const owners = [...new Set(claims.map(({ claim }) => ownerOfKey(claim)))].map((owner) => nodeNameOf(owner) ?? owner);
  const rest = owners.length > 3 ? ` and ${owners.length - 3} more` : "";
  return owners.slice(0, 3).join(", ") + rest;
}

/** What is left of a pool: what other hosts have is given to nobody. */
export function freeIn(pool: Pool, lines: readonly Allocation[], conflicts: PoolConflicts = new Map()) {
  const others = [...conflicts.keys()].map((address) => ({ address, length: pool.blockLength }));
  return freeSpaceOf(pool, pool.assignable, lines, others);
}

function counts(pool: Pool, { live, releasing, conflicts }: PoolFacts): Bag {
  const { capacity, free } = freeIn(pool, [...live, ...releasing], conflicts);
  return {
    capacity: `${capacity}`,
    allocated: live.length,
    releasing: releasing.length,
    free: `${free}`,
    "allocated-offsets": offsetsOf(pool, live).slice(0, shown),
  };
}

function offsetsOf(pool: Pool, live: readonly Allocation[]): number[] {
  const offsets = live.flatMap(({ address }) => offsetOf(pool, address) ?? []).map(Number);
  return offsets.sort((a, b) => a - b);
}

/** Returns whether the list of offsets was emptied, which asks for a reset. The count beside it is then as the controller wrote it. */
export function isEmptied({ metadata, status }: Seen, pool: Pool | undefined, live: readonly Allocation[]): boolean {
  const { allocated, "allocated-offsets": offsets, observedGeneration } = asBag(status) ?? {};
  // Of another range there may be no offsets at all.
  const isOfThis = observedGeneration === metadata.generation;
  const isEmpty = isOfThis && Array.isArray(offsets) && offsets.length === 0;
  const numbered = pool === undefined ? 0 : offsetsOf(pool, live).length;
  // What is outside of the range has no offset: where all that was counted is, nobody has emptied anything.
  return isEmpty && numbered > 0 && Number(allocated) > live.length - numbered;
}
