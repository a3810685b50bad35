import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findAccess, type KubeObject, type Objects, objectsOf, type Stored } from "../../kube/index.ts";
import { asBag, asList, type Bag, conditionOf } from "../../schema/objects.ts";
import type { Cluster } from "../support/cluster/cluster.ts";
import type { Daemon } from "../support/cluster/daemon.ts";
import { nextRevision, replay } from "../support/cluster/history.ts";
import { installNodeIPPool } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { withController } from "../support/controller/run.ts";
import { hurried } from "../support/controller/timing.ts";
import { startClusterApiManager } from "../support/real/cluster-api-manager.ts";
import { createCluster, move, sayProvisioned } from "../support/real/clusterctl.ts";
import { until } from "../support/until.ts";

const group = "ipam.cluster.x-k8s.io";
const namespace = "machines";
const pools = { apiVersion: "nmstate.io/v1", plural: "nodeippools" };
const claims = { apiVersion: `${group}/v1beta2`, plural: "ipaddressclaims" };
const addresses = { apiVersion: `${group}/v1beta2`, plural: "ipaddresses" };
const clusters = { apiVersion: "cluster.x-k8s.io/v1beta2", plural: "clusters" };

type Any = Stored<KubeObject & Bag>;

const managers: Daemon[] = [];
const prepare = async (started: Cluster) => {
  await installNodeIPPool(started);
  managers.push(await startClusterApiManager(started));
  for (const name of ["nodeippool", namespace]) await started.kubectl(["create", "namespace", name]);
  await started.startControllers("garbage-collector-controller");
};
const source = clusterOfFile(prepare);
const target = clusterOfFile(prepare);

/** One of the two management clusters. */
class Side {
  readonly kube: Objects;
  readonly cluster: Cluster;
  constructor(cluster: Cluster) {
    this.cluster = cluster;
    this.kube = objectsOf(findAccess({ kubeconfig: cluster.kubeconfig }));
  }
  all = (resource: typeof claims) => this.kube.list<Any>(resource, { namespace });
  pool(name: string, cidr: string): Promise<unknown> {
    const spec = { range: { cidr }, gateway: cidr.replace(/0\/24$/, "254"), authority: "Cluster" };
    return this.kube.create(pools, {
      apiVersion: pools.apiVersion,
      kind: "NodeIPPool",
      metadata: { name },
      spec,
    } as KubeObject);
  }
  async claim(name: string, pool: string): Promise<void> {
    const { uid } = (await this.kube.get(clusters, "c", namespace))?.metadata ?? {};
    const ownerReferences = [{ apiVersion: clusters.apiVersion, kind: "Cluster", name: "c", uid }];
    const poolRef = { apiGroup: "nmstate.io", kind: "NodeIPPool", name: pool };
    const metadata = { name, namespace, ownerReferences };
    await this.kube.create(claims, {
      apiVersion: claims.apiVersion,
      kind: "IPAddressClaim",
      metadata,
      spec: { clusterName: "c", poolRef },
    } as KubeObject);
  }
  async given(): Promise<Record<string, unknown>> {
    const found = (await this.all(addresses)).map(
      ({ metadata, spec }) => [metadata.name, asBag(spec)?.address] as const,
    );
    return Object.fromEntries(found.sort());
  }
  /** Waits until all claims, so many, are Ready. */
  async serves(count: number): Promise<void> {
    const isReady = ({ status }: Any) => conditionOf(asBag(status)?.conditions, "Ready")?.status === "True";
    await until(
      async () => (await this.all(claims)).filter(isReady).length === count,
      `${count} claims are Ready`,
      60_000,
    );
  }
  /** Each IPAddress with its owners as they are here. */
  async owners(): Promise<string[]> {
    const uids = new Map<unknown, string>();
    for (const one of [...(await this.all(claims)), ...(await this.kube.list<Any>(pools))])
      uids.set(one.metadata.uid, one.metadata.name);
    const ownersOf = ({ metadata }: Any) =>
      asList((metadata as Bag).ownerReferences).map((one) => uids.get(asBag(one)?.uid));
    return (await this.all(addresses)).map((one) => `${one.metadata.name}: ${ownersOf(one).sort().join(", ")}`).sort();
  }
  /** Throws where an IPAddress ever had another address since. */
  async neverOther(given: Record<string, unknown>, since: number): Promise<void> {
    await replay(
      this.cluster,
      `${group}/ipaddresses`,
      ({ number, key, object }) => {
        const name = key.slice(key.lastIndexOf("/") + 1);
        const address = asBag(asBag(object)?.spec)?.address;
        if (object !== undefined && address !== given[name])
          throw new Error(`at revision ${number} ${name} has ${address}`);
      },
      since,
    );
  }
}

afterAll(async () => {
  for (const manager of managers) await manager.stop();
});

describe("clusterctl move, there and back, with the real clusterctl, core manager and garbage collector", () => {
  let [here, there]: Side[] = [];
  beforeAll(() => {
    [here, there] = [new Side(source()), new Side(target())];
    return () => {
      for (const side of [here, there]) side?.kube.close();
    };
  });

  const count = 20;

  /** Makes a Cluster with claims on two pools, not in the order of their names, so that giving them anew would show. */
  async function begin(side: Side): Promise<Record<string, unknown>> {
    await createCluster(side.kube, "c", namespace);
    await side.pool("p", "10.1.0.0/24");
    await side.pool("q", "10.2.0.0/24");
    for (let i = count; i-- > 0; ) await side.claim(`m${i}`, i % 3 === 0 ? "q" : "p");
    await side.serves(count);
    return side.given();
  }

  async function moves(from: Side, to: Side, given: Record<string, unknown>): Promise<void> {
    const since = await nextRevision(to.cluster);
    await move(from.cluster, to.cluster, namespace);
    await to.serves(count);
    expect(await to.given()).toEqual(given);
    await to.neverOther(given, since);
    const belongs = async () => (await to.owners()).every((one) => /^(m\d+): \1, [pq]$/.test(one));
    await until(belongs, "each IPAddress belongs to its claim and its pool", 20_000);
    const left = async () => [...(await from.all(claims)), ...(await from.all(addresses))].length;
    await until(async () => (await left()) === 0, "nothing is left behind", 20_000);
    await sayProvisioned(to.kube, "c", namespace);
  }

  it("no address changes, also where Git made a pool on the target first; the next claim gets another address", async () => {
    const [a, b] = [here as Side, there as Side];
    // It has another uid there.
    await b.pool("q", "10.2.0.0/24");
    const withBoth = (work: () => Promise<void>) =>
      [a, b].reduce((inner, { cluster: { kubeconfig } }) => {
        const options = { timing: hurried, clusterApi: "v1beta2" } as const;
        return () => withController(findAccess({ kubeconfig }), inner, options);
      }, work)();
    await withBoth(async () => {
      const given = await begin(a);
      await moves(a, b, given);
      await moves(b, a, given);
      await a.claim("new", "p");
      await a.serves(count + 1);
      expect(new Set(Object.values(await a.given())).size).toBe(count + 1);
    });
  }, 280_000);
});
