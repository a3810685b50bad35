import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Access, findAccess, type KubeObject, type Objects, objectsOf, type Stored } from "../kube/index.ts";
import { asBag, asList } from "../schema/objects.ts";
import { type Cluster, startCluster } from "../test/support/cluster/cluster.ts";
import { installNodeIPPool, installWhereabouts } from "../test/support/cluster/kinds.ts";
import { root } from "../test/support/console.ts";
import { controllerKubeconfig, inParallel, quiet, writesOf } from "./cluster-work.ts";
import { ControllerProcess } from "./controller-process.ts";
import { Made } from "./made.ts";
import { figures, type Result, ratio } from "./measure.ts";
import { sliceDefinition } from "./slice-objects.ts";

const nodes = { apiVersion: "v1", plural: "nodes" };
const definitions = { apiVersion: "k8s.cni.cncf.io/v1", plural: "network-attachment-definitions" };
const lists = { apiVersion: "whereabouts.cni.cncf.io/v1alpha1", plural: "nodeslicepools" };
const written = ["configmaps", "events", "nodeslicepools"];

type List = KubeObject & { readonly spec?: unknown; readonly status?: unknown };

interface Size {
  readonly nodes: number;
  readonly networks: number;
  readonly joins: number;
}

/** The controller gives each node its slices, on a real API server whose etcd waits for the disk. */
export async function run(short: boolean): Promise<Result[]> {
  const cluster = await startCluster({ fsync: true });
  try {
    return await onCluster(
      cluster,
      short ? { nodes: 200, networks: 3, joins: 1 } : { nodes: 5_000, networks: 10, joins: 30 },
    );
  } finally {
    await cluster.stop();
  }
}

async function onCluster(cluster: Cluster, size: Size): Promise<Result[]> {
  await installNodeIPPool(cluster);
  await installWhereabouts(cluster);
  await cluster.kubectl(["apply", "-k", join(root, "deploy")]);
  await cluster.kubectl(["apply", "-f", join(root, "deploy/node-slices/rbac.yaml")]);
  const admin = findAccess({ kubeconfig: cluster.kubeconfig });
  const kube = objectsOf(admin);
  const kubeconfig = await controllerKubeconfig(cluster);
  const flags = ["--node-slices", "kube-system"];
  const controller = await ControllerProcess.start(kubeconfig, join(cluster.folder, "slices.log"), flags);
  const count = (n: number) => n.toLocaleString("en");
  const many = `${count(size.nodes)} nodes x ${size.networks} networks`;
  try {
    await inParallel([...Array(size.nodes).keys()], (i) => kube.create(nodes, nodeOf(i)));
    await controller.ready();
    const all = [...Array(size.networks).keys()].map(sliceDefinition);
    const define = () => inParallel(all, (one) => kube.create(definitions, one));
    const first = await timed(admin, size.networks, size.nodes, define);
    await quiet(() => writesOf(admin, written));
    const found = await kube.list<List>(lists, { namespace: "kube-system" });
    const bytes = Math.max(...found.map((one) => JSON.stringify(one).length));
    const copies = await copied(kube, found);
    const [joins, writes]: [number[], number[]] = [[], []];
    for (let i = size.nodes; i < size.nodes + size.joins; i++) {
      joins.push(await timed(admin, size.networks, i + 1, () => kube.create(nodes, nodeOf(i))));
      await quiet(() => writesOf(admin, written));
      writes.push(await rewritten(kube, copies, nodeOf(i)));
    }
    const { now, peak } = controller.memory();
    const slowest = Math.max(...joins);
    return [
      { name: `${many}: until all are listed`, figure: first, best: first, unit: "ms" },
      { name: "a client that only writes these lists once more", ...figures(writes), unit: "ms" },
      {
        name: "one more node: until all its slices are listed",
        ...figures(joins),
        unit: "ms",
        ratios: [ratio("the lists, only written", joins, writes)],
      },
      { name: `the same, the slowest of ${size.joins}`, figure: slowest, best: slowest, unit: "ms", goal: 300 },
      { name: "the largest NodeSlicePool, as JSON", figure: bytes, best: bytes, unit: "bytes", goal: 300_000 },
      { name: "memory", figure: now, best: now, unit: "MiB" },
      { name: "the same, the most it had", figure: peak, best: peak, unit: "MiB" },
    ];
  } finally {
    await controller.stop();
    kube.close();
  }
}

/** Milliseconds that `work` takes until so many lists have so many nodes. The controller has not looked at its record for a while. */
async function timed(access: Access, networks: number, count: number, work: () => Promise<unknown>): Promise<number> {
  const isFull = (list: List) => asList(asBag(list.status)?.allocations).length >= count;
  const full = new Made(access, lists, isFull);
  await sleep(3_000);
  const ms = await full.timed(networks, work);
  full.stop();
  return ms;
}

/** The same lists where the controller does not look. */
function copied(kube: Objects, found: readonly List[]): Promise<Stored<List>[]> {
  const copyOf = ({ metadata: { name }, ...content }: List) => ({
    ...content,
    metadata: { name, namespace: "default" },
  });
  return Promise.all(found.map((list) => kube.create(lists, copyOf(list))));
}

/** Milliseconds until the server has each of them with one entry more, each written as a whole, and all at once, as the controller does it. */
async function rewritten(kube: Objects, copies: Stored<List>[], { metadata: { name: nodeName } }: KubeObject) {
  const start = performance.now();
  const write = async ({ metadata, status }: Stored<List>, i: number) => {
    const allocations = [...asList(asBag(status)?.allocations), { nodeName, sliceRange: "10.255.252.0/22" }];
    const patch = [
      { op: "test", path: "/metadata/resourceVersion", value: metadata.resourceVersion },
      { op: "add", path: "/status", value: { allocations } },
    ];
    copies[i] = await kube.patch<List>(lists, metadata.name, metadata.namespace, patch, { type: "json" });
  };
  await Promise.all(copies.map(write));
  return performance.now() - start;
}

function nodeOf(i: number): KubeObject {
  const name = `node${String(i).padStart(4, "0")}.example.org`;
  const status = { conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", message: "" }] };
  return { apiVersion: "v1", kind: "Node", metadata: { name }, status } as KubeObject;
}
