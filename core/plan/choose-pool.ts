import { type Allocation, identityOf, type Snapshot } from "../allocation.ts";
import { type Claim, claimKey, formatOwner, policyOfKey, poolsAsked } from "../claim.ts";
import { byCodeUnit } from "../errors.ts";
import { freeSpaceOf } from "../free-space.ts";
import { partition } from "../partition.ts";
import type { Pool } from "../pool.ts";
import { mayMeetAll, nodesReaching } from "../selection/node-rules.ts";
import type { LabelExpression } from "../selection/pool-selector.ts";
import type { Pending } from "./changes.ts";
import { Renames } from "./moved.ts";
import { mayHave, wantedBy } from "./request.ts";

/** Claims that name one pool each, and those for which there is none. */
export interface Chosen {
  readonly claims: readonly Claim[];
  readonly pending: readonly Pending[];
}

/**
 * Which pool does each claim ask that has a choice? Pure, the same whatever the order of the claims.
 *
 *  the claim                                      | asks
 *  -----------------------------------------------+----------------------------------------------------------
 *  has a live line in one of its pools            | that one: what is changed in pools moves nobody
 *  has a releasing line in one of its pools       | that one
 *  wants an address, or has one reserved, in a    | that one
 *   pool that it may try                          |
 *  has nothing                                    | the first pool that it may try and that has room
 *  the same, and none has room                    | the first one: it is exhausted
 *  the same, and there is no pool to try          | none: pending
 *
 * Claims of an owner that begin alike, as `0/net1` and `0/net2` do, are of one pod, and that runs on one node: what is given anew is of
 * pools that one node may reach, with all that the pod has. If those that have room are for other nodes, none is given: pending.
 */
export function choosePools(
  claims: readonly Claim[],
  pools: readonly Pool[],
  snapshot: Pick<Snapshot, "allocations" | "releasing">,
  renames = new Renames([]),
): Chosen {
  const [free, bound] = partition(claims, ({ choice }) => choice !== undefined);
  if (free.length === 0) return { claims, pending: [] };
  const claimed = new Set(claims.map(keyOf));
  const record = new Recorded(pools, snapshot, (key) => renames.before(key, claimed));
  for (const claim of bound) if (!record.hasLive(claim, claim.pool)) record.take(claim.pool);
  const beside = Map.groupBy(bound, podOf);
  const pods = Map.groupBy(inOrder(free), podOf);
  const all = [...pods].map(([pod, claims]) => chooseForPod(claims, beside.get(pod) ?? [], record));
  return {
    claims: [...bound, ...all.flatMap((one) => one.claims)],
    pending: all.flatMap((one) => one.pending),
  };
}

/** What claims of one pod have in common. */
function podOf(claim: Claim): string {
  return `${formatOwner(claim.owner)} ${policyOfKey(keyOf(claim))}`;
}

function inOrder(claims: readonly Claim[]): Claim[] {
  const keyed = claims.map((claim) => ({ claim, key: keyOf(claim) }));
  return keyed.sort((a, b) => byCodeUnit(a.key, b.key)).map(({ claim }) => claim);
}

/** A claim that has nothing yet, the pools that it may try, and those of these that can give it an address. */
interface Asking {
  readonly claim: Claim;
  readonly tried: readonly string[];
  readonly roomy: readonly string[];
}

function chooseForPod(pod: readonly Claim[], beside: readonly Claim[], record: Recorded): Chosen {
  const chosen = new Map(pod.map((claim) => [claim, record.settledFor(claim)]));
  const asking = pod.filter((claim) => chosen.get(claim) === undefined).map((claim) => record.asking(claim));
  const [open, shut] = partition(asking, ({ tried }) => tried.length > 0);
  const own = [...chosen.values(), ...beside.map(({ pool }) => pool)].flatMap((name) => record.nodesOf(name));
  const together = placesFor(open, own, record);
  for (const [{ claim }, pool] of together ?? []) {
    chosen.set(claim, pool);
    if (!record.wants({ ...claim, pool })) record.take(pool);
  }
  const isApart = together === undefined && open.every(({ roomy }) => roomy.length > 0);
  // Of a pool without room it is said that it has none.
  if (together === undefined && !isApart) for (const { claim, tried } of open) chosen.set(claim, tried[0]);
  return {
    claims: pod.flatMap((claim): Claim[] => {
      const { choice: _, ...rest } = claim;
      const pool = chosen.get(claim);
      return pool === undefined ? [] : [{ ...rest, pool }];
    }),
    pending: [...shut.map(({ claim }) => unserved(claim)), ...(isApart ? open.map(elsewhere) : [])],
  };
}

/** A pool with room for each of them, such that one node may reach all; first those for the nodes of the first pools. */
function placesFor(
  open: readonly Asking[],
  own: readonly LabelExpression[],
  record: Recorded,
): ReadonlyMap<Asking, string> | undefined {
  if (open.some(({ roomy }) => roomy.length === 0)) return undefined;
  const tried = new Set(open.flatMap(({ roomy }) => roomy.map((name) => record.nodesOf(name))));
  for (const some of [...tried, []]) {
    const nodes = [...own, ...some];
    const places = mayMeetAll(nodes) ? placesOn(open, nodes, record) : undefined;
    if (places !== undefined) return places;
  }
  return undefined;
}

