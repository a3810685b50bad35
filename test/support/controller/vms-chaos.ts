import { findAccess, type KubeObject, type Objects, objectsOf, type Resource } from "../../../kube/index.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { kubernetes } from "../../../state/kubernetes/backend.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { replay } from "../cluster/history.ts";
import { pool } from "../objects/ipam-claims.ts";
import { macvlanNetwork, vm } from "../objects/vm-objects.ts";
import { VirtController } from "../real/virt-controller.ts";
import { seeded } from "../seeded.ts";
import { until } from "../until.ts";
import { killedWhile, startControllers } from "./children.ts";

type Any = KubeObject & Bag;

const resources: Readonly<Record<"claims" | "definitions" | "pods" | "pools" | "vms", Resource>> = {
  claims: { apiVersion: "k8s.cni.cncf.io/v1alpha1", plural: "ipamclaims" },
  definitions: { apiVersion: "k8s.cni.cncf.io/v1", plural: "network-attachment-definitions" },
  pods: { apiVersion: "v1", plural: "pods" },
  pools: { apiVersion: "nmstate.io/v1", plural: "nodeippools" },
  vms: { apiVersion: "kubevirt.io/v1", plural: "virtualmachines" },
};
const networks = { red: "red", green: "green", blue: "blue" };
const networksKey = "k8s.v1.cni.cncf.io/networks";
/** So many people are at work at once. */
const people = 8;

export interface VmsChaosOptions {
  readonly seed: number;
  /** How many VMs there are in the end. */
  readonly vms: number;
  /** What is done with each of them on the way. */
  readonly changes: number;
}

/** VMs come and go, start, stop and migrate while both controllers are killed again and again. Returns how often that was, and what was not as it should be. */
export async function vmsChaos(cluster: Cluster, record: string, { seed, vms, changes }: VmsChaosOptions) {
  const site = new VmSite(cluster, record, seeded(seed));
  await site.begin();
  const controllers = startControllers(cluster.kubeconfig, record, {
    ipamClaims: true,
    vmClaims: true,
    vmAddresses: true,
  });
  const lane = async (first: number) => {
    for (let i = first; i < vms; i += people) await site.live(`vm-${i}`, changes);
  };
  try {
    const how = { controllers, written: async () => `${site.steps}`, random: seeded(seed + 1) };
    const kills = await killedWhile(how, async () => {
      await Promise.all(Array.from({ length: people }, (_, i) => lane(i)));
    });
    const wrong = await site.missing();
    await site.deleteAll();
    return { kills, starts: site.starts, wrong: [...wrong, ...(await site.left())] };
  } finally {
    for (const one of controllers) await one.end();
    site.close();
  }
}

/** What people and KubeVirt do. */
class VmSite {
  steps = 0;
  starts = 0;
  private readonly kube: Objects;
  private readonly record: string;
  private readonly random: () => number;
  private readonly virt: VirtController;
  /** The VMs that are there, each with the pod that it runs in. */
  private readonly running = new Map<string, string>();

  constructor(cluster: Cluster, record: string, random: () => number) {
    this.kube = objectsOf(findAccess({ kubeconfig: cluster.kubeconfig }));
    this.virt = new VirtController(this.kube);
    this.record = record;
    this.random = random;
  }

  async begin(): Promise<void> {
    for (const [i, name] of Object.keys(networks).entries()) {
      await this.kube.create(resources.pools, pool(`p-${name}`, `10.${i}.0.0/16`, `10.${i}.7.255`) as never);
      await this.kube.create(resources.definitions, macvlanNetwork(name, `p-${name}`) as never);
    }
  }

  close(): void {
    this.kube.close();
  }

  /** The life of a VM, and of those that come in its place: in the end one is there, and runs. */
  async live(first: string, changes: number): Promise<void> {
    let name = first;
    await this.create(name);
    for (let i = 0; i < changes; i++) {
      const choice = this.random();
      if (choice < 0.3) await this.migrate(name);
      else if (choice < 0.5) {
        await this.virt.stop(name);
        await this.start(name);
      } else {
        await this.delete(name, choice < 0.75 ? "Background" : "Foreground");
        // Another one, or one of its name.
        if (this.random() < 0.7) name = `${first}x${i}`;
        await this.create(name);
      }
    }
  }

  private async create(name: string): Promise<void> {
    await this.kube.create(resources.vms, vm(name, networks) as never);
    await this.start(name);
  }

  /** Mostly it runs before anything else happens to it. */
  private async start(name: string): Promise<void> {
    this.starts++;
    this.steps++;
    this.running.set(name, await this.virt.start(name));
    if (this.random() < 0.8) await this.runs(name);
  }

  private async migrate(name: string): Promise<void> {
    await this.runs(name);
    this.steps++;
    const before = `${this.running.get(name)}`;
    this.running.set(name, await this.virt.launch(name));
    await this.runs(name);
    await this.virt.end(before);
  }

