import { join } from "node:path";
import { parsePool, type Selectable, selectPools, unwrap } from "../core/index.ts";
import { isGated } from "../integrations/networks/gated-pod.ts";
import { findAccess, type KubeObject, objectsOf } from "../kube/index.ts";
import type { Bag } from "../schema/objects.ts";
import type { Cluster } from "../test/support/cluster/cluster.ts";
import { pool } from "../test/support/objects/ipam-claims.ts";
import { macvlanNetwork } from "../test/support/objects/vm-objects.ts";
import { gate, workload } from "../test/support/objects/workload-objects.ts";
import { controllerKubeconfig, inParallel, onCluster } from "./cluster-work.ts";
import { ControllerProcess } from "./controller-process.ts";
import { Made } from "./made.ts";
import { figures, type Result, ratio } from "./measure.ts";

const pools = { apiVersion: "nmstate.io/v1", plural: "nodeippools" };
const definitions = { apiVersion: "k8s.cni.cncf.io/v1", plural: "network-attachment-definitions" };
const sets = { apiVersion: "apps/v1", plural: "statefulsets" };
const pods = { apiVersion: "v1", plural: "pods" };

/** Selection by itself; pods that wait for their addresses, on real API servers: where all come at once, its etcd waits for the disk. */
export async function run(short: boolean): Promise<Result[]> {
  const role = "workload-addresses";
  const begun = await onCluster({ fsync: true, role }, (cluster) =>
    atOnce(cluster, short ? 200 : 1_000, short ? 1 : 3),
  );
  const kept = await onCluster({ role }, (cluster) => restarted(cluster, short ? 1_000 : 10_000, short ? 1 : 3));
  return [selection(short ? 50 : 500), ...begun, ...kept];
}

/** Every third pool has a rule that drops it, and every fourth no room. */
function selection(rounds: number): Result {
  const all = Array.from({ length: 1_000 }, (_, i): Selectable => {
    const rules = i % 3 === 0 ? {} : { podAffinity: { matchLabels: { app: i % 3 === 1 ? "web" : "db" } } };
    const spec = { range: { cidr: `10.${i >> 8}.${i & 255}.0/24` }, default: true, ...rules };
    const made = unwrap(parsePool(`pool-${i}`, spec));
    const room = { all: 254n, usable: 254n, unreserved: 254n, free: BigInt(i % 4) };
    return { pool: made, rules: made.rules, isTerminating: false, room };
  });
  const namespace = { name: "shop", labels: {} };
  const request = {
    family: 4,
    namespace,
    labels: { app: "web" },
    nodeSelector: {},
    network: "shop/lan",
    named: {},
  } as const;
  const taken = Array.from({ length: rounds }, () => {
    const start = performance.now();
    selectPools(request, all);
    return performance.now() - start;
  });
  return { name: "selection of 1,000 pools", ...figures(taken.slice(rounds / 5)), unit: "ms", goal: 1 };
}

/** In each round a StatefulSet of its own, and its pods as its controller makes them. */
async function atOnce(cluster: Cluster, count: number, rounds: number): Promise<Result[]> {
  const admin = findAccess({ kubeconfig: cluster.kubeconfig });
  const kubeconfig = await controllerKubeconfig(cluster);
  const bare = objectsOf(findAccess({ kubeconfig }));
  const kube = objectsOf(admin);
  const told = new Made(admin, pods, (pod) => !isGated(pod as never));
  const taken = { ours: [] as number[], bare: [] as number[] };
  const controller = await start(cluster, kubeconfig);
  try {
    await controller.ready();
    for (let round = 0; round < rounds; round++) {
      await kube.create(pools, pool(`red${round}`, `10.${round}.0.0/16`));
      await kube.create(definitions, macvlanNetwork(`red${round}`, `red${round}`) as unknown as KubeObject);
      const make = async (name: string, labels: Bag, each: (pod: KubeObject) => Promise<unknown>) => {
        const object = workload("StatefulSet", name, { replicas: count }, `red${round}`, labels);
        const set = await kube.create(sets, object as unknown as KubeObject);
        const made = [...Array(count).keys()].map((i) => podOf(set, i, `red${round}`, labels));
        await inParallel(made, async (one) => each(await kube.create(pods, one)));
      };
      taken.ours.push(await told.timed(count, () => make(`web${round}`, gated, async () => {})));
      const lift = ({ metadata: { name, namespace } }: KubeObject) => bare.patch(pods, name, namespace, lifted, merge);
      taken.bare.push(await told.timed(count, () => make(`bare${round}`, {}, lift)));
    }
  } finally {
    await controller.stop();
    told.stop();
    for (const one of [kube, bare]) one.close();
  }
  const name = `${count.toLocaleString("en")} pods at once: until all have their address and may be scheduled`;
  const goal = Math.round(figures(taken.bare).figure / 0.6);
  const to = "a bare client that creates pods and lifts their gates";
  return [{ name, ...figures(taken.ours), unit: "ms", goal, ratios: [ratio(to, taken.ours, taken.bare)] }];
}

