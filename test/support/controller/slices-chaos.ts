import { setTimeout as sleep } from "node:timers/promises";
import { findAccess, type KubeObject, type Objects, objectsOf, type Resource } from "../../../kube/index.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { kubernetes } from "../../../state/kubernetes/backend.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { replay } from "../cluster/history.ts";
import { createNode, nodes, setReady } from "../cluster/nodes.ts";
import { type FaultProxy, type Planted, startFaultProxy } from "../cluster/proxy.ts";
import { ipPoolOf, listIn, problemsOfList } from "../objects/slice-list.ts";
import { attachment } from "../objects/whereabouts-objects.ts";
import { seeded } from "../seeded.ts";
import { killedWhile, startControllers } from "./children.ts";

const definitions: Resource = { apiVersion: "k8s.cni.cncf.io/v1", plural: "network-attachment-definitions" };
const lists: Resource = { apiVersion: "whereabouts.cni.cncf.io/v1alpha1", plural: "nodeslicepools" };
const ipPools: Resource = { apiVersion: "whereabouts.cni.cncf.io/v1alpha1", plural: "ippools" };
const namespace = "kube-system";

/** One in the space of all, one with its own space and fewer slices than nodes, one of IPv6. */
const networks: Readonly<Record<string, Bag>> = {
  net: { range: "10.5.0.0/24", node_slice_size: "/28" },
  red: { range: "10.5.0.0/24", node_slice_size: "/27", gateway: "10.5.0.1", network_name: "red" },
  six: { range: "fd00:5::/60", node_slice_size: "/64" },
};
/** How many nodes there are at most. */
const most = 10;
/** Nodes have these names, again and again. */
const names = Array.from({ length: 16 }, (_, i) => `n${i}`);

type Any = KubeObject & Bag;

/** The addresses that pods have of a slice. */
interface InUse {
  readonly network: string;
  readonly node: string;
  readonly slice: string;
  readonly indexes: number[];
}

export interface SlicesChaosOptions {
  readonly seed: number;
  /** Joins and leaves of nodes. */
  readonly changes: number;
}

/**
 * Nodes, pods and networks come and go while both controllers are killed again and again, and watches of theirs freeze. Returns how
 * often that was.
 */
export async function slicesChaos(
  cluster: Cluster,
  record: string,
  { seed, changes }: SlicesChaosOptions,
): Promise<{ kills: number; frozen: number; pods: number }> {
  const site = new Site(cluster, record, seeded(seed));
  await site.begin();
  const proxy = await startFaultProxy(cluster);
  const controllers = startControllers(proxy.kubeconfig, record, { nodeSlices: namespace });
  const random = seeded(seed + 1);
  const freezes: Planted[] = [];
  const before = () => {
    if (freezes.at(-1)?.count !== 0) freezes.push(...freezeNext(proxy, random));
  };
  try {
    const how = { controllers, written: () => site.versions(), random, before };
    const kills = await killedWhile(how, async () => {
      while (site.changes < changes) await site.step();
    });
    for (const one of freezes) one.stop();
    await site.calm();
    return { kills, frozen: freezes.filter(({ count }) => count > 0).length, pods: site.pods };
  } finally {
    for (const one of controllers) await one.end();
    await proxy.close();
    site.close();
  }
}

/** Most often the next watch that opens of some kind shows nothing more after a second. */
function freezeNext(proxy: FaultProxy, random: () => number): Planted[] {
  const kind = [nodes, definitions, lists, ipPools][Math.floor(6 * random())];
  const path = new RegExp(`/${kind?.plural}\\?`);
  return kind === undefined ? [] : [proxy.plant({ verb: "WATCH", path, times: 1 }, { freeze: 1_000 })];
}

/** What people, machines and whereabouts do. */
class Site {
  changes = 0;
  pods = 0;
  private readonly kube: Objects;
  private readonly record: string;
  private readonly random: () => number;
  private readonly there = new Set<string>();
  private readonly inUse: InUse[] = [];
  private hasSix = true;

