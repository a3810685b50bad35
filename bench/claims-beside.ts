import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findAccess, type KubeObject, objectsOf } from "../kube/index.ts";
import type { Cluster } from "../test/support/cluster/cluster.ts";
import { startDaemon } from "../test/support/cluster/daemon.ts";
import { installInClusterProvider } from "../test/support/cluster/kinds.ts";
import { inCluster, ours, type Provider } from "../test/support/controller/claim-trial.ts";
import { tool } from "../test/support/tools/tools.ts";
import { controllerKubeconfig, inParallel, quiet, writesOf } from "./cluster-work.ts";
import { ControllerProcess } from "./controller-process.ts";
import { Made } from "./made.ts";
import { figures, type Result, ratio } from "./measure.ts";

const ipam = "ipam.cluster.x-k8s.io";
const apiVersion = `${ipam}/v1beta2`;
const claims = { apiVersion, plural: "ipaddressclaims" };
const addresses = { apiVersion, plural: "ipaddresses" };

interface Running {
  /** MiB that it has now. */
  memory(): number;
  stop(): Promise<void>;
}

/** A provider, how it is started, and where its claims are. */
interface Side {
  readonly provider: Provider;
  readonly namespace: string;
  /** The first two numbers of its addresses. */
  readonly net: string;
  start(): Promise<Running>;
}

/** What was measured of one of them. */
interface Taken {
  readonly at: number[];
  readonly restart: number[];
  readonly more: number[];
  readonly memory: number[];
}

/** How many claims are made at once, and how many there are when one more is made. */
interface Sizes {
  readonly count: number;
  readonly held: number;
}

/** Ours beside the real in-cluster provider, in turn, on one API server whose etcd waits for the disk. */
export async function beside(cluster: Cluster, { count, held }: Sizes): Promise<Result[]> {
  await installInClusterProvider(cluster);
  const sides = await sidesOn(cluster);
  const taken = sides.map((): Taken => ({ at: [], restart: [], more: [], memory: [] }));
  const rounds = 2;
  for (const { provider, namespace, net } of sides) {
    await cluster.kubectl(["create", "namespace", namespace]);
    const spec = { ...provider.spec({ ranges: [[1, 2]] }, `${net}.0.`), ...whole(provider, net) };
    const object = { apiVersion: provider.pools.apiVersion, kind: provider.kind, metadata: { name: "pool" }, spec };
    await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(object));
  }
  for (let round = 0; round < rounds; round++)
    for (const [i, side] of sides.entries()) await atOnce(cluster, side, round, count, taken[i] as Taken);
  for (const side of sides) await fill(cluster, side, held - count * rounds);
  for (let round = 0; round < rounds; round++)
    for (const [i, side] of sides.entries()) await oneMore(cluster, side, round, taken[i] as Taken);
  const [a, b] = taken as [Taken, Taken];
  const line = (name: string, field: keyof Taken, unit: Result["unit"]): Result => {
    const theirs = Math.round(figures(b[field]).figure);
    const to = `the in-cluster provider: ${theirs.toLocaleString("en")} ${unit}`;
    return { name, ...figures(a[field]), unit, ratios: [ratio(to, a[field], b[field])] };
  };
  const many = held.toLocaleString("en");
  return [
    line(`${count.toLocaleString("en")} claims at once, until all have their IPAddress`, "at", "ms"),
    line(`one more claim at ${many} held`, "more", "ms"),
    line(`restart at ${many} held, until a waiting claim has its IPAddress`, "restart", "ms"),
    line(`memory at ${many} held`, "memory", "MiB"),
  ];
}

/** A pool of a /16. */
function whole({ name }: Provider, net: string) {
  if (name === ours.name) return { range: { cidr: `${net}.0.0/16` } };
  return { addresses: [`${net}.0.0/16`], prefix: 16 };
}

async function sidesOn(cluster: Cluster): Promise<Side[]> {
  const own = await controllerKubeconfig(cluster);
  const theirs = await tool("in-cluster-ipam");
  return [
    {
      ...{ provider: ours, namespace: "ours", net: "10.128" },
      async start() {
        const controller = await ControllerProcess.start(own, join(cluster.folder, "ours.log"), ["--cluster-api"]);
        return { memory: () => controller.memory().now, stop: () => controller.stop() };
      },
    },
    {
      ...{ provider: inCluster, namespace: "theirs", net: "10.129" },
      async start() {
        const flags = ["--webhook-port=0", "--health-probe-bind-address=0", "--diagnostics-address=127.0.0.1:0"];
        const args = ["--kubeconfig", cluster.kubeconfig, ...flags, "--insecure-diagnostics=true"];
        const daemon = await startDaemon(theirs, args, join(cluster.folder, "theirs.log"));
        const status = () => readFileSync(`/proc/${daemon.pid}/status`, "utf8");
        return {
          memory: () => Number(/^VmRSS:\s*(\d+) kB/m.exec(status())?.[1]) / 1024,
          stop: () => daemon.stop(),
        };
      },
    },
  ];
}

