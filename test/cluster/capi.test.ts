import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ClusterApiVersion } from "../../integrations/contract/cluster-api.ts";
import type { RenderedObject } from "../../integrations/contract/integration.ts";
import { managedBy } from "../../integrations/contract/managed-by.ts";
import { findAccess, type KubeObject, type Objects, objectsOf, type Resource, type Stored } from "../../kube/index.ts";
import { joinDocuments } from "../../pipeline/folder.ts";
import { asBag, type Bag, conditionOf } from "../../schema/objects.ts";
import { yamlOfEach } from "../../schema/yaml-text.ts";
import { exampleText, infraOf } from "../support/cli/metal3-infra.ts";
import { installClusterApi, installMachines, installNodeIPPool } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { withController } from "../support/controller/run.ts";
import { hurried } from "../support/controller/timing.ts";
import { tries } from "../support/long.ts";
import { objectsOfInfra } from "../support/objects/metal3-objects.ts";

const namespace = "metal3";
const group = "ipam.cluster.x-k8s.io";
const pools: Resource = { apiVersion: "nmstate.io/v1", plural: "nodeippools" };
const clusters: Resource = { apiVersion: "cluster.x-k8s.io/v1beta2", plural: "clusters" };
const claims: Resource = { apiVersion: `${group}/v1beta2`, plural: "ipaddressclaims" };
const addresses: Resource = { apiVersion: `${group}/v1beta2`, plural: "ipaddresses" };

type Any = Stored<KubeObject & Bag>;

const cluster = clusterOfFile(async (started) => {
  await installNodeIPPool(started);
  await installClusterApi(started);
  await installMachines(started);
  for (const name of ["nodeippool", namespace]) await started.kubectl(["create", "namespace", name]);
});

