import { setTimeout as sleep } from "node:timers/promises";
import { IpamError, type Plan, parsePrefix, type Snapshot, unwrap } from "../core/index.ts";
import { type KubeObject, type Objects, refusalOf, type Stored } from "../kube/index.ts";
import { applyPlan } from "./apply.ts";
import type { StateBackend } from "./backend.ts";
import {
  type Body,
  decodePart,
  describeSubnet,
  encodePart,
  join,
  overlapping,
  partName,
  type Subnet,
  split,
} from "./subnet-records.ts";

/** A ConfigMap that holds a part of the record, or the index of the parts. */
interface RecordMap extends KubeObject {
  readonly data?: { readonly [key: string]: string };
  readonly binaryData?: { readonly [key: string]: string };
}

const configMaps = { apiVersion: "v1", plural: "configmaps" };
const label = "nodeippool.nmstate.io/record";
const indexName = "ippool.index";
const attempts = 30;

/** All that is stored, at one moment. */
interface Held {
  readonly snapshot: Snapshot;
  readonly parts: ReadonlyMap<string, Stored<RecordMap>>;
  readonly index: Stored<RecordMap> | undefined;
  readonly subnets: readonly Subnet[];
}

/**
 * A state backend in ConfigMaps of one namespace of a vanilla cluster, one for each subnet (see `split`). A commit
 * replaces those that it touches, each only at the version that was read, so a commit that touches one pool is
 * atomic. Of a commit over several subnets a prefix may be there after a crash; a repeat finds it as kept.
 *
 * Needs the rights to list, create and update ConfigMaps there.
 */
export function kubernetes(objects: Objects, namespace = objects.namespace): StateBackend {
  const store = new Store(objects, namespace);
  return {
    name: `namespace ${namespace} of ${objects.name}`,
    read: async () => (await store.load()).snapshot,
    commit: (plan) => commit(store, plan),
  };
}

/**
 * Another writer of the same object is no conflict by itself: what counts is whether the pools of the plan are still
 * as planned against, which `applyPlan` says of what is there now. The same goes for a write whose answer was lost.
 */
async function commit(store: Store, plan: Plan): Promise<Snapshot> {
  let unsure: unknown;
  for (let attempt = 1; ; attempt++) {
    const held = await store.load().catch((error) => {
      throw unsure ?? error;
    });
    const next = applyPlan(held.snapshot, plan);
    if (next === undefined) return held.snapshot;
    try {
      await store.replace(held, next);
      return next;
    } catch (error) {
      const code = error instanceof IpamError && refusalOrLoss(error);
      if (!code || attempt === attempts) throw error;
      unsure = code === "unknown-outcome" ? error : undefined;
      await sleep(Math.random() * Math.min(1000, 10 * 2 ** attempt));
    }
  }
}

/** The server's own conflict, or a lost answer; what `applyPlan` and the checks here refuse is final. */
function refusalOrLoss(error: IpamError): IpamError["code"] | undefined {
  if (error.code === "unknown-outcome") return error.code;
  return error.code === "conflict" && refusalOf(error) !== undefined ? error.code : undefined;
}

class Store {
  private readonly objects: Objects;
  private readonly namespace: string;

  constructor(objects: Objects, namespace: string) {
    this.objects = objects;
    this.namespace = namespace;
  }

  /** Reads everything, uncached. */
  async load(): Promise<Held> {
    const found = await this.objects.list<RecordMap>(configMaps, { namespace: this.namespace, labels: label });
    const parts = new Map(
      found.filter(({ metadata }) => metadata.name !== indexName).map((map) => [map.metadata.name, map]),
    );
    const index = found.find(({ metadata }) => metadata.name === indexName);
    const contents = [...parts].map(([name, { data, binaryData }]) => {
      const [text, gzip] = [data?.record, binaryData?.record];
      const body = { ...(text === undefined ? {} : { text }), ...(gzip === undefined ? {} : { gzip }) };
      return [name, decodePart(body, `ConfigMap ${this.namespace}/${name}`)] as const;
    });
    return { snapshot: join(new Map(contents)), parts, index, subnets: readIndex(index) };
  }

  /** Makes the parts be those of another record, in the order of their names. */
  async replace(held: Held, next: Snapshot): Promise<void> {
    const [before, after] = [split(held.snapshot), split(next)];
    // All of them are encoded before the first is written: one that is too large must leave nothing half done.
    const bodies = [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((name) => {
      const part = after.get(name) ?? { pools: [], allocations: [], releasing: [] };
      const old = before.get(name);
      const body = encodePart(part, `ConfigMap ${this.namespace}/${name}`);
      const isSame = old !== undefined && JSON.stringify(encodePart(old, name)) === JSON.stringify(body);
      return isSame ? [] : [{ name, body, pools: part.pools.map((pool) => pool.name) }];
    });
    await this.register(held, next);
    for (const { name, body, pools } of bodies) await this.write(held.parts.get(name), name, body, pools);
  }

  /** Lists new subnets before anything is in them: two writers cannot both begin subnets that overlap. */
  private async register({ index, subnets }: Held, { pools }: Snapshot): Promise<void> {
    const known = new Set(subnets.map(partName));
    const fresh = [
      ...new Map(pools.filter((pool) => !known.has(partName(pool))).map((pool) => [partName(pool), pool])).values(),
    ];
    if (fresh.length === 0) return;
    const all = [...subnets, ...fresh];
    const clash = overlapping(all);
    if (clash !== undefined)
      throw new IpamError("overlap", `subnets ${clash.map(describeSubnet).join(" and ")} overlap`, {
        hint: "Give their pools one cidr, with ranges of their own, or one network each.",
      });
    const data = Object.fromEntries(all.map((subnet) => [partName(subnet), describe(subnet)]).sort());
    await this.save(index, { ...this.map(indexName, "index"), data });
  }

  private async write(
    old: Stored<RecordMap> | undefined,
    name: string,
    body: Body,
    pools: readonly string[],
  ): Promise<void> {
    const content = "text" in body ? { data: { record: body.text } } : { binaryData: { record: body.gzip } };
    await this.save(old, { ...this.map(name, "subnet", pools.join(" ")), ...content });
  }

  private async save(old: Stored<RecordMap> | undefined, map: RecordMap): Promise<void> {
    if (old === undefined) await this.objects.create(configMaps, map);
    else {
      const { uid, resourceVersion } = old.metadata;
      await this.objects.put(configMaps, { ...map, metadata: { ...map.metadata, uid, resourceVersion } });
    }
  }

  private map(name: string, kind: string, pools?: string): RecordMap {
    const annotations = pools === undefined ? {} : { annotations: { "nodeippool.nmstate.io/pools": pools } };
    const metadata = { name, namespace: this.namespace, labels: { [label]: kind }, ...annotations };
    return { apiVersion: "v1", kind: "ConfigMap", metadata };
  }
}

function describe({ network, prefix }: Subnet): string {
  return describeSubnet({ network, prefix });
}

function readIndex(index: RecordMap | undefined): Subnet[] {
  return Object.values(index?.data ?? {}).map((text) => {
    const match = /^(\S+) \(network (\S+)\)$/.exec(text);
    if (match === null)
      throw new IpamError("corrupt", `the index of subnets holds ${JSON.stringify(text.slice(0, 80))}`);
    return { prefix: unwrap(parsePrefix(match[1])), network: match[2] as string };
  });
}
