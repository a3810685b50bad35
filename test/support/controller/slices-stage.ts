import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { formatBlock } from "../../../core/index.ts";
import {
  type Access,
  findAccess,
  type KubeObject,
  type Objects,
  objectsOf,
  type Resource,
  type Stored,
} from "../../../kube/index.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { kubernetes } from "../../../state/kubernetes/backend.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { createNode, nodes, setReady } from "../cluster/nodes.ts";
import { ownAccess, servedAs } from "./rights.ts";

const definitions: Resource = { apiVersion: "k8s.cni.cncf.io/v1", plural: "network-attachment-definitions" };
const pools: Resource = { apiVersion: "whereabouts.cni.cncf.io/v1alpha1", plural: "nodeslicepools" };
const events: Resource = { apiVersion: "v1", plural: "events" };

type Any = KubeObject & Bag;

/** A cluster whose nodes have slices, and the controller in it, with the rights that deploy/ gives and no others. */
export class SlicesStage {
  static async on(cluster: Cluster): Promise<SlicesStage> {
    const kube = objectsOf(findAccess({ kubeconfig: cluster.kubeconfig }));
    return new SlicesStage(kube, await ownAccess(cluster));
  }

  readonly kube: Objects;
  private readonly user: Access;

  private constructor(kube: Objects, user: Access) {
    this.kube = kube;
    this.user = user;
  }

  /** Runs the controller meanwhile. Whatever is refused to it fails. */
  served(work: () => Promise<void>): Promise<void> {
    // The kinds of kubernetes-nmstate are not there: the watches of them wait.
    return servedAs(this.user, work, { nodeSlices: "kube-system" });
  }

  async joins(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      await createNode(this.kube, name);
      await setReady(this.kube, name, true);
    }
  }

  async leaves(name: string): Promise<void> {
    const node = await this.kube.get(nodes, name);
    if (node !== undefined) await this.kube.delete(nodes, node);
  }

  async define(...networks: readonly Bag[]): Promise<void> {
    for (const network of networks) await this.kube.create(definitions, network as Any);
  }

  async change(name: string, { metadata, spec }: Bag): Promise<void> {
    const { annotations = {} } = asBag(metadata) ?? {};
    await this.kube.patch(definitions, name, "default", { metadata: { annotations }, spec }, { type: "merge" });
  }

  /** A node gets labels, or loses those that are null. */
  async label(name: string, labels: Readonly<Record<string, string | null>>): Promise<void> {
    await this.kube.patch(nodes, name, undefined, { metadata: { labels } }, { type: "merge" });
  }

  async undefine(name: string): Promise<void> {
    const network = await this.kube.get(definitions, name, "default");
    if (network !== undefined) await this.kube.delete(definitions, network);
  }

  pool(network: string, namespace = "kube-system"): Promise<Stored<Any> | undefined> {
    return this.kube.get<Any>(pools, network, namespace);
  }

  /** `NODE SLICE` of each entry of a NodeSlicePool, a free one without a node; undefined where there is none. */
  async listed(network: string, namespace?: string): Promise<string[] | undefined> {
    const pool = await this.pool(network, namespace);
    if (pool === undefined) return undefined;
    const allocations = asList(asBag(pool.status)?.allocations).map((one) => asBag(one) ?? {});
    return allocations.map(({ nodeName, sliceRange }) => `${nodeName} ${sliceRange}`);
  }

  /** The slice of each node. */
  async slices(network: string, namespace?: string): Promise<Record<string, string>> {
    const pairs = ((await this.listed(network, namespace)) ?? []).map((text) => text.split(" ") as [string, string]);
    return Object.fromEntries(pairs.filter(([node]) => node !== "").sort());
  }

  async releasing(): Promise<string[]> {
    const { releasing } = await kubernetes(this.kube, "nodeippool").read();
    return releasing.map((line) => `${formatBlock(line)} ${line.claim}`);
  }

  /** The messages of Events of a reason about an object. */
  async said(name: string, reason: string): Promise<string[]> {
    const all = await this.kube.list<Any>(events, {});
    const about = all.filter((one) => asBag(one.involvedObject)?.name === name && one.reason === reason);
    return about.map(({ message }) => `${message}`);
  }
}

/** Waits until it is so. */
export async function until(what: () => Promise<unknown>, expected: unknown): Promise<void> {
  const end = Date.now() + 60_000;
  let found = await what();
  while (JSON.stringify(found) !== JSON.stringify(expected) && Date.now() < end) {
    await sleep(100);
    found = await what();
  }
  expect(found).toEqual(expected);
}
