import { join } from "node:path";
import { findAccess, type KubeObject, objectsOf } from "../kube/index.ts";
import { asBag, asList } from "../schema/objects.ts";
import type { Cluster } from "../test/support/cluster/cluster.ts";
import { claim, pool, releaseFinalizer } from "../test/support/objects/ipam-claims.ts";
import { macvlanNetwork } from "../test/support/objects/vm-objects.ts";
import { controllerKubeconfig, inParallel, onCluster, quiet, writesOf } from "./cluster-work.ts";
import { ControllerProcess } from "./controller-process.ts";
import { Made } from "./made.ts";
import { figures, type Result, ratio } from "./measure.ts";

const pools = { apiVersion: "nmstate.io/v1", plural: "nodeippools" };
const definitions = { apiVersion: "k8s.cni.cncf.io/v1", plural: "network-attachment-definitions" };
const claims = { apiVersion: "k8s.cni.cncf.io/v1alpha1", plural: "ipamclaims" };
const written = ["configmaps", "events", "nodeippools", "ipamclaims"];

/** IPAMClaims, on real API servers; where they are created all at once, its etcd waits for the disk. */
export async function run(short: boolean): Promise<Result[]> {
  const role = "ipam-claims";
  const created = await onCluster({ fsync: true, role }, (cluster) =>
    atOnce(cluster, short ? 200 : 1_000, short ? 1 : 3),
  );
  const kept = await onCluster({ role }, (cluster) => restarted(cluster, short ? 1_000 : 10_000, short ? 1 : 5));
  return [...created, ...kept];
}

/** In each round a network of its own, and a pool. */
async function atOnce(cluster: Cluster, count: number, rounds: number): Promise<Result[]> {
  const admin = findAccess({ kubeconfig: cluster.kubeconfig });
  const kubeconfig = await controllerKubeconfig(cluster);
  const bare = objectsOf(findAccess({ kubeconfig }));
  const kube = objectsOf(admin);
  const given = new Made(admin, claims, hasAddress);
  const taken = { ours: [] as number[], bare: [] as number[], writes: [] as number[] };
  const controller = await start(cluster, kubeconfig);
  try {
    await controller.ready();
    for (let round = 0; round < rounds; round++) {
      const network = `red${round}`;
      await kube.create(pools, pool(network, `10.${round}.0.0/16`));
      await kube.create(definitions, macvlanNetwork(network, network) as unknown as KubeObject);
      const before = await writesOf(admin, written);
      const asked = Array.from({ length: count }, (_, i) => claim(`vm-${i}.${network}`, {}, network));
      taken.ours.push(await given.timed(count, () => inParallel(asked, (one) => kube.create(claims, one))));
      await quiet(() => writesOf(admin, written));
      // Those of the claims themselves are not the controller's.
      taken.writes.push(((await writesOf(admin, written)) - before - count) / count);
      const both = async (i: number) => {
        const { metadata } = await kube.create(claims, claim(`vm-${i}.nobody${round}`, {}, "nobody"));
        await bare.patch(claims, metadata.name, metadata.namespace, statusOf(i), merge);
      };
      taken.bare.push(await given.timed(count, () => inParallel([...Array(count).keys()], both)));
    }
  } finally {
    await controller.stop();
    given.stop();
    for (const one of [kube, bare]) one.close();
  }
  const name = `${count.toLocaleString("en")} IPAMClaims at once: until all have their address`;
  const goal = Math.round(figures(taken.bare).figure / 0.75);
  const to = "a bare client that creates claims and writes their status";
  return [
    { name, ...figures(taken.ours), unit: "ms", goal, ratios: [ratio(to, taken.ours, taken.bare)] },
    { name: "the same: writes for each claim", ...figures(taken.writes), unit: "writes", goal: 3 },
  ];
}

/** Claims that have their addresses, and a controller that knows them from before. */
async function restarted(cluster: Cluster, count: number, rounds: number): Promise<Result[]> {
  const kube = objectsOf(findAccess({ kubeconfig: cluster.kubeconfig }));
  const kubeconfig = await controllerKubeconfig(cluster);
  await kube.create(pools, pool("red", "10.0.0.0/16"));
  await kube.create(definitions, macvlanNetwork("red", "red") as unknown as KubeObject);
  await inParallel([...Array(count).keys()], async (i) => {
    const { metadata } = await kube.create(claims, claim(`vm-${i}.red`, { finalizers: [releaseFinalizer] }));
    await kube.patch(claims, metadata.name, metadata.namespace, statusOf(i), merge);
  });
  kube.close();
  const taken: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const controller = await start(cluster, kubeconfig);
    const ms = await controller.ready();
    await controller.stop();
    // The first one records what claims show.
    if (round > 0) taken.push(ms);
  }
  const name = `restart with ${count.toLocaleString("en")} IPAMClaims until it is ready`;
  return [{ name, ...figures(taken), unit: "ms", goal: 4_000 }];
}

const merge = { type: "merge", subresource: "status" } as const;

function start(cluster: Cluster, kubeconfig: string): Promise<ControllerProcess> {
  return ControllerProcess.start(kubeconfig, join(cluster.folder, "ipam-claims.log"), ["--ipam-claims"]);
}

/** As the controller writes it. */
function statusOf(i: number) {
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  const said = { type: "IPsAllocated", status: "True", reason: "SuccessfulAllocation" };
  const message = "Its addresses are recorded";
  const ips = [`10.0.${1 + (i >> 8)}.${i & 255}/16`];
  return { status: { ips, conditions: [{ ...said, message, lastTransitionTime }] } };
}

function hasAddress({ status }: KubeObject & { readonly status?: unknown }): boolean {
  return asList(asBag(status)?.ips).length > 0;
}
