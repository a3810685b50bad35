import { describe, expect, it } from "vitest";
import { planRelease } from "../../../core/index.ts";
import type { ClusterIntegration } from "../../../integrations/contract/cluster-integration.ts";
import { integrationsInCluster } from "../../../pipeline/integrations.ts";
import { asBag, type Bag, conditionOf } from "../../../schema/objects.ts";
import { policy } from "../../support/objects/controller-objects.ts";
import { macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { attachment } from "../../support/objects/whereabouts-objects.ts";
import { workload } from "../../support/objects/workload-objects.ts";
import type { SimController } from "../../support/sim/controller.ts";
import { simWithMaps } from "../../support/sim/maps.ts";

// What is wrong with one object is said on it, and all others are served as if it were not there.

const integrations: readonly ClusterIntegration[] = integrationsInCluster({ nodeSlices: "kube-system" });

function pool(name: string, cidr: string, range: Bag = {}, spec: Bag = {}) {
  return {
    apiVersion: "nmstate.io/v1",
    kind: "NodeIPPool",
    metadata: { name },
    spec: { range: { cidr, ...range }, ...spec },
  };
}

/** A node with an address of pool `good`, and then one more after something bad was made. */
async function besideGood(...bad: readonly Bag[]) {
  const { sim, edit, others } = simWithMaps(integrations);
  sim.create(pool("good", "10.0.0.0/16", { start: "10.0.1.1", end: "10.0.1.9" }));
  sim.create(pool("other", "10.9.0.0/24"));
  sim.create(policy("a", "good", "eth1", { maxUnavailable: "100%" }) as never);
  sim.create(policy("b", "other", "eth2", { maxUnavailable: "100%" }) as never);
  sim.node("n1");
  await sim.pass(5_000);
  for (const object of bad) sim.create(object as never);
  await sim.pass(5_000);
  sim.node("n2");
  await sim.pass(30_000);
  const available = (name: string) =>
    conditionOf(asBag(sim.object("NodeIPPool", name)?.status)?.conditions, "Available");
  const events = (about: string) =>
    sim.said.filter((said) => said.startsWith(`${about} `)).map((said) => said.slice(about.length + 1));
  return { sim, edit, others, available, events };
}

const served = [
  "10.0.1.1 Node/n1/a/address",
  "10.0.1.2 Node/n2/a/address",
  "10.9.0.1 Node/n1/b/address",
  "10.9.0.2 Node/n2/b/address",
];

describe("a pool that cannot be used beside another one", () => {
  const nested = /overlapping with this one\. .*10\.0\.0\.0\/16.*Delete this pool and make it again with the same cidr/;
  const shared =
    /overlapping with this one\. They share addresses\. Delete this pool and make it again with a range of its own, or with another spec\.network/;

  it.each<[string, Bag, RegExp]>([
    ["lies in its cidr, with a range of its own", pool("bad", "10.0.0.0/24"), nested],
    [
      "is around its cidr, with a range of its own",
      pool("bad", "10.0.0.0/8", { start: "10.3.0.1", end: "10.3.0.9" }),
      nested,
    ],
    ["shares addresses", pool("bad", "10.0.0.0/16", { start: "10.0.1.9", end: "10.0.1.20" }), shared],
  ])(
    "%s: the older one gives addresses, the newer one says why not, and all others are served",
    async (_, bad, message) => {
      const { sim, available, events } = await besideGood(bad, policy("c", "bad", "eth3"));
      expect(sim.lines()).toEqual(served);
      expect(available("good")?.reason).toBe("ReconciledPool");
      expect(available("bad")).toMatchObject({ reason: "OverlappingIPPool", message: expect.stringMatching(message) });
      expect(available("bad")?.message).toContain("NodeIPPool good");
      expect(events("NodeIPPool.nmstate.io/bad")).toContainEqual(expect.stringMatching(message));
      expect(events("NodeIPPool.nmstate.io/good")[0]).toContain("NodeIPPool bad is overlapping");
    },
  );

  it("of node slices says why on its network", async () => {
    const net = attachment("net", { range: "10.0.4.0/22", node_slice_size: "/26" });
    const { sim, events } = await besideGood(net);
    expect(sim.lines()).toEqual(served);
    expect(events("NetworkAttachmentDefinition.k8s.cni.cncf.io/default:net")).toContainEqual(
      expect.stringMatching(/NodeIPPool good is overlapping/),
    );
  });

  it.each(["10.5.0.0/24", "10.0.0.0/16"])(
    "of node slices in %s with the name of a NodeIPPool in use says why on its network, and the NodeIPPool goes on",
    async (range) => {
      const { sim, available, events } = await besideGood(attachment("good", { range, node_slice_size: "/28" }));
      expect(sim.lines()).toEqual(served);
      expect(available("good")?.reason).toBe("ReconciledPool");
      expect(events("NetworkAttachmentDefinition.k8s.cni.cncf.io/default:good")).toContainEqual(
        expect.stringMatching(/NodeIPPool good has the name of this one\. Rename this one/),
      );
    },
  );

  it("with the name of node slices in use says why, and they go on", async () => {
    const { sim, available } = await besideGood(attachment("net", { range: "10.5.0.0/24", node_slice_size: "/28" }));
    const given = sim.lines().filter((line) => line.startsWith("10.5."));
    expect(given).toHaveLength(2);
    sim.create(pool("net", "10.5.0.0/24"));
    sim.node("n3");
    await sim.pass(30_000);
    expect(sim.lines().filter((line) => line.startsWith("10.5."))).toEqual([...given, "10.5.0.32/28 Node/n3/net"]);
    expect(available("net")?.message).toMatch(/pool net of .*default\/net has the name of this one\. Rename this one/);
  });

  it("is used once the other one has gone", async () => {
    const { sim, available } = await besideGood(pool("bad", "10.0.0.0/24"));
    sim.remove("NodeNetworkConfigurationPolicy", "a");
    sim.remove("NodeIPPool", "good");
    for (const node of ["n1", "n2"]) sim.remove("Node", node);
    await sim.pass(90_000);
    expect([sim.lines(), available("bad")?.reason]).toEqual([[], "ReconciledPool"]);
  });

  it("because of addresses on record of a pool that was made anew elsewhere says which", async () => {
    const { sim, available } = await besideGood();
    sim.change("NodeIPPool", "good", (one) => ({ ...one, metadata: { ...asBag(one.metadata), finalizers: [] } }));
    sim.remove("NodeIPPool", "good");
    sim.create(pool("bad", "10.0.0.0/24"));
    sim.create(policy("c", "other", "eth3") as never);
    await sim.pass(30_000);
    expect(available("bad")?.message).toMatch(/Addresses of pool good in 10\.0\.0\.0\/16.*are on record.*same cidr/);
    expect(sim.lines().filter((line) => line.includes("/c/"))).toHaveLength(2);
  });
});

describe("a full pool", () => {
  it("of one policy keeps no joining node from the addresses of another policy", async () => {
    const full = pool("full", "10.5.0.0/24", { end: "10.5.0.1" });
    const { sim, available } = await besideGood(full, policy("c", "full", "eth3"));
    expect(sim.lines()).toEqual([served[0], served[1], "10.5.0.1 Node/n1/c/address", ...served.slice(2)]);
    expect(available("full")?.reason).toBe("ExhaustedIPPool");
    const { conditions } = asBag(sim.object("NodeNetworkConfigurationPolicy", "c")?.status) ?? {};
    expect(conditionOf(conditions, "Degraded")?.message).toMatch(/pool full is exhausted/);
  });

  it("of a policy that asks two pools leaves the other pool of it as it is, too", async () => {
    const two = policy("c", "full", "eth3");
    const capture = { address: "ippool.full.allocate", more: "ippool.wide.allocate" };
    const both = { ...two, spec: { ...asBag(two.spec), capture } };
    const pools = [pool("full", "10.5.0.0/24", { end: "10.5.0.1" }), pool("wide", "10.6.0.0/24")];
    const { sim } = await besideGood(...pools, both);
    const given = ["10.5.0.1 Node/n1/c/address", "10.6.0.1 Node/n1/c/more"];
    expect(sim.lines()).toEqual([served[0], served[1], ...given, ...served.slice(2)]);
  });
});

describe("a record that others change", () => {
  const part = "ippool.default.10.0.0.0-16";
  const children = (sim: SimController) =>
    sim
      .all("NodeNetworkConfigurationPolicy")
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.includes("--"));

  it.each<[string, (record: string) => string | undefined, RegExp]>([
    ["has a line out of order", (text) => text.replace(/(- .*n1.*\n)(- .*n2.*\n)/, "$2$1"), /is out of order/],
    ["cannot be read", () => "nothing", /is not a record|Put it back/],
    ["is of another version", (text) => text.replace(/version: \d+/, "version: 99"), /version/],
    ["is gone", () => undefined, /is gone, or has lost its label/],
  ])(
    "and that %s in one subnet: its pools say where, nothing of it changes, and all others are served",
    async (_, change, message) => {
      const { sim, edit, available } = await besideGood();
      let whole = "";
      edit(part, (text) => {
        whole = text;
        expect(change(text)).not.toBe(text);
        return change(text);
      });
      await sim.pass(15_000);
      expect(available("good")).toMatchObject({
        reason: "UnsynchronizedIPPool",
        message: expect.stringMatching(message),
      });
      expect(available("good")?.message).toContain(`ConfigMap net/${part}`);
      expect(available("other")?.reason).toBe("ReconciledPool");
      sim.node("n3");
      sim.remove("Node", "n1");
      await sim.pass(60_000);
      expect(sim.lines().filter((line) => line.startsWith("10.9."))).toEqual([
        "10.9.0.2 Node/n2/b/address",
        "10.9.0.3 Node/n3/b/address",
      ]);
      expect(children(sim)).toEqual(expect.arrayContaining(["a--n2", "b--n2", "b--n3"]));
      if (change("") === undefined) return;
      edit(part, () => whole);
      await sim.pass(60_000);
      expect(available("good")?.reason).toBe("ReconciledPool");
      expect(sim.lines().slice(0, 2)).toEqual(["10.0.1.2 Node/n2/a/address", "10.0.1.3 Node/n3/a/address"]);
    },
  );

  it("is read soon: an address that is moved by hand is told on its pool and its node before the node's policy changes", async () => {
    const { sim, edit, events } = await besideGood();
    const policyOf = (name: string) => JSON.stringify(sim.object("NodeNetworkConfigurationPolicy", name)?.spec);
    const told = () => sim.said.filter((said) => said.includes(" Moved: ")).length;
    const isMoved = () => policyOf("a--n2").includes("10.0.1.9");
    edit(part, (text) => text.replace("10.0.1.2", "10.0.1.9"));
    const orders: boolean[] = [];
    sim.server.events.push = (...all) => {
      if (isMoved()) orders.push(told() > 0);
      return Array.prototype.push.apply(sim.server.events, all);
    };
    await sim.pass(20_000);
    expect([isMoved(), orders[0]]).toEqual([true, true]);
    for (const about of ["NodeIPPool.nmstate.io/good", "Node/n2"])
      expect(events(about)).toContainEqual(
        expect.stringMatching(/^Moved: .*n2 has 10\.0\.1\.9 of pool good .*, not 10\.0\.1\.2\./),
      );
  });

  it("frees a pool that is being deleted, which said what kept it", async () => {
    const { sim, others, available } = await besideGood();
    for (const name of ["n1", "n2"]) sim.shows(name, name === "n1" ? "10.0.1.1" : "10.0.1.2");
    await sim.pass(2_000);
    sim.remove("NodeNetworkConfigurationPolicy", "a");
    sim.remove("NodeIPPool", "good");
    await sim.pass(90_000);
    expect(available("good")?.message).toMatch(/2 addresses that n1, n2 had may still be in use.*release them by name/);
    const record = await others.read();
    await others.commit(planRelease(record, record.releasing));
    await sim.pass(20_000);
    expect(sim.object("NodeIPPool", "good")).toBeUndefined();
  });
});

describe("with hosts and workloads served by one controller", () => {
  it("the ConfigMaps of workloads are made, and concern no host", async () => {
    const { sim } = simWithMaps(integrationsInCluster({ metal3: "default", workloadAddresses: true }));
    sim.create(pool("lan", "10.0.0.0/24"));
    sim.create(macvlanNetwork("red", "lan"));
    sim.create(workload("StatefulSet", "web", { replicas: 2 }));
    await sim.pass(5_000);
    const maps = sim.all("ConfigMap").map(({ data }) => Object.keys(asBag(data) ?? {}));
    expect(maps).toEqual([["web-0", "web-1"]]);
  });
});
