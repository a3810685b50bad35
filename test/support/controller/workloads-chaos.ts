import { setTimeout as sleep } from "node:timers/promises";
import { isGated, isOver } from "../../../integrations/networks/gated-pod.ts";
import { findAccess, type KubeObject, type Objects, objectsOf, type Resource } from "../../../kube/index.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { kubernetes } from "../../../state/kubernetes/backend.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { replay } from "../cluster/history.ts";
import { pool } from "../objects/ipam-claims.ts";
import { macvlanNetwork } from "../objects/vm-objects.ts";
import { gate, ipsOf, workload } from "../objects/workload-objects.ts";
import { PodRunner, podsResource } from "../real/pod-runner.ts";
import { seeded } from "../seeded.ts";
import { until } from "../until.ts";
import { killedWhile, startControllers } from "./children.ts";

type Any = KubeObject & Bag;

const resources: Readonly<Record<string, Resource>> = {
  StatefulSet: { apiVersion: "apps/v1", plural: "statefulsets" },
  Deployment: { apiVersion: "apps/v1", plural: "deployments" },
};
const maps: Resource = { apiVersion: "v1", plural: "configmaps" };
/** A rolled Deployment makes a pod only where another one has ended: so there are never more pods than addresses. */
const strategy = { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } };
const kindOf = (name: string) => (name.startsWith("db") ? "StatefulSet" : "Deployment");
const names = ["db-a", "db-b", "web-a", "web-b"];

export interface WorkloadsChaosOptions {
  readonly seed: number;
  /** How many addresses there are, and pods. */
  readonly pods: number;
  /** What is done with workloads on the way. */
  readonly changes: number;
}

/**
 * Workloads come and go, are scaled and rolled, and their pods are deleted, while both controllers are killed again and again. In the
 * end there are as many pods as addresses, and then none. Returns how often controllers were killed, and what was not as it should be.
 */
export async function workloadsChaos(cluster: Cluster, record: string, { seed, pods, changes }: WorkloadsChaosOptions) {
  const site = new WorkloadSite(cluster, record, seeded(seed), pods);
  await site.begin();
  const controllers = startControllers(cluster.kubeconfig, record, { workloadAddresses: true });
  try {
    const how = { controllers, written: async () => `${site.steps}`, random: seeded(seed + 1) };
    const kills = await killedWhile(how, async () => {
      while (site.steps < changes) await site.step();
      await site.fill();
    });
    const wrong = await site.missing();
    await site.deleteAll();
    return { kills, wrong: [...wrong, ...site.broken, ...(await site.left())] };
  } finally {
    for (const one of controllers) await one.end();
    await site.close();
  }
}

/** What people and nodes do. */
class WorkloadSite {
  steps = 0;
  private readonly kube: Objects;
  private readonly record: string;
  private readonly random: () => number;
  private readonly most: number;
  private readonly runner: PodRunner;
  /** How many pods each workload is to have. */
  private readonly replicas = new Map<string, number>();

  constructor(cluster: Cluster, record: string, random: () => number, most: number) {
    this.kube = objectsOf(findAccess({ kubeconfig: cluster.kubeconfig }));
    this.runner = new PodRunner(this.kube);
    this.record = record;
    this.random = random;
    this.most = most;
  }

  get broken(): readonly string[] {
    return this.runner.broken;
  }

  async begin(): Promise<void> {
    const lan = pool("lan", "10.0.0.0/16", `10.0.${this.most >> 8}.${this.most & 255}`);
    await this.kube.create({ apiVersion: "nmstate.io/v1", plural: "nodeippools" }, lan as never);
    const networks = { apiVersion: "k8s.cni.cncf.io/v1", plural: "network-attachment-definitions" };
    await this.kube.create(networks, macvlanNetwork("red", "lan") as never);
  }

  async close(): Promise<void> {
    await this.runner.stop();
    this.kube.close();
  }

  async step(): Promise<void> {
    await sleep(300 * this.random());
    this.steps++;
    const name = names[Math.floor(this.random() * names.length)] as string;
    const choice = this.random();
    this.runner.ending = 600 * this.random();
    if (!this.replicas.has(name)) await this.make(name, this.some());
    else if (choice < 0.25) await this.scale(name, this.some());
    else if (choice < 0.5) await this.roll(name);
    else if (choice < 0.6) await this.delete(name);
    else await this.deletePod();
    // Mostly all run before anything else happens: on a slow machine nothing else would happen at all.
    if (this.random() < 0.7) await until(() => this.isServed(), "no pod waits", 15_000).catch(() => {});
  }

  private async isServed(): Promise<boolean> {
    const pods = await this.runner.pods();
    const wanted = [...this.replicas.values()].reduce((sum, count) => sum + count, 0);
    return pods.length === wanted && !pods.some(isGated);
  }

  /** So many that together there are never more than addresses. */
  private some(): number {
    return Math.floor(this.random() * (Math.floor(this.most / names.length) + 1));
  }

