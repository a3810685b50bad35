import { checkPools, IpamError, type Pool, type Snapshot, type Use } from "../core/index.ts";
import type { Facts, Integration } from "../integrations/integration.ts";
import { readDesired } from "../pipeline/desired.ts";
import { emptyFindings } from "../schema/findings.ts";
import type { SourceObject } from "../schema/manifest-document.ts";
import { type ClusterNode, hostnameLabel } from "../schema/node.ts";
import { asBag, conditionOf, placeless } from "../schema/objects.ts";
import { type ClusterPool, clusterPools } from "./pools.ts";
import { objectKey, type Seen } from "./seen.ts";
import type { World } from "./world.ts";

/** What all owners share, at one moment: pools, and the objects that ask for addresses, each read by itself. */
export interface Scene {
  readonly pools: ReadonlyMap<string, ClusterPool>;
  /** The pools that may be planned. */
  readonly sound: readonly Pool[];
  /** The objects that can be acted upon. */
  readonly sources: readonly SourceObject[];
  /** Why the others are not, by key: what was made of them stays as it is. */
  readonly rejected: ReadonlyMap<string, string>;
}

/** Reads it. One object that is wrong keeps no other one from being served. */
export function readScene(world: World, integrations: readonly Integration[], snapshot: Snapshot, set: string): Scene {
  const pools = clusterPools(world.all("NodeIPPool")).map((one) => recordable(one, snapshot, set));
  const sound = pools.flatMap(({ pool }) => pool ?? []);
  const owned = integrations.flatMap(({ reads }) =>
    reads.flatMap(({ kind, owns }) => world.all(kind).filter((object) => object.spec !== undefined && owns(object))),
  );
  const sources: SourceObject[] = [];
  const rejected = new Map<string, string>();
  for (const object of owned) {
    if (object.metadata.deletionTimestamp !== undefined) continue;
    const source = placeless(object);
    const why = whyNot(() =>
      readDesired({ owned: [source], others: [], pools: sound, nodes: [], authority: "Cluster" }, integrations),
    );
    if (why === undefined) sources.push(source);
    else rejected.set(objectKey(object), why);
  }
  return { pools: new Map(pools.map((pool) => [pool.name, pool])), sound, sources, rejected };
}

/** The addresses that a report shows; none of one that is gone, or cannot be read. */
export function usesIn(report: Seen | undefined, integrations: readonly Integration[]): readonly Use[] {
  if (report === undefined) return [];
  const found = emptyFindings();
  for (const integration of integrations) integration.uses([])(placeless(report), found);
  return found.uses;
}

/** A pool whose lines on record do not fit what it says now gives nothing until that is settled. */
function recordable(one: ClusterPool, snapshot: Snapshot, set: string): ClusterPool {
  const { pool, ...rest } = one;
  if (pool === undefined) return one;
  const why = whyNot(() => checkPools([pool], snapshot, set));
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
  return { nodes: world.all("Node").map(clusterNode), pools: new Map(sound.map((pool) => [pool.name, pool])) };
}

function readNode({ metadata, status }: Seen): ClusterNode {
  const ready = conditionOf(asBag(status)?.conditions, "Ready");
  const { name, uid, labels = {} } = metadata;
  return { name, uid, labels: new Map(Object.entries(labels)), bare: false, isReady: ready?.status === "True" };
}

/** Why nothing is made for a node, by name: a policy for one node alone needs a hostname label that no other one has. */
export function unselectable(nodes: readonly ClusterNode[]): Map<string, string> {
  const byHostname = Map.groupBy(nodes, ({ labels }) => labels.get(hostnameLabel));
  return new Map(
    [...byHostname].flatMap(([hostname, named]) => {
      if (hostname === undefined)
        return named.map(({ name }): [string, string] => [name, `node ${name} has no label ${hostnameLabel}`]);
      if (named.length === 1) return [];
      const all = named.map(({ name }) => name).join(", ");
      const why = `nodes ${all} have the same label ${hostnameLabel}: ${hostname}`;
      return named.map(({ name }): [string, string] => [name, why]);
    }),
  );
}