  constructor(cluster: Cluster, record: string, random: () => number) {
    this.kube = objectsOf(findAccess({ kubeconfig: cluster.kubeconfig }));
    this.record = record;
    this.random = random;
  }

  async begin(): Promise<void> {
    const metadata = { name: this.record };
    await this.kube.create<KubeObject>(
      { apiVersion: "v1", plural: "namespaces" },
      { apiVersion: "v1", kind: "Namespace", metadata },
    );
    for (const network of Object.keys(networks)) await this.define(network);
  }

  close(): void {
    this.kube.close();
  }

  async step(): Promise<void> {
    await sleep(50 + 150 * this.random());
    const chance = this.random();
    if (chance < 0.3) await this.change();
    else if (chance < 0.6) await this.startPod();
    else if (chance < 0.9) await this.endPod();
    else if (chance < 0.92) await this.toggleSix();
  }

  /** Which versions of lists there are. */
  async versions(): Promise<string> {
    return `${(await this.kube.list(lists)).map(({ metadata }) => metadata.resourceVersion)}`;
  }

  /** A node joins or leaves. */
  private async change(): Promise<void> {
    this.changes++;
    const node = this.some([...this.there]);
    const other = this.some(names.filter((name) => !this.there.has(name)));
    if (other !== undefined && (node === undefined || this.there.size < most * this.random() * 1.5)) {
      this.there.add(other);
      await createNode(this.kube, other);
      await setReady(this.kube, other, true);
      // Mostly it is served before the next one comes: on a slow machine nothing else would happen at all.
      const isServed = async () => listIn(await this.kube.get<Any>(lists, "net", namespace)).has(other);
      for (let tries = this.random() < 0.7 ? 100 : 0; tries > 0 && !(await isServed()); tries--) await sleep(100);
    } else if (node !== undefined) {
      this.there.delete(node);
      const there = await this.kube.get(nodes, node);
      if (there !== undefined) await this.kube.delete(nodes, there);
    }
  }

  private async define(network: string): Promise<void> {
    await this.kube.create(definitions, attachment(network, networks[network] ?? {}) as Any);
  }

  /** A network goes, and comes back. */
  private async toggleSix(): Promise<void> {
    if (this.hasSix && this.inUse.some(({ network }) => network === "six")) return;
    const one = await this.kube.get(definitions, "six", "default");
    if (one === undefined) await this.define("six");
    else await this.kube.delete(definitions, one);
    this.hasSix = one === undefined;
  }

  /** A plugin reads which slice its node has, and writes which address of it is taken. */
  private async startPod(): Promise<void> {
    const network = this.some(Object.keys(networks)) as string;
    const node = this.some([...this.there]);
    if (node === undefined || (network === "six" && !this.hasSix)) return;
    const slice = listIn(await this.kube.get<Any>(lists, network, namespace)).get(node);
    if (slice === undefined) return;
    const known = this.inUse.find((one) => one.network === network && one.node === node && one.slice === slice);
    const one = known ?? { network, node, slice, indexes: [] };
    if (known === undefined) this.inUse.push(one);
    one.indexes.push(1 + Math.max(0, ...one.indexes));
    this.pods++;
    await this.write(one);
  }

  /** A pod ends, or is found to be dead. */
  private async endPod(): Promise<void> {
    const one = this.some(this.inUse);
    if (one === undefined) return;
    one.indexes.shift();
    await this.write(one);
    if (one.indexes.length === 0) this.inUse.splice(this.inUse.indexOf(one), 1);
  }

  private async write({ network, node, slice, indexes }: InUse): Promise<void> {
    const scope = networks[network]?.network_name === undefined ? undefined : network;
    const object = ipPoolOf(scope, node, slice, indexes);
    const { name } = object.metadata;
    const there = await this.kube.get(ipPools, name, namespace);
    if (there === undefined) await this.kube.create(ipPools, object);
    else if (indexes.length === 0 && this.random() < 0.5) await this.kube.delete(ipPools, there);
    else await this.kube.put(ipPools, { ...object, metadata: there.metadata } as never);
  }

