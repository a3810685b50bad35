import {
  type Allocation,
  byCodeUnit,
  clusterSet,
  contains,
  formatOwner,
  IpamError,
  type Issue,
  ownerOfKey,
  type Plan,
  type Pool,
  type Snapshot,
} from "../../core/index.ts";
import type { ClusterIntegration } from "../../integrations/contract/cluster-integration.ts";
import type { Facts } from "../../integrations/contract/integration.ts";
import { nameOfKind, objectKey } from "../../integrations/contract/object-key.ts";
import { isReadyNode } from "../../integrations/contract/watched-nodes.ts";
import { conflictsIn, type Desired, readDesired } from "../../pipeline/desired.ts";
import { emptyFindings } from "../../schema/findings.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import type { ClusterNode } from "../../schema/node.ts";
import { placeless } from "../../schema/objects.ts";
import { poolConflictsOf } from "../../schema/pool-conflicts.ts";
import { poolKind } from "../cache/kinds.ts";
import type { Seen } from "../cache/seen.ts";
import type { World } from "../cache/world.ts";
import { asks, definesPools, isNodeIPPool, isReadBy, readerOf, readObjects, sourceOf } from "./asking.ts";
import type { ClusterPool } from "./cluster-pool.ts";
import { changedBy } from "./decide.ts";
import { whyNot } from "./failing-objects.ts";
import { heldSources } from "./left-to-plan.ts";
import type { Observation } from "./occupied.ts";
import { clusterPools, isDefinedBy, poolsDefinedBy } from "./pools.ts";
import { recordable, recordedIn } from "./recordable.ts";
import { unsoundPools } from "./unsound-pools.ts";

/** What all owners share, at one moment: pools, and the objects that ask for addresses. */
export interface Inputs {
  /** The record that it was read with: it says what pools, and what asks, cannot be. */
  readonly record: Snapshot;
  readonly pools: ReadonlyMap<string, ClusterPool>;
  /** All that are defined, also those of whose name another one is used. */
  readonly defined: readonly ClusterPool[];
  /** The pools that may be planned. */
  readonly sound: readonly Pool[];
  /** Claims for whose addresses other hosts answer, as the pools say. */
  readonly conflicting: ReadonlySet<string>;
  /** The objects that ask for all owners and can be acted upon. */
  readonly shared: readonly SourceObject[];
  /** Whom these ask for besides nodes: owners that need not be objects. */
  readonly owners: ReadonlySet<string>;
  /** The others of these, each with the reason. */
  readonly unserved: ReadonlyMap<Seen, string>;
  /** The keys of those that cannot, and of what they ask for with others. */
  readonly rejected: ReadonlySet<string>;
  /** Why an object that asks is not acted upon: what was made of it stays as it is. Undefined if it is. */
  whyRejected(object: Seen | undefined): string | undefined;
}

/** Reads it. Each object is read by itself: one that is wrong keeps no other one from being served. `whyFailing` returns why an object is rejected that fails beside others. */
export function readInputs(
  world: World,
  integrations: readonly ClusterIntegration[],
  snapshot: Snapshot,
  whyFailing: (object: Seen) => string | undefined = () => undefined,
): Inputs {
  const { all, pools } = readPools(world, integrations, snapshot);
  const sound = all.flatMap(({ pool }) => pool ?? []);
  const known = new WeakMap<Seen, Alone>();
  const alone = (object: Seen): Alone => {
    const read = known.get(object) ?? readAlone(object, all, integrations, snapshot);
    known.set(object, read);
    return read;
  };
  const forAll = readObjects(world, integrations).filter((object) => world.concerns(object).owners === "all");
  const apart = disagreeing(forAll, integrations);
  const whyRejected = (object: Seen | undefined): string | undefined => {
    if (object === undefined) return undefined;
    if (whyPaused(object, world, integrations) !== undefined) return "it is paused";
    if (isLeft(object, integrations)) return "it is being deleted";
    if (!asks(object, integrations)) return undefined;
    return whyFailing(object) ?? alone(object).why ?? apart.get(object);
  };
  const unserved = new Map(
    forAll.flatMap((object) => {
      const why = whyRejected(object);
      return why === undefined ? [] : [[object, why] as const];
    }),
  );
  const wrong = [...unserved.keys()];
  const asking = forAll.filter((object) => asks(object, integrations) && !unserved.has(object)).sort(byAge);
  const held = heldSources(pools.values(), snapshot, world, integrations);
  const unread = unreadSources(wrong, integrations, snapshot, world);
  const rejected = rejectedKeys(wrong, asking, [...held, ...unread], world);
  const owners = new Set(asking.flatMap((object) => alone(object).owners));
  const conflicting = new Set(conflictingOf(snapshot.allocations, pools).map(({ claim }) => claim));
  const shared = asking.map(placeless);
  return { record: snapshot, pools, defined: all, sound, conflicting, shared, unserved, owners, rejected, whyRejected };
}