/** Pods that have their addresses, and a controller that knows them from before. */
async function restarted(cluster: Cluster, count: number, rounds: number): Promise<Result[]> {
  const admin = findAccess({ kubeconfig: cluster.kubeconfig });
  const kube = objectsOf(admin);
  const kubeconfig = await controllerKubeconfig(cluster);
  await kube.create(pools, pool("red", "10.0.0.0/16"));
  await kube.create(definitions, macvlanNetwork("red", "red") as unknown as KubeObject);
  const told = new Made(admin, pods, (pod) => !isGated(pod as never));
  const first = await start(cluster, kubeconfig);
  await first.ready();
  const ofSet = 1_000;
  await told.timed(count, async () => {
    for (let from = 0; from < count; from += ofSet) {
      const object = workload("StatefulSet", `web${from}`, { replicas: ofSet }, "red", gated);
      const set = await kube.create(sets, object as unknown as KubeObject);
      const made = [...Array(ofSet).keys()].map((i) => podOf(set, i, "red", gated));
      await inParallel(made, (one) => kube.create(pods, one));
    }
  });
  const { peak } = first.memory();
  await first.stop();
  told.stop();
  kube.close();
  const [taken, memory]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const controller = await start(cluster, kubeconfig);
    taken.push(await controller.ready());
    memory.push(controller.memory().now);
    await controller.stop();
  }
  const looked: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const controller = await start(cluster, kubeconfig, "--look-every", "10s", "--log-level", "debug");
    await controller.ready();
    looked.push(await controller.look(10_000));
    await controller.stop();
  }
  const all = `${count.toLocaleString("en")} addresses of pods`;
  return [
    { name: `restart with ${all} until it is ready`, ...figures(taken), unit: "ms", goal: 2_000 },
    { name: "the same: memory then", ...figures(memory), unit: "MiB", goal: 200 },
    { name: `${all}: the most memory while they are given`, ...figures([peak]), unit: "MiB", goal: 200 },
    { name: `a look at everything, with ${all}, after a restart`, ...figures(looked), unit: "ms", goal: 2_000 },
  ];
}

const merge = { type: "merge" } as const;
const gated = { [gate]: "gated" };
/** As the controller writes it. */
const lifted = {
  metadata: {
    annotations: {
      "k8s.v1.cni.cncf.io/networks": '[{"name":"red0","interface":"net1","ips":["10.0.0.1/16"]}]',
      "nodeippool.nmstate.io/pod-index": "StatefulSet/bare0/0",
    },
  },
  spec: { schedulingGates: [] },
};

/** As the controller of StatefulSets makes it, and the policy lets it wait. */
function podOf({ metadata }: KubeObject, i: number, network: string, labels: Bag): KubeObject {
  const { name, namespace } = metadata;
  const { uid } = metadata as { readonly uid?: string };
  const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name, uid, controller: true };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...{ name: `${name}-${i}`, namespace, labels: { app: name, ...labels }, ownerReferences: [owner] },
      annotations: { "k8s.v1.cni.cncf.io/networks": network },
    },
    spec: { schedulingGates: [{ name: gate }], containers: [{ name: "main", image: "main" }] },
  } as unknown as KubeObject;
}

function start(cluster: Cluster, kubeconfig: string, ...flags: readonly string[]): Promise<ControllerProcess> {
  const log = join(cluster.folder, "workloads.log");
  return ControllerProcess.start(kubeconfig, log, ["--workload-addresses", ...flags]);
}