/** What the documentation of Cluster API wants of an IPAM provider, and what other providers get wrong. */
describe("a provider of addresses for Cluster API, on a real API server", () => {
  let kube: Objects;
  beforeAll(() => {
    kube = objectsOf(findAccess({ kubeconfig: cluster().kubeconfig }));
    return () => kube.close();
  });

  const provided = (work: () => Promise<void>, clusterApi: ClusterApiVersion = "v1beta2") =>
    withController(findAccess({ kubeconfig: cluster().kubeconfig }), work, { timing: hurried, clusterApi });

  async function pool(name: string, end: string, cidr = "10.0.0.0/24", gateway?: string): Promise<void> {
    const spec = { range: { cidr, end }, ...(gateway && { gateway }), authority: "Cluster" };
    await kube.apply(
      pools,
      { apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: { name }, spec } as KubeObject,
      {
        manager: "tests",
      },
    );
  }
  const claim = (name: string, spec: Bag = {}, metadata: Bag = {}) =>
    kube.create(claims, {
      apiVersion: claims.apiVersion,
      kind: "IPAddressClaim",
      metadata: { name, namespace, ...metadata },
      spec: { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "p" }, ...spec },
    } as KubeObject);
  const get = (resource: Resource, name: string) => kube.get<KubeObject & Bag>(resource, name, namespace);
  async function remove(resource: Resource, name: string): Promise<void> {
    const args = ["delete", resource.plural, name, "-n", namespace, "--wait=false", "--ignore-not-found"];
    await cluster().kubectl(args);
  }
  const ready = async (name: string) => conditionOf(asBag((await get(claims, name))?.status)?.conditions, "Ready");
  async function given(): Promise<Record<string, unknown>> {
    const all = await kube.list<KubeObject & Bag>(addresses, { namespace });
    return Object.fromEntries(all.map(({ metadata, spec }) => [metadata.name, asBag(spec)?.address]));
  }
  const seconds = 1000;
  async function until(
    what: () => Promise<unknown>,
    expected: unknown,
    limit = 20 * seconds,
    pause = 50,
  ): Promise<void> {
    const end = Date.now() + limit;
    let found = await what();
    while (JSON.stringify(found) !== JSON.stringify(expected) && Date.now() < end) {
      await sleep(pause);
      found = await what();
    }
    expect(found).toEqual(expected);
  }

  afterEach(async () => {
    await provided(async () => {
      for (const one of await kube.list<Any>(clusters, { namespace })) await kube.delete(clusters, one);
      await cluster().kubectl(["delete", claims.plural, "--all", "-n", namespace, "--wait=false"]);
      await until(async () => (await kube.list(claims, { namespace })).length, 0, 60 * seconds, 500);
      await cluster().kubectl(["delete", pools.plural, "--all", "--wait=false"]);
      await until(async () => (await kube.list(pools)).length, 0, 60 * seconds);
    });
    // The pools are gone, but the record holds their addresses back for a while.
    await cluster().kubectl(["delete", "configmaps", "--all", "-n", "nodeippool"]);
  }, 120_000);

  it("an IPAddress has the claim's name and spec, no label of another manager, is owned by claim and pool, and is protected; the claim refers to it", async () => {
    await pool("p", "10.0.0.9", "10.0.0.0/24", "10.0.0.254");
    await provided(async () => {
      const asked = await claim("a", {}, { labels: { "app.kubernetes.io/instance": "app" } });
      await until(given, { a: "10.0.0.1" });
      await until(async () => asBag((await get(claims, "a"))?.status)?.addressRef, { name: "a" });
      expect(await ready("a")).toMatchObject({ status: "True" });
      const { metadata, spec } = (await get(addresses, "a")) as Any;
      expect(spec).toEqual({
        address: "10.0.0.1",
        prefix: 24,
        gateway: "10.0.0.254",
        claimRef: { name: "a" },
        poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "p" },
      });
      const owners = (metadata as Bag).ownerReferences as Bag[];
      expect(
        owners.map(({ kind, uid, controller, blockOwnerDeletion }) => [kind, uid, controller, blockOwnerDeletion]),
      ).toEqual([
        ["IPAddressClaim", asked.metadata.uid, true, true],
        ["NodeIPPool", (await kube.get(pools, "p"))?.metadata.uid, false, true],
      ]);
      expect([metadata.labels, (metadata as Bag).finalizers]).toEqual([managedBy, ["nmstate.io/protect-address"]]);
      await until(async () => asBag((await get(claims, "a"))?.metadata)?.finalizers, ["nmstate.io/release-address"]);
      // By mistake: it stays.
      await remove(addresses, "a");
      await sleep(seconds);
      expect(await given()).toEqual({ a: "10.0.0.1" });
    });
  });

  it("a claim on another provider's pool of the same name is left alone", async () => {
    await pool("p", "10.0.0.9");
    await provided(async () => {
      await claim("theirs", { poolRef: { apiGroup: "ipam.metal3.io", kind: "IPPool", name: "p" } });
      await claim("ours");
      await until(given, { ours: "10.0.0.1" });
      const theirs = await get(claims, "theirs");
      expect([theirs?.status, asBag(theirs?.metadata)?.finalizers]).toEqual([undefined, undefined]);
    });
  });

  it("a paused cluster, or one that is not there, gets nothing and loses nothing", async () => {
    await pool("p", "10.0.0.9");
    const isPaused = (paused: boolean) =>
      kube.apply(
        clusters,
        {
          apiVersion: clusters.apiVersion,
          kind: "Cluster",
          metadata: { name: "c", namespace },
          spec: { paused, controlPlaneEndpoint: { host: "10.0.0.200", port: 6443 } },
        } as KubeObject,
        { manager: "tests", force: true },
      );
    await provided(async () => {
      await claim("a", { clusterName: "c" });
      await sleep(seconds);
      expect(await given()).toEqual({});
      await isPaused(false);
      await until(given, { a: "10.0.0.1" });
      await isPaused(true);
      await sleep(seconds);
      await claim("b", { clusterName: "c" });
      await remove(claims, "a");
      await sleep(8 * seconds);
      expect([await given(), (await get(claims, "a"))?.metadata.name]).toEqual([{ a: "10.0.0.1" }, "a"]);
      await isPaused(false);
      await until(given, { b: "10.0.0.2" });
      await until(() => get(claims, "a"), undefined);
    });
  });

  it("a claim that found the pool full is served once an address is back, without being made anew", async () => {
    await pool("p", "10.0.0.1");
    await provided(async () => {
      await claim("a");
      await until(given, { a: "10.0.0.1" });
      await claim("b");
      await until(async () => (await ready("b"))?.reason, "PoolExhausted");
      await remove(claims, "a");
      await until(given, { b: "10.0.0.1" });
      await until(async () => (await ready("b"))?.status, "True");
    });
  });

  it("a claim that is deleted right after it was made leaves no address behind", async () => {
    await pool("p", "10.0.0.9");
    await provided(async () => {
      for (let i = 0; i < 20; i++) {
        await claim(`brief-${i}`);
        await sleep(i * 10);
        await remove(claims, `brief-${i}`);
      }
      const used = async () => asBag((await kube.get<KubeObject & Bag>(pools, "p"))?.status)?.allocated;
      await until(
        async () => [await given(), (await kube.list(claims, { namespace })).length, await used()],
        [{}, 0, 0],
      );
    });
  });

  it("an IPAddress that is there before its claim is known is kept, however it is spelled, and given to nobody else", async () => {
    await pool("v6", "2001:db8::f", "2001:db8::/64");
    const poolRef = { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "v6" };
    await kube.create(addresses, {
      apiVersion: addresses.apiVersion,
      kind: "IPAddress",
      metadata: { name: "moved", namespace, labels: managedBy },
      spec: { claimRef: { name: "moved" }, poolRef, address: "2001:db8:0::0001", prefix: 64 },
    } as KubeObject);
    await claim("other", { poolRef });
    await claim("moved", { poolRef });
    await provided(async () => {
      await until(async () => (await given()).other, "2001:db8::2");
      await until(async () => (await ready("moved"))?.status, "True");
    });
  });

  it("speaks v1beta1, too, where Cluster API is older", async () => {
    await pool("p", "10.0.0.9");
    await provided(async () => {
      await claim("a");
      await until(given, { a: "10.0.0.1" });
      await until(async () => (await ready("a"))?.status, "True");
    }, "v1beta1");
  });

  const count = tries(40, 1000);

  it(`${count} claims at once with two controllers: each gets an address, none two`, async () => {
    await pool("p", "10.0.7.254", "10.0.0.0/21");
    await provided(() =>
      provided(async () => {
        const names = Array.from({ length: count }, (_, i) => `c${i}`);
        const one = async () => {
          for (let next = names.pop(); next !== undefined; next = names.pop()) await claim(next);
        };
        await Promise.all(Array.from({ length: 16 }, one));
        await until(async () => Object.keys(await given()).length, count, 90 * seconds, 500);
        expect(new Set(Object.values(await given())).size).toBe(count);
        const hasRef = ({ status }: Any) => asBag(status)?.addressRef !== undefined;
        const served = async () => (await kube.list<Any>(claims, { namespace })).filter(hasRef).length;
        await until(served, count, 60 * seconds, 500);
      }),
    );
  }, 240_000);
});