/** All pools that are defined, and the one that each name stands for. */
function readPools(world: World, integrations: readonly ClusterIntegration[], snapshot: Snapshot) {
  const defined = integrations
    .filter(definesPools)
    .flatMap((one) => inOrder(readObjects(world, [one])).flatMap((object) => poolsDefinedBy(one, object)));
  const own = world.all(poolKind);
  const names = new Set(own.map(({ metadata }) => metadata.name));
  const doubled = new Set(defined.map(({ name }) => name).filter((name) => names.has(name)));
  const all = recordable(clusterPools(own, defined, recordedIn(snapshot, doubled)), snapshot);
  const used = all.filter(({ isShadowed }) => isShadowed !== true);
  // One that can be used stands for a name, whatever else has it.
  const ofNames = [...used.filter(({ pool }) => pool === undefined), ...used.filter(({ pool }) => pool !== undefined)];
  return { all, pools: new Map(ofNames.map((one) => [one.name, one])) };
}

/** Those of some lines that have an address which its pool says to be of others, too. */
function conflictingOf(lines: readonly Allocation[], pools: Inputs["pools"]): readonly Allocation[] {
  const known = new Map([...pools].map(([name, { object }]) => [name, poolConflictsOf(object)] as const));
  if ([...known.values()].every(({ size }) => size === 0)) return [];
  return lines.filter(({ pool, address }) => known.get(pool)?.has(address));
}

/**
 * Who is looked at again after a plan: who keeps an address that its pool gives no more, as that is said then; who has one that
 * others have, too, and may ask for more then; and who is gone, and loses then what was put on record for it.
 */
export function toLookAgain(plan: Plan, { pools }: Facts, inputs: Inputs, world: World): string[] {
  const isOutside = (line: Allocation) => !contains(pools.get(line.pool)?.assignable ?? [], line.address);
  const isMeant = (line: Allocation) => isOutside(line) || world.isGone(ownerOfKey(line.claim));
  const found = [...plan.assign.filter(isMeant), ...conflictingOf(changedBy(plan), inputs.pools)];
  return found.map(({ claim }) => ownerOfKey(claim));
}

/** The keys of what cannot be acted upon, and of the sources that stay as they are with it, unless something else asks for them. */
function rejectedKeys(wrong: readonly Seen[], asking: readonly Seen[], stays: readonly string[], world: World) {
  const asked = new Set(asking.flatMap((object) => world.concerns(object).sources));
  const sources = wrong.flatMap((object) => world.concerns(object).sources);
  return new Set([...wrong.map(objectKey), ...sources, ...stays.filter((source) => !asked.has(source))]);
}

/**
 * What was given together, by whatever cannot be read: an object that does not say what it asks for with others may have asked
 * for any of it, be it on record or only written.
 */
function unreadSources(
  unserved: readonly Seen[],
  integrations: readonly ClusterIntegration[],
  { allocations, releasing }: Snapshot,
  world: World,
): string[] {
  const isItself = (object: Seen) => world.concerns(object).sources.every((source) => source === objectKey(object));
  const unread = unserved.filter(isItself);
  return integrations
    .filter((one) => unread.some((object) => isReadBy(one, object)))
    .flatMap(({ isClaim, recording }) => {
      const own = recording.kinds.filter((kind) => kind.isOwnSource);
      const lines = own.length === 0 ? [] : [...allocations, ...releasing].filter(({ claim }) => isClaim(claim));
      const written = own.flatMap((kind) => world.all(nameOfKind(kind)));
      return [...lines.flatMap(({ claim }) => sourceOf(claim, world, integrations) ?? []), ...written.map(objectKey)];
    });
}

/** Objects that do not agree with others, each with why. */
function disagreeing(objects: readonly Seen[], integrations: readonly ClusterIntegration[]): ReadonlyMap<Seen, string> {
  const asking = objects.filter((object) => asks(object, integrations));
  const sources = new Map(asking.map((object) => [placeless(object), object]));
  const all = [...sources.keys()];
  const found = new Map(integrations.flatMap(({ recording }) => [...(recording.contention?.disagreeing?.(all) ?? [])]));
  return new Map(
    [...sources].flatMap(([source, object]) => {
      const why = found.get(source);
      return why === undefined ? [] : [[object, why]];
    }),
  );
}

/** By their keys: which one stands for what several define is the same, whichever controller says it. */
function inOrder(objects: readonly Seen[]): Seen[] {
  return objects.toSorted((a, b) => byCodeUnit(objectKey(a), objectKey(b)));
}

/** The claims that must get nothing new, and why: what they ask for cannot hold together with what somebody else has. */
export function conflictingIn(desired: Desired, snapshot: Snapshot): ReadonlyMap<string, Issue> {
  const conflicts = conflictsIn(desired, { snapshot, set: clusterSet });
  return new Map(conflicts.flatMap((one) => (one.claims ?? []).map((claim) => [claim, one])));
}