  private async runs(name: string): Promise<void> {
    const isRunning = async () => {
      const pod = await this.kube.get<Any>(resources.pods, `${this.running.get(name)}`, "default");
      return asList(asBag(pod?.spec)?.schedulingGates).length === 0;
    };
    await until(isRunning, `${name} runs`);
  }

  async deleteAll(): Promise<void> {
    for (const name of [...this.running.keys()]) await this.delete(name, "Background");
  }

  private async delete(name: string, how: "Background" | "Foreground"): Promise<void> {
    this.steps++;
    this.running.delete(name);
    const there = await this.kube.get<Any>(resources.vms, name, "default");
    const before = asList(asBag(there?.metadata)?.finalizers);
    const metadata = { finalizers: [...before, ...(how === "Foreground" ? ["foregroundDeletion"] : [])] };
    const marked = await this.kube.patch(resources.vms, name, "default", { metadata }, { type: "merge" });
    await this.kube.delete(resources.vms, marked);
    await this.virt.stop(name);
    const isGone = async () => (await this.kube.get(resources.vms, name, "default")) === undefined;
    await until(isGone, `${name} is gone`);
  }

  /** VMs whose pods are not told what is in their claims. */
  async missing(): Promise<string[]> {
    const wrong: string[] = [];
    for (const name of this.running.keys()) {
      await this.runs(name);
      const pod = await this.kube.get<Any>(resources.pods, `${this.running.get(name)}`, "default");
      const told = ipsIn(pod);
      for (const [i, network] of Object.keys(networks).entries()) {
        const claim = await this.kube.get<Any>(resources.claims, `${name}.${network}`, "default");
        const ips = asList(asBag(claim?.status)?.ips);
        if (ips.length !== 1 || ips[0] !== told[i]) wrong.push(`${name} on ${network}: ${ips}, its pod ${told[i]}`);
      }
    }
    return wrong;
  }

  /** What stays when all VMs are deleted, and was not to. */
  async left(): Promise<string[]> {
    const claims = () => this.kube.list(resources.claims, { namespace: "default" });
    const lines = async () => {
      const { allocations, releasing } = await kubernetes(this.kube, this.record).read();
      return [...allocations, ...releasing];
    };
    await until(async () => (await claims()).length + (await lines()).length === 0, "all is free").catch(() => {});
    return [...(await claims()).map(({ metadata }) => metadata.name), ...(await lines()).map(({ claim }) => claim)];
  }
}

/** The addresses that a pod is told, or was given, once it may run and until it has ended. */
function ipsIn(pod: Bag | undefined): string[] {
  const { annotations } = asBag(pod?.metadata) ?? {};
  const isGated = asList(asBag(pod?.spec)?.schedulingGates).length > 0;
  if (isGated || ["Succeeded", "Failed"].includes(`${asBag(pod?.status)?.phase}`)) return [];
  const listsIn = (key: string): { readonly ips?: string[] }[] => JSON.parse(`${asBag(annotations)?.[key] ?? "[]"}`);
  const given = [...listsIn(networksKey), ...listsIn("nodeippool.nmstate.io/allocated")];
  return [...new Set(given.flatMap(({ ips = [] }) => ips))];
}

/** All that etcd ever held of pods and claims: an address that a pod runs with, and another VM's pod, or its claim, has, too. */
export async function vmsHistory(cluster: Cluster): Promise<{ readonly wrong: string[]; readonly handed: number }> {
  const changes: { readonly number: number; readonly key: string; readonly object: unknown }[] = [];
  for (const kind of ["k8s.cni.cncf.io/ipamclaims", "pods"])
    await replay(cluster, kind, ({ number, key, object }) => changes.push({ number, key, object }));
  /** Of each address who shows it, by its key: the VM. */
  const holders = new Map<string, Map<string, string>>();
  const last = new Map<string, string>();
  const shown = new Map<string, readonly string[]>();
  const wrong: string[] = [];
  let handed = 0;
  for (const { number, key, object } of changes.sort((a, b) => a.number - b.number)) {
    const name = key.replace(/.*\//, "");
    const owner = /^(?:virt-launcher-)?(vm-\d+(?:x\d+)?)/.exec(name)?.[1] ?? name;
    const one = object as Bag | undefined;
    const ips = key.includes("/ipamclaims/") ? asList(asBag(one?.status)?.ips).map(String) : ipsIn(one);
    for (const ip of shown.get(key) ?? []) holders.get(ip)?.delete(key);
    shown.set(key, ips);
    for (const ip of ips) {
      const others = holders.get(ip) ?? new Map<string, string>();
      holders.set(ip, others.set(key, owner));
      for (const [other, of] of others) if (of !== owner) wrong.push(`${number}: ${ip} is ${name}'s and ${other}'s`);
      if ((last.get(ip) ?? owner) !== owner) handed++;
      last.set(ip, owner);
    }
  }
  return { wrong, handed };
}
