import { type Allocation, identityOf, type Snapshot } from "../allocation.ts";
import { type Claim, claimKey, formatOwner, policyOfKey, poolsAsked } from "../claim.ts";
import { byCodeUnit } from "../errors.ts";
import { freeSpaceOf } from "../free-space.ts";
import { partition } from "../partition.ts";
import type { Pool } from "../pool.ts";
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
 * Claims of an owner that begin alike, as `0/net1` and `0/net2` do, are of one pod, and that runs on one node: of pools for certain
 * nodes it gets those for the same ones, or none.
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
  const pods = Map.groupBy(
    free.toSorted((a, b) => byCodeUnit(keyOf(a), keyOf(b))),
    (claim) => `${formatOwner(claim.owner)} ${policyOfKey(keyOf(claim))}`,
  );
  const all = [...pods.values()].map((pod) => chooseForPod(pod, record));
  return {
    claims: [...bound, ...all.flatMap((one) => one.claims)],
    pending: all.flatMap((one) => one.pending),
  };
}

function chooseForPod(pod: readonly Claim[], record: Recorded): Chosen {
  const chosen = new Map(pod.map((claim) => [claim, record.settledFor(claim)]));
  const asking = pod.filter((claim) => chosen.get(claim) === undefined);
  const [open, shut] = partition(asking, ({ choice }) => choice !== undefined && choice.tried.length > 0);
  const nodes = [...chosen.values()].flatMap((name) => nodesOf(record.pool(name)) ?? [])[0];
  const all = nodes === undefined ? nodesTried(open, record) : [nodes];
  const together = all.map((one) => placesFor(open, one, record)).find((places) => places !== undefined);
  for (const [claim, pool] of together ?? []) {
    chosen.set(claim, pool);
    record.take(pool);
  }
  const apart =
    together === undefined && open.every(({ choice }) => choice?.tried.some((name) => record.hasRoom(name)));
  return {
    claims: pod.flatMap(({ choice, ...claim }, i): Claim[] => {
      const pool = chosen.get(pod[i] as Claim) ?? (apart ? undefined : choice?.tried[0]);
      return pool === undefined ? [] : [{ ...claim, pool }];
    }),
    pending: [...shut.map(unserved), ...(apart ? open.map(elsewhere) : [])],
  };
}

/** The nodes that pools are for which these may try, in that order; and all of them. */
function nodesTried(open: readonly Claim[], record: Recorded): (string | undefined)[] {
  const tried = open.flatMap(({ choice }) => choice?.tried ?? []);
  return [...new Set([...tried.map((name) => nodesOf(record.pool(name))), undefined])];
}

/** A pool for each of them that serves these nodes and has room. */
function placesFor(
  open: readonly Claim[],
  nodes: string | undefined,
  record: Recorded,
): Map<Claim, string> | undefined {
  const places = new Map<Claim, string>();
  for (const claim of open) {
    const isFor = (name: string) => [nodes, undefined].includes(nodesOf(record.pool(name)));
    const before = (name: string) => [...places.values()].filter((one) => one === name).length;
    const pool = claim.choice?.tried.find((name) => isFor(name) && record.hasRoom(name, before(name) + 1));
    if (pool === undefined) return undefined;
    places.set(claim, pool);
  }
  return places;
}

/** What a pool says of the nodes that it is for; undefined where it is for all. */
function nodesOf(pool: Pool | undefined): string | undefined {
  const { nodeName = [], nodeAffinity } = pool?.rules ?? {};
  if (nodeName.length > 0) return JSON.stringify(nodeName.toSorted(byCodeUnit));
  return nodeAffinity && JSON.stringify(nodeAffinity);
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

  pool(name: string | undefined): Pool | undefined {
    return name === undefined ? undefined : this.byName.get(name);
  }

  hasLive(claim: Claim, pool: string): boolean {
    return this.has(this.held, claim, pool);
  }

  /** The pool that a claim asks whatever room others have. */
  settledFor(claim: Claim): string | undefined {
    const { tried = [] } = claim.choice ?? {};
    const all = poolsAsked(claim).filter((name) => this.byName.has(name));
    return (
      all.find((name) => this.has(this.held, claim, name)) ??
      all.find((name) => this.has(this.left, claim, name)) ??
      tried.find((name) => this.wants({ ...claim, pool: name }))
    );
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

  private wants(claim: Claim): boolean {
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
  const { why = "" } = claim.choice ?? {};
  const hint = "Let one of its pools serve it, or name another one for it.";
  return { claim: keyOf(claim), pool: claim.pool, code: "exhausted", message: `no pool serves it: ${why}`, hint };
}

function elsewhere(claim: Claim): Pending {
  const message = "none of its pools that have room is for the same nodes as those of its other addresses";
  const hint = "Let pools for the same nodes have room, on each of its networks.";
  return { claim: keyOf(claim), pool: claim.pool, code: "exhausted", message, hint };
}