  private async make(name: string, replicas: number): Promise<void> {
    const kind = kindOf(name);
    this.replicas.set(name, replicas);
    const spec = { replicas, ...(kind === "Deployment" && { strategy }) };
    await this.kube.create(resources[kind] as Resource, workload(kind, name, spec) as never);
  }

  private async scale(name: string, replicas: number): Promise<void> {
    this.replicas.set(name, replicas);
    await this.patch(name, { spec: { replicas } });
  }

  private async roll(name: string): Promise<void> {
    const annotations = { "kubectl.kubernetes.io/restartedAt": `${this.steps}` };
    await this.patch(name, { spec: { template: { metadata: { annotations } } } });
  }

  private async patch(name: string, body: Bag): Promise<void> {
    await this.kube.patch(resources[kindOf(name)] as Resource, name, "default", body, { type: "merge" });
  }

  private async delete(name: string): Promise<void> {
    this.replicas.delete(name);
    await this.remove(resources[kindOf(name)] as Resource, name);
  }

  /** However often somebody else changes it meanwhile. */
  private async remove(kind: Resource, name: string): Promise<void> {
    const gone = async () => {
      const there = await this.kube.get<Any>(kind, name, "default");
      return (
        there === undefined ||
        this.kube.delete(kind, there).then(
          () => true,
          () => false,
        )
      );
    };
    await until(gone, `${name} is deleted`);
  }

  private async deletePod(): Promise<void> {
    const pods = await this.runner.pods();
    const pod = pods[Math.floor(this.random() * pods.length)];
    if (pod !== undefined) await this.remove(podsResource, pod.metadata.name);
  }

  /** As many pods as addresses. */
  async fill(): Promise<void> {
    this.runner.ending = 100;
    const count = Math.floor(this.most / names.length);
    for (const [i, name] of names.entries()) {
      const replicas = i === 0 ? this.most - count * (names.length - 1) : count;
      if (this.replicas.has(name)) await this.scale(name, replicas);
      else await this.make(name, replicas);
    }
  }

  /** What is not so although everything has come to rest: each pod runs, and all have all addresses. */
  async missing(): Promise<string[]> {
    const told = async () => {
      const pods = (await this.runner.pods()).filter((pod) => !isGated(pod) && !isOver(pod));
      return new Set(pods.flatMap(ipsOf)).size;
    };
    await until(async () => (await told()) === this.most, "each address has its pod").catch(() => {});
    const count = await told();
    const pods = await this.runner.pods();
    const gated = pods.filter(isGated).map(({ metadata }) => metadata.name);
    return count === this.most ? [] : [`${count} of ${this.most} addresses have a pod, ${gated} wait`];
  }

  async deleteAll(): Promise<void> {
    for (const name of [...this.replicas.keys()]) await this.delete(name);
  }

  /** What stays when all workloads are deleted, and was not to. */
  async left(): Promise<string[]> {
    const all = async () => {
      const { allocations, releasing } = await kubernetes(this.kube, this.record).read();
      const found = await this.kube.list(maps, { namespace: "default", labels: gate });
      const pods = await this.runner.pods();
      return [
        ...[...allocations, ...releasing].map(({ claim }) => claim),
        ...[...found, ...pods].map(({ metadata }) => metadata.name),
      ];
    };
    await until(async () => (await all()).length === 0, "all is free").catch(() => {});
    return all();
  }
}

/**
 * All that etcd ever held of pods: an address of two that may run, and a pod of a StatefulSet that has another one than its
 * predecessor while the StatefulSet asked for it all the time.
 */
export async function workloadsHistory(cluster: Cluster) {
  const holders = new Map<string, Set<string>>();
  const shown = new Map<string, readonly string[]>();
  const last = new Map<string, string>();
  const wrong: string[] = [];
  const seen = { told: 0, handed: 0 };
  await replay(cluster, "pods", ({ number, key, object }) => {
    const name = key.replace(/.*\//, "");
    const pod = object as Bag | undefined;
    const mayRun = pod !== undefined && !isGated(pod) && !isOver(pod);
    const ips = mayRun ? ipsOf(pod) : [];
    const before = shown.get(key) ?? [];
    if (mayRun && before.length > 0 && `${before}` !== `${ips}`)
      wrong.push(`${number}: ${name} had ${before}, has ${ips}`);
    for (const ip of before) holders.get(ip)?.delete(key);
    shown.set(key, ips);
    if (ips.length > 0 && before.length === 0) seen.told++;
    if (mayRun && ips.length !== 1 && asBag(asBag(pod.metadata)?.labels)?.[gate] === "gated")
      wrong.push(`${number}: ${name} runs with ${ips.length} addresses`);
    for (const ip of ips) {
      const others = holders.get(ip) ?? new Set<string>();
      holders.set(ip, others.add(key));
      if (others.size > 1) wrong.push(`${number}: ${ip} is in ${[...others]}`);
      if ((last.get(ip) ?? name) !== name) seen.handed++;
      last.set(ip, name);
    }
  });
  return { wrong, ...seen };
}
