import { join } from "node:path";
import { findAccess, type KubeObject, objectsOf } from "../kube/index.ts";
import { asBag } from "../schema/objects.ts";
import { type Cluster, startCluster } from "../test/support/cluster/cluster.ts";
import { installClusterApi, installNmstate } from "../test/support/cluster/kinds.ts";
import { root } from "../test/support/console.ts";
import { beside } from "./claims-beside.ts";
import { controllerKubeconfig, inParallel, quiet, writesOf } from "./cluster-work.ts";
import { ControllerProcess } from "./controller-process.ts";
import { Made } from "./made.ts";
import { figures, type Result, ratio } from "./measure.ts";

const namespace = "metal3";
const apiVersion = "ipam.cluster.x-k8s.io/v1beta2";
const pools = { apiVersion: "nmstate.io/v1", plural: "nodeippools" };
const claims = { apiVersion, plural: "ipaddressclaims" };
const addresses = { apiVersion, plural: "ipaddresses" };
const written = ["configmaps", "events", "nodeippools", claims.plural, addresses.plural];

/** Beside the in-cluster provider. */
const sizes = { count: 1_000, held: 10_000 };

/** IPAddressClaims of Cluster API, all at once, on a real API server whose etcd waits for the disk. */
export async function run(short: boolean): Promise<Result[]> {
  const count = short ? 200 : 1_000;
  const cluster = await startCluster({ fsync: true });
  try {
    return [...(await onCluster(cluster, count, short ? 1 : 3)), ...(short ? [] : await beside(cluster, sizes))];
  } finally {
    await cluster.stop();
  }
}

async function onCluster(cluster: Cluster, count: number, rounds: number): Promise<Result[]> {
  await installNmstate(cluster);
  await installClusterApi(cluster);
  await cluster.kubectl(["create", "namespace", namespace]);
  await cluster.kubectl(["apply", "-k", join(root, "deploy")]);
  await cluster.kubectl(["apply", "-f", join(root, "deploy/cluster-api/rbac.yaml")]);
  const admin = findAccess({ kubeconfig: cluster.kubeconfig });
  const kubeconfig = await controllerKubeconfig(cluster);
  const bare = objectsOf(findAccess({ kubeconfig }));
  const kube = objectsOf(admin);
  const given = new Made(admin, addresses, () => true);
  const taken = { ours: [] as number[], bare: [] as number[], writes: [] as number[] };
  const controller = await ControllerProcess.start(kubeconfig, join(cluster.folder, "claims.log"), ["--cluster-api"]);
  try {
    await controller.ready();
    for (let round = 0; round < rounds; round++) {
      await kube.create(pools, poolOf(round));
      const before = await writesOf(admin, written);
      const asked = Array.from({ length: count }, (_, i) => claimOf("pool", round, i));
      taken.ours.push(await given.timed(count, () => inParallel(asked, (one) => kube.create(claims, one))));
      await quiet(() => writesOf(admin, written));
      // Those of the claims themselves are not the controller's.
      taken.writes.push(((await writesOf(admin, written)) - before - count) / count);
      const all = await kube.list<KubeObject & { readonly spec?: unknown }>(addresses, { namespace });
      const copies = all.filter(({ metadata }) => metadata.name.startsWith(`pool-${round}-`)).map(copyOf);
      const both = async (one: KubeObject, i: number) => {
        await kube.create(claims, claimOf("nobody", round, i));
        await bare.create(addresses, one);
      };
      taken.bare.push(await given.timed(count, () => inParallel([...copies.entries()], ([i, one]) => both(one, i))));
    }
  } finally {
    await controller.stop();
    given.stop();
    for (const one of [kube, bare]) one.close();
  }
  const name = `${count.toLocaleString("en")} IPAddressClaims at once: until all have their address`;
  const goal = Math.round(figures(taken.bare).figure / 0.75);
  const to = "a bare client that creates claims and addresses";
  return [
    { name, ...figures(taken.ours), unit: "ms", goal, ratios: [ratio(to, taken.ours, taken.bare)] },
    { name: "the same: writes for each claim", ...figures(taken.writes), unit: "writes", goal: 3 },
  ];
}

function poolOf(round: number): KubeObject {
  const spec = { range: { cidr: `10.${round}.0.0/16` }, authority: "Cluster" };
  return { apiVersion: pools.apiVersion, kind: "NodeIPPool", metadata: { name: `pool-${round}` }, spec } as KubeObject;
}

/** Of a pool that is there, or that nobody has. */
function claimOf(pool: "pool" | "nobody", round: number, i: number): KubeObject {
  const kind = pool === "pool" ? "NodeIPPool" : "OtherPool";
  const poolRef = { apiGroup: "nmstate.io", kind, name: `${pool}-${round}` };
  const metadata = { name: `${pool}-${round}-${i}`, namespace };
  return { apiVersion, kind: "IPAddressClaim", metadata, spec: { poolRef } } as KubeObject;
}

/** The same object as somebody else's, under a name of its own. */
function copyOf(object: KubeObject & { readonly spec?: unknown }): KubeObject {
  const { metadata, spec } = object;
  const name = `bare-${metadata.name}`;
  const copied = { ...asBag(spec), claimRef: { name } };
  return { apiVersion, kind: "IPAddress", metadata: { name, namespace }, spec: copied } as KubeObject;
}