function claimOf({ provider, namespace }: Side, name: string, metadata: object = {}): KubeObject {
  const poolRef = { apiGroup: provider.pools.apiVersion.split("/")[0], kind: provider.kind, name: "pool" };
  return {
    apiVersion,
    kind: "IPAddressClaim",
    metadata: { name, namespace, ...metadata },
    spec: { poolRef },
  } as KubeObject;
}

async function atOnce(cluster: Cluster, side: Side, round: number, count: number, taken: Taken): Promise<void> {
  const running = await side.start();
  const { made, kube, end } = watched(cluster, side);
  try {
    // The first one shows that it has started.
    await made.timed(1, () => kube.create(claims, claimOf(side, `first-${round}`)));
    const asked = Array.from({ length: count - 1 }, (_, i) => claimOf(side, `c-${round}-${i}`));
    taken.at.push(await made.timed(asked.length, () => inParallel(asked, (one) => kube.create(claims, one))));
  } finally {
    end();
    await running.stop();
  }
}

/** Claims with their IPAddresses, as the provider leaves them. */
async function fill(cluster: Cluster, side: Side, count: number): Promise<void> {
  const { kube, end } = watched(cluster, side);
  const [one] = await kube.list<KubeObject & { readonly spec?: object }>(addresses, { namespace: side.namespace });
  const [pool] = await kube.list(side.provider.pools);
  const [of] = await kube.list<KubeObject>(claims, { namespace: side.namespace });
  const finalizersOf = (object: unknown) => (object as { metadata: { finalizers?: string[] } }).metadata.finalizers;
  const make = async (i: number) => {
    const name = `held-${i}`;
    const claim = await kube.create(claims, claimOf(side, name, { finalizers: finalizersOf(of) }));
    const owner = {
      apiVersion,
      kind: "IPAddressClaim",
      name,
      uid: claim.metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    };
    const ofPool = {
      apiVersion: pool?.apiVersion,
      kind: pool?.kind,
      name: "pool",
      uid: pool?.metadata.uid,
      controller: false,
      blockOwnerDeletion: true,
    };
    const metadata = {
      name,
      namespace: side.namespace,
      labels: one?.metadata.labels,
      finalizers: finalizersOf(one),
      ownerReferences: [owner, ofPool],
    };
    // Above those that the provider has given.
    const address = `${side.net}.${100 + Math.floor(i / 250)}.${1 + (i % 250)}`;
    const spec = { ...one?.spec, claimRef: { name }, address };
    await kube.create(addresses, { apiVersion, kind: "IPAddress", metadata, spec } as KubeObject);
    const status = { addressRef: { name } };
    await kube.patch(claims, name, side.namespace, { status }, { type: "merge", subresource: "status" });
  };
  await inParallel([...Array(count).keys()], make);
  end();
  // Ours puts them on record once.
  const running = await side.start();
  const admin = findAccess({ kubeconfig: cluster.kubeconfig });
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  await quiet(() => writesOf(admin, ["configmaps", "ipaddressclaims", "ipaddresses"]));
  await running.stop();
}

async function oneMore(cluster: Cluster, side: Side, round: number, taken: Taken): Promise<void> {
  const { made, kube, end } = watched(cluster, side);
  await kube.create(claims, claimOf(side, `waits-${round}`));
  const before = (await kube.list(addresses, { namespace: side.namespace })).length;
  while (made.count < before) await new Promise((resolve) => setTimeout(resolve, 50));
  let running: Running | undefined;
  try {
    taken.restart.push(
      await made.timed(1, async () => {
        running = await side.start();
      }),
    );
    // What a start writes, and reads, is no part of what one more claim takes.
    const admin = findAccess({ kubeconfig: cluster.kubeconfig });
    await quiet(() => writesOf(admin, ["ipaddressclaims", "ipaddresses", "nodeippools", "configmaps"]));
    for (let i = 0; i < 5; i++)
      taken.more.push(await made.timed(1, () => kube.create(claims, claimOf(side, `more-${round}-${i}`))));
    taken.memory.push(running?.memory() ?? 0);
  } finally {
    end();
    await running?.stop();
  }
}

function watched(cluster: Cluster, { namespace }: Side) {
  const access = findAccess({ kubeconfig: cluster.kubeconfig });
  const made = new Made(access, addresses, ({ metadata }) => metadata.namespace === namespace);
  const kube = objectsOf(access);
  const end = () => {
    made.stop();
    kube.close();
  };
  return { made, kube, end };
}
