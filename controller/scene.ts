import { checkPools, clusterSet, IpamError, type Pool, type Snapshot, type Use } from "../core/index.ts";
import type { Facts, Integration } from "../integrations/integration.ts";
import { readDesired } from "../pipeline/desired.ts";
import { emptyFindings } from "../schema/findings.ts";
import type { SourceObject } from "../schema/manifest-document.ts";
import type { ClusterNode } from "../schema/node.ts";
import { asBag, conditionOf, placeless } from "../schema/objects.ts";
import { type ClusterPool, clusterPools } from "./pools.ts";
import { objectKey, type Seen } from "./seen.ts";
import type { World } from "./world.ts";

/** What all owners share, at one moment: pools, and the objects that ask for addresses. */
export interface Scene {
  readonly pools: ReadonlyMap<string, ClusterPool>;
  /** The pools that may be planned. */
  readonly sound: readonly Pool[];
  /** The objects that ask for all owners and can be acted upon. */
  readonly shared: readonly SourceObject[];
  /** The keys of those that cannot. */
  readonly rejected: ReadonlySet<string>;
  /** Why an object that asks is not acted upon: what was made of it stays as it is. Undefined if it is. */
  whyRejected(object: Seen | undefined): string | undefined;
}

/** Reads it. Each object is read by itself: one that is wrong keeps no other one from being served. */
export function readScene(world: World, integrations: readonly Integration[], snapshot: Snapshot): Scene {
  const pools = clusterPools(world.all("NodeIPPool")).map((one) => recordable(one, snapshot));
  const sound = pools.flatMap(({ pool }) => pool ?? []);
  const known = new WeakMap<Seen, string | false>();
  const whyRejected = (object: Seen | undefined): string | undefined => {
    if (object === undefined) return undefined;
    if (isPaused(object, world, integrations)) return "it is paused";
    if (!asks(object, integrations)) return undefined;
    const why = known.get(object) ?? whyNot(() => readAlone(object, sound, integrations)) ?? false;
    known.set(object, why);
    return why === false ? undefined : why;
  };
  const forAll = readObjects(world, integrations).filter((object) => world.concerns(object).owners === "all");
  const rejected = new Set(forAll.filter((object) => whyRejected(object) !== undefined).map(objectKey));
  const isSound = (object: Seen) => asks(object, integrations) && !rejected.has(objectKey(object));
  const shared = forAll.filter(isSound).map(placeless);
  return { pools: new Map(pools.map((pool) => [pool.name, pool])), sound, shared, rejected, whyRejected };
}

/** Is it an object of which nothing is to be changed now? */
export function isPaused(object: Seen, world: World, integrations: readonly Integration[]): boolean {
  const part = integrations.find((one) => isReadBy(one, object))?.inCluster;
  return part?.isPaused?.(object, (key) => world.get(key)) ?? false;
}

function readAlone(object: Seen, pools: readonly Pool[], integrations: readonly Integration[]): void {
  readDesired({ owned: [placeless(object)], others: [], pools, nodes: [], authority: "Cluster" }, integrations);
}

/** All objects that integrations read to see who asks, also those that are being deleted. */
export function readObjects(world: World, integrations: readonly Integration[]): Seen[] {
  const isRead = (object: Seen) => object.spec !== undefined && integrations.some((one) => isReadBy(one, object));
  return integrations.flatMap(({ reads }) => reads.flatMap(({ kind }) => world.all(kind).filter(isRead)));
}

/** Does an object ask for addresses? One that is being deleted does not, nor one that the controller made. */
export function asks(object: Seen, integrations: readonly Integration[]): boolean {
  if (object.spec === undefined || object.metadata.deletionTimestamp !== undefined) return false;
  return integrations.some((one) => isReadBy(one, object));
}

/** Is it an object that an integration reads to see who asks? */
export function isReadBy({ reads }: Integration, object: Seen): boolean {
  return reads.some(({ kind, owns }) => kind === object.kind && owns(object));
}

/** The addresses that a report shows; none of one that is gone, or cannot be read. */
export function usesIn(report: Seen | undefined, integrations: readonly Integration[]): readonly Use[] {
  if (report === undefined) return [];
  const found = emptyFindings();
  for (const integration of integrations) integration.uses([])(placeless(report), found);
  return found.uses;
}

/** A pool whose lines on record do not fit what it says now gives nothing until that is settled. */
function recordable(one: ClusterPool, snapshot: Snapshot): ClusterPool {
  const { pool, ...rest } = one;
  if (pool === undefined) return one;
  const why = whyNot(() => checkPools([pool], snapshot, clusterSet));
  return why === undefined ? one : { ...rest, problem: { reason: "UnsynchronizedIPPool", message: why } };
}

/** Why something cannot be done, for people; undefined if it can. */
export function whyNot(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof IpamError)) throw error;
    return error.issues.map(({ message, hint }) => (hint === undefined ? message : `${message}. ${hint}`)).join("; ");
  }
}

const known = new WeakMap<Seen, ClusterNode>();

/** A Node as integrations take it. Of each Node that was seen there is one: every decision and every report asks for all. */
export function clusterNode(seen: Seen): ClusterNode {
  const node = known.get(seen) ?? readNode(seen);
  known.set(seen, node);
  return node;
}

/** What integrations are told of a scene, besides the objects that they ask for. */
export function factsOf(world: World, { sound }: Scene): Facts {
  return {
    nodes: world.all("Node").map(clusterNode),
    pools: new Map(sound.map((pool) => [pool.name, pool])),
    poolUids: new Map(world.all("NodeIPPool").map(({ metadata }) => [metadata.name, metadata.uid])),
  };
}

function readNode({ metadata, status }: Seen): ClusterNode {
  const ready = conditionOf(asBag(status)?.conditions, "Ready");
  const { name, uid, labels = {} } = metadata;
  return { name, uid, labels: new Map(Object.entries(labels)), bare: false, isReady: ready?.status === "True" };
}