function placesOn(
  open: readonly Asking[],
  first: readonly LabelExpression[],
  record: Recorded,
): ReadonlyMap<Asking, string> | undefined {
  const places = new Map<Asking, string>();
  let nodes = first;
  for (const one of open) {
    const before = (name: string) => [...places.values()].filter((place) => place === name).length;
    const pool = one.roomy.find((name) => {
      const more = record.nodesOf(name);
      const isFor = more.length === 0 || mayMeetAll([...nodes, ...more]);
      return isFor && (before(name) === 0 || record.hasRoom(name, before(name) + 1));
    });
    if (pool === undefined) return undefined;
    places.set(one, pool);
    nodes = [...nodes, ...record.nodesOf(pool)];
  }
  return places;
}

/** What is on record of the pools, and how much room they have beside that. */
class Recorded {
  private readonly byName: ReadonlyMap<string, Pool>;
  private readonly live: ReadonlyMap<string, readonly Allocation[]>;
  private readonly releasing: ReadonlyMap<string, readonly Allocation[]>;
  private readonly held: ReadonlySet<string>;
  private readonly left: ReadonlySet<string>;
  private readonly namesOf: (key: string) => readonly string[];
  private readonly room = new Map<string, bigint>();
  private readonly nodes = new Map<Pool, readonly LabelExpression[]>();
  private readonly alike = new Map<string, readonly LabelExpression[]>();

  constructor(
    pools: readonly Pool[],
    { allocations, releasing }: Pick<Snapshot, "allocations" | "releasing">,
    namesOf: (key: string) => readonly string[],
  ) {
    this.byName = new Map(pools.map((pool) => [pool.name, pool]));
    this.live = Map.groupBy(allocations, ({ pool }) => pool);
    this.releasing = Map.groupBy(releasing, ({ pool }) => pool);
    this.held = new Set(allocations.map(identityOf));
    this.left = new Set(releasing.map(identityOf));
    this.namesOf = namesOf;
  }

  hasLive(claim: Claim, pool: string): boolean {
    return this.has(this.held, claim, pool);
  }

  /** The pool of which a claim has an address, or had it last. */
  settledFor(claim: Claim): string | undefined {
    const all = poolsAsked(claim).filter((name) => this.byName.has(name));
    return all.find((name) => this.has(this.held, claim, name)) ?? all.find((name) => this.has(this.left, claim, name));
  }

  asking(claim: Claim): Asking {
    const { tried = [] } = claim.choice ?? {};
    const wanted = tried.find((name) => this.wants({ ...claim, pool: name }));
    if (wanted !== undefined) return { claim, tried: [wanted], roomy: [wanted] };
    return { claim, tried, roomy: tried.filter((name) => this.hasRoom(name)) };
  }

  /** The nodes that reach a pool: where several say them alike, the same list. */
  nodesOf(name: string | undefined): readonly LabelExpression[] {
    const pool = name === undefined ? undefined : this.byName.get(name);
    if (pool === undefined) return [];
    const known = this.nodes.get(pool);
    if (known !== undefined) return known;
    const nodes = nodesReaching(pool);
    const same = this.alike.get(JSON.stringify(nodes)) ?? nodes;
    this.alike.set(JSON.stringify(nodes), same);
    this.nodes.set(pool, same);
    return same;
  }

  hasRoom(name: string, count = 1): boolean {
    return this.roomOf(name) >= BigInt(count);
  }

  take(name: string): void {
    this.room.set(name, this.roomOf(name) - 1n);
  }

  private roomOf(name: string): bigint {
    const pool = this.byName.get(name);
    const known = this.room.get(name);
    if (known !== undefined || pool === undefined) return known ?? 0n;
    const { free } = freeSpaceOf(pool, pool.automatic, this.live.get(name) ?? [], this.releasing.get(name) ?? []);
    this.room.set(name, free);
    return free;
  }

  /** Returns whether a claim wants an address of its pool that it may have, or has one reserved there. */
  wants(claim: Claim): boolean {
    const pool = this.byName.get(claim.pool);
    const block = pool && wantedBy(claim, pool);
    return pool !== undefined && block !== undefined && mayHave(claim, block, pool);
  }

  private has(places: ReadonlySet<string>, claim: Claim, pool: string): boolean {
    return this.namesOf(keyOf(claim)).some((key) => places.has(identityOf({ pool, claim: key })));
  }
}

function keyOf({ owner, name }: Claim): string {
  return claimKey(owner, name);
}

function unserved(claim: Claim): Pending {
  const { why = "", isFull = false } = claim.choice ?? {};
  const hint = "Let one of its pools serve it, or name another one for it.";
  const its = { claim: keyOf(claim), pool: claim.pool, hint };
  if (isFull) return { ...its, code: "exhausted", message: `no pool serves ${its.claim}: ${why}` };
  return { ...its, code: "invalid", message: `no pool serves it: ${why}` };
}

function elsewhere({ claim }: Asking): Pending {
  const message = "none of its pools that have room is for the same nodes as those of its other addresses";
  const hint = "Let pools for the same nodes have room, on each of its networks.";
  return { claim: keyOf(claim), pool: claim.pool, code: "invalid", message, hint };
}