/** The server holds them against the kinds of Cluster API and Metal3, where every field must be known. */
describe("the objects of bare-metal hosts, on a real API server", () => {
  /** Of Metal3's provider, v1beta2 is in no module. */
  const isServed = ({ apiVersion }: RenderedObject) => apiVersion !== "infrastructure.cluster.x-k8s.io/v1beta2";
  const kubeadmConfig =
    "{users: [{name: admin}], joinConfiguration: {nodeRegistration: {name: '{{ ds.meta_data.name }}'}}}";
  const machines = (apiVersion: ClusterApiVersion, network: string) => {
    const image = `{url: "http://i", checksum: "http://c", ${apiVersion === "v1beta1" ? "format" : "diskFormat"}: raw}`;
    return `{mode: machines, name: blue, version: v1.36.3, apiVersion: ${apiVersion}, network: ${network}, image: ${image}, kubeadmConfig: ${kubeadmConfig}}`;
  };
  const ofMachines = { KubeadmConfig: 20, Machine: 20 };
  const rows: [section: string, kinds: Readonly<Record<string, number>>][] = [
    ["{name: blue}", { Secret: 20, BareMetalHost: 20 }],
    ["{name: blue, apiVersion: v1beta1}", { Metal3DataTemplate: 3, Secret: 20, BareMetalHost: 20 }],
    [machines("v1beta2", "network-data"), { Secret: 20, ...ofMachines, BareMetalHost: 20 }],
    [machines("v1beta2", "os-net-config"), { Secret: 3, ...ofMachines, BareMetalHost: 20 }],
    [machines("v1beta1", "network-data"), { Secret: 20, ...ofMachines, Metal3Machine: 20, BareMetalHost: 20 }],
    [machines("v1beta1", "os-net-config"), { Secret: 3, ...ofMachines, Metal3Machine: 20, BareMetalHost: 20 }],
    ["{mode: pools, name: blue}", { IPPool: 4, Metal3DataTemplate: 3, BareMetalHost: 20 }],
  ];

  it.each(rows)("%s", async (section, kinds) => {
    // Options of a bond are in that template since v1.11, which is in no module either.
    const rack = section.includes("pools")
      ? exampleText("rack.yaml").replaceAll(" miimon=100", "")
      : exampleText("rack.yaml");
    const infra = infraOf(`cluster: ${section}\n${rack}`);
    const objects = objectsOfInfra(infra, infra.cluster).filter(isServed);
    const counts = [...Map.groupBy(objects, ({ kind }) => kind)].map(([kind, { length }]) => [kind, length]);
    expect(Object.fromEntries(counts)).toEqual(kinds);
    const apply = (all: readonly object[]) =>
      cluster().kubectl(["apply", "--dry-run=server", "-n", namespace, "-f", "-"], joinDocuments(yamlOfEach(all)));
    const applied = await apply(objects);
    expect(applied.match(/ created \(server dry run\)$/gm)).toHaveLength(objects.length);
    const one = [...Map.groupBy(objects, ({ kind }) => kind).values()].map(
      ([object]) => object as RenderedObject & Bag,
    );
    const strange = one.map((object) =>
      "spec" in object ? { ...object, spec: { ...asBag(object.spec), strange: 1 } } : { ...object, strange: 1 },
    );
    const refused = await apply(strange).then(String, String);
    expect(refused.match(/unknown field "(spec\.)?strange"/g)).toHaveLength(one.length);
  });
});