  /** No pod is left. Returns once nothing is releasing, and who is there has its slices. */
  async calm(): Promise<void> {
    while (this.inUse.length > 0) await this.endPod();
    if (!this.hasSix) await this.toggleSix();
    const state = kubernetes(this.kube, this.record);
    const wanted = Object.keys(networks).map((network) => {
      // Seven slices without the gateway.
      const room = network === "red" ? 7 : 16;
      return `${network} ${Math.min(this.there.size, room)}`;
    });
    const end = Date.now() + 120_000;
    for (;;) {
      const { releasing } = await state.read();
      const found = await Promise.all(
        Object.keys(networks).map(async (network) => {
          const list = listIn(await this.kube.get<Any>(lists, network, namespace));
          return `${network} ${[...list.keys()].filter((node) => this.there.has(node)).length}`;
        }),
      );
      if (releasing.length === 0 && `${found}` === `${wanted}`) return;
      if (Date.now() > end) throw new Error(`not calm: ${found}; expected ${wanted}; ${releasing.length} releasing`);
      await sleep(200);
    }
  }

  private some<T>(all: readonly T[]): T | undefined {
    return all[Math.floor(this.random() * all.length)];
  }
}

/** All that etcd ever held of lists, and of addresses in use: what was wrong at a revision, and how much there was. */
export async function slicesHistory(cluster: Cluster) {
  const changes: { readonly number: number; readonly key: string; readonly object: unknown }[] = [];
  for (const kind of ["nodeslicepools", "ippools"])
    await replay(cluster, `whereabouts.cni.cncf.io/${kind}`, ({ number, key, object }) =>
      changes.push({ number, key, object }),
    );
  const listed = new Map<string, ReadonlyMap<string, string>>();
  const inUse = new Map<string, { readonly network: string; readonly node: string; readonly slice: string }>();
  const holders = new Map<string, string>();
  const wrong: string[] = [];
  const seen = { revisions: 0, given: 0, handed: 0 };
  for (const { number, key, object } of changes.sort((a, b) => a.number - b.number)) {
    const name = key.replace(/.*\//, "");
    const say = (what: string) => wrong.push(`${number}: ${what}`);
    if (key.includes("/ippools/")) {
      if (isInUse(object)) inUse.set(name, ownerOf(name, object));
      else inUse.delete(name);
      continue;
    }
    seen.revisions++;
    const before = listed.get(name) ?? new Map<string, string>();
    const now = listIn(object as Bag | undefined);
    listed.set(name, now);
    if (object !== undefined) for (const problem of problemsOfList(object as Bag)) say(`${name}: ${problem}`);
    for (const [node, slice] of now) {
      const had = before.get(node);
      if (had === undefined) seen.given++;
      else if (had !== slice) say(`${name}: ${node} moved from ${had} to ${slice}`);
      const holder = holders.get(`${name} ${slice}`);
      if (holder !== undefined && holder !== node) seen.handed++;
      holders.set(`${name} ${slice}`, node);
    }
    for (const { network, node, slice } of inUse.values())
      if (network === name && now.get(node) !== slice && before.get(node) === slice)
        say(`${name}: ${node} lost ${slice}, of which pods have addresses`);
    for (const [node, slice] of now)
      for (const one of inUse.values())
        if (one.network === name && one.slice === slice && one.node !== node)
          say(`${name}: ${node} has ${slice}, of which pods of ${one.node} have addresses`);
  }
  return { wrong, ...seen };
}

function isInUse(object: unknown): boolean {
  return Object.keys(asBag(asBag(asBag(object)?.spec)?.allocations) ?? {}).length > 0;
}

/** Whose slice an IPPool is of, by what it is called. */
function ownerOf(name: string, object: unknown) {
  const slice = `${asBag(asBag(object)?.spec)?.range}`;
  const [, scope, node = ""] = /^(red-)?(n\d+)-/.exec(name) ?? [];
  const network = scope === undefined ? (slice.includes(":") ? "six" : "net") : "red";
  return { network, node, slice };
}