/** The oldest first: of two that ask for what only one can have, it is that one. */
function byAge(a: Seen, b: Seen): number {
  const since = ({ metadata }: Seen) => `${metadata.creationTimestamp ?? ""}`;
  return byCodeUnit(since(a), since(b)) || byCodeUnit(objectKey(a), objectKey(b));
}

/** What an object asks for by itself, where there are no nodes. */
interface Alone {
  readonly owners: readonly string[];
  /** Why it cannot be acted upon. */
  readonly why?: string;
}

function readAlone(
  object: Seen,
  pools: readonly ClusterPool[],
  integrations: readonly ClusterIntegration[],
  snapshot: Snapshot,
): Alone {
  const [poolProblem] = pools.flatMap((one) =>
    isDefinedBy(one, objectKey(object)) && one.problem ? `${one.name}: ${one.problem.message}` : [],
  );
  if (poolProblem !== undefined) return { owners: [], why: poolProblem };
  const source = {
    owned: [placeless(object)],
    others: [],
    pools: pools.flatMap(({ pool }) => pool ?? []),
    hasAllPools: true,
    nodes: [],
    poolUids: uidsOf(pools),
    unsound: unsoundPools(pools, snapshot),
    authority: "Cluster",
  } as const;
  let owners: string[] = [];
  const why = whyNot(() => {
    const desired = readDesired(source, integrations);
    const conflicts = conflictsIn(desired, { snapshot, set: clusterSet });
    if (conflicts.length > 0) throw new IpamError("invalid", conflicts);
    owners = desired.claims.map(({ owner }) => formatOwner(owner));
  });
  return { owners, ...(why === undefined ? {} : { why }) };
}

/** Returns whether a source is being deleted, and the objects made of it stay. */
function isLeft(object: Seen, integrations: readonly ClusterIntegration[]): boolean {
  const { made } = readerOf(object, integrations) ?? {};
  return object.metadata.deletionTimestamp !== undefined && made?.outlivesSource === true;
}

/** Returns why an object is paused; undefined if it is not. */
export function whyPaused(object: Seen, world: World, integrations: readonly ClusterIntegration[]): string | undefined {
  const { recording } = readerOf(object, integrations) ?? {};
  return recording?.owners?.whyPaused?.(object, (key) => world.get(key));
}

/** The addresses that a report shows; none of one that is gone, or cannot be read. */
export function usesIn(report: Seen | undefined, integrations: readonly ClusterIntegration[]): readonly Observation[] {
  if (report === undefined) return [];
  if (isNodeIPPool(report)) return foreignUses(report);
  const found = emptyFindings();
  for (const one of integrations.flatMap(({ uses }) => uses))
    if (one.kind === report.kind) one.reader([])(placeless(report), found);
  return found.uses;
}

/** The addresses of a pool that hosts have which are nobody's here. */
function foreignUses(object: Seen): Observation[] {
  const { at } = placeless(object);
  return [...poolConflictsOf(object)].map(([address, mac]) => ({
    ...{ address, owner: `the host with MAC address ${mac}`, pool: object.metadata.name, at: at([], "") },
    ...{ isTemporary: true, isUnknownHost: true },
  }));
}

/** Returns what does not fit the record: pools, and objects that ask. It may, once there is less of that. */
export function unusableIn({ pools, rejected }: Inputs): string {
  const unsound = [...pools.values()].filter(({ problem }) => problem !== undefined).map(({ name }) => name);
  return [...rejected, ...unsound].sort(byCodeUnit).join(" ");
}

const known = new WeakMap<Seen, ClusterNode>();

/** A Node as integrations take it. Of each Node that was seen there is one: every decision and every report asks for all. */
export function clusterNode(seen: Seen): ClusterNode {
  const node = known.get(seen) ?? readNode(seen);
  known.set(seen, node);
  return node;
}

/** What integrations are told of the inputs, besides the objects that they ask for. */
export function factsOf(world: World, { record, sound, pools, conflicting, unserved }: Inputs): Facts {
  return {
    nodes: world.all("Node").map(clusterNode),
    pools: new Map(sound.map((pool) => [pool.name, pool])),
    poolUids: uidsOf([...pools.values()]),
    conflicting,
    unserved,
    unsound: unsoundPools([...pools.values()], record),
    find: (key) => world.get(key),
    allOf: (kind) => world.all(kind),
  };
}

function uidsOf(pools: readonly ClusterPool[]): ReadonlyMap<string, string> {
  const own = pools.filter(({ object }) => isNodeIPPool(object));
  return new Map(own.map(({ name, object }) => [name, object.metadata.uid]));
}

function readNode({ metadata, status }: Seen): ClusterNode {
  const { name, uid, labels = {} } = metadata;
  return { name, uid, labels: new Map(Object.entries(labels)), bare: false, isReady: isReadyNode({ status }) };
}
