import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Access, findAccess, type KubeObject, type Objects, objectsOf } from "../kube/index.ts";
import { childLabels } from "../schema/node.ts";
import { type Cluster, startCluster } from "../test/support/cluster/cluster.ts";
import { installNmstate, installNmstateAdmission } from "../test/support/cluster/kinds.ts";
import { root } from "../test/support/console.ts";
import { controllerKubeconfig, inParallel, quiet, writesOf } from "./cluster-work.ts";
import { Made } from "./made.ts";

const nodes = { apiVersion: "v1", plural: "nodes" };
const pools = { apiVersion: "nmstate.io/v1", plural: "nodeippools" };
const policies = { apiVersion: "nmstate.io/v1", plural: "nodenetworkconfigurationpolicies" };
/** What the controller may write. */
const written = ["configmaps", "events", "nodeippools", "nodenetworkconfigurationpolicies"];

/** Nodes and policies on a real API server as deploy/ sets it up, and a count of what is made there. */
export class Fleet {
  readonly cluster: Cluster;
  /** Of the controller's service account. */
  readonly kubeconfig: string;
  private readonly admin: Access;
  private readonly kube: Objects;
  /** Policies of nodes. */
  private readonly made: Made;

  private constructor(cluster: Cluster, kubeconfig: string) {
    this.cluster = cluster;
    this.kubeconfig = kubeconfig;
    this.admin = findAccess({ kubeconfig: cluster.kubeconfig });
    this.kube = objectsOf(this.admin);
    this.made = new Made(this.admin, policies, ({ metadata }) => metadata.labels?.[childLabels.policy] !== undefined);
  }

  static async start(): Promise<Fleet> {
    const cluster = await startCluster({ fsync: true });
    await installNmstate(cluster);
    await installNmstateAdmission(cluster);
    await cluster.kubectl(["apply", "-k", join(root, "deploy")]);
    return new Fleet(cluster, await controllerKubeconfig(cluster));
  }

  /** Ready nodes from a number up to another one, the first 100 of them labelled so. */
  async addNodes(from: number, to: number): Promise<void> {
    await inParallel(range(from, to), (i) => this.kube.create(nodes, nodeOf(i)));
  }

  /** A policy that selects nodes by a label, and a pool of a /16 that it takes from. */
  async addPolicy(name: string, net: number, label: string): Promise<void> {
    await this.kube.create(pools, poolOf(name, net));
    await this.kube.create(policies, policyOf(name, label));
  }

  /** Milliseconds that `work` takes until so many policies of nodes were made. */
  timed(count: number, work: () => Promise<unknown>): Promise<number> {
    return this.made.timed(count, work);
  }

  /** What the controller made of a policy, as objects under other names that nobody has made. */
  async copies(policy: string): Promise<KubeObject[]> {
    const made = await this.kube.list(policies, { labels: `${childLabels.policy}=${policy}` });
    return made.map(({ metadata: { name, labels }, ...object }) => {
      const { status: _, ...rest } = object as KubeObject & { status?: unknown };
      const { "app.kubernetes.io/managed-by": __, ...own } = labels ?? {};
      return { ...rest, metadata: { name: `bare-${name}`, labels: { ...own, [childLabels.policy]: "bare" } } };
    });
  }

  /** Creates objects as fast as it goes, as the controller's user. */
  async createBare(objects: readonly KubeObject[]): Promise<void> {
    const bare = objectsOf(findAccess({ kubeconfig: this.kubeconfig }));
    await inParallel(objects, (object) => bare.create(policies, object));
    bare.close();
  }

  async deleteBare(): Promise<void> {
    const left = await this.kube.list(policies, { labels: `${childLabels.policy}=bare` });
    const before = this.made.count - left.length;
    await inParallel(left, (object) => this.kube.delete(policies, object));
    while (this.made.count > before) await sleep(10);
  }

  writes(): Promise<number> {
    return writesOf(this.admin, written);
  }

  /** Waits until nothing was written for two seconds. */
  quiet(): Promise<void> {
    return quiet(() => this.writes());
  }

  async stop(): Promise<void> {
    this.made.stop();
    this.kube.close();
    await this.cluster.stop();
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

/** As large as the ones that kubelets write. */
function nodeOf(i: number): KubeObject {
  const name = `node${String(i).padStart(4, "0")}.example.org`;
  const images = range(0, 50).map((image) => ({
    names: [0, 1].map((tag) => `registry.example.org/group-${image}/image@sha256:${String(tag).repeat(64)}`),
    sizeBytes: 1_000_000 + image,
  }));
  const conditions = [{ type: "Ready", status: "True", reason: "KubeletReady", message: "" }];
  const small = i < 100 ? { small: "yes" } : {};
  const labels = { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", all: "yes", ...small };
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels }, status: { conditions, images } } as KubeObject;
}

function poolOf(name: string, net: number): KubeObject {
  const range = { cidr: `10.${net}.0.0/16` };
  return { apiVersion: pools.apiVersion, kind: "NodeIPPool", metadata: { name }, spec: { range } } as KubeObject;
}

/** All nodes at once: nobody here reports that one is done. */
function policyOf(name: string, label: string): KubeObject {
  const address = [{ ip: "{{ capture.address.ip }}", "prefix-length": "{{ capture.address.prefix-length }}" }];
  const ipv4 = { enabled: true, dhcp: false, address };
  const spec = {
    nodeSelector: { [label]: "yes" },
    maxUnavailable: "100%",
    capture: { address: `ippool.${name}.allocate` },
    desiredState: { interfaces: [{ name: `eth-${name}`, type: "ethernet", state: "up", ipv4 }] },
  };
  const { apiVersion } = policies;
  return { apiVersion, kind: "NodeNetworkConfigurationPolicy", metadata: { name }, spec } as KubeObject;
}
