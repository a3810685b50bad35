import { describe, expect, it } from "vitest";
import { emptySnapshot, formatBlock } from "../../../core/index.ts";
import { capi } from "../../../integrations/capi/in-cluster.ts";
import { nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";
import { slicesInCluster } from "../../../integrations/whereabouts/in-cluster.ts";
import { asBag, asList } from "../../../schema/objects.ts";
import { policy, policyOfTwo } from "../../support/objects/controller-objects.ts";
import { attachment } from "../../support/objects/whereabouts-objects.ts";
import { SimController } from "../../support/sim/controller.ts";

const nodeIPPool = { apiVersion: "nmstate.io/v1", kind: "NodeIPPool" };
const capiClaim = (name: string) => ({
  apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
  kind: "IPAddressClaim",
  metadata: { name, namespace: "metal3" },
  spec: { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "p" } },
});
const stateOf = (sim: SimController) => ({
  lines: sim.record.allocations.map((line) => `${formatBlock(line)} ${line.claim}`),
  listed: asList(asBag(sim.object("NodeSlicePool", "net")?.status)?.allocations).map((one) => JSON.stringify(one)),
  addresses: sim.all("IPAddress").map(({ metadata, spec }) => `${metadata.name} ${asBag(spec)?.address}`),
});
async function begin() {
  const sim = new SimController(undefined, undefined, undefined, [
    nmstateInCluster,
    capi("v1beta2"),
    slicesInCluster("kube-system"),
  ]);
  sim.pool("p", "10.0.0.0/24", "10.0.0.20");
  sim.create(attachment("net", { range: "10.5.0.0/24", node_slice_size: "/28" }) as never);
  for (const name of ["n1", "n2", "n3"]) sim.node(name);
  for (const name of ["x", "y"]) sim.create(capiClaim(name) as never);
  await sim.pass(5000);
  sim.remove("Node", "n1");
  sim.remove("IPAddressClaim", "x", "metal3");
  await sim.pass(60_000);
  return sim;
}

describe("when the record is lost, everybody keeps what it has", () => {
  it.each(["NodeNetworkState.nmstate.io", "IPAddress.ipam.cluster.x-k8s.io", "NodeSlicePool.whereabouts.cni.cncf.io"])(
    "while the watch of %s fails for ten seconds",
    async (kind) => {
      const sim = await begin();
      const before = stateOf(sim);
      sim.cache.follow(kind, false);
      sim.record = emptySnapshot;
      sim.engine.resync();
      await sim.pass(10_000);
      sim.cache.follow(kind, true);
      await sim.pass(20_000);
      expect(stateOf(sim)).toEqual(before);
    },
  );

  it("and the next thing that happens is an edit of a NodeSlicePool", async () => {
    const sim = await begin();
    const before = stateOf(sim);
    sim.record = emptySnapshot;
    sim.change(
      "NodeSlicePool",
      "net",
      (one) => ({ ...one, spec: { ...asBag(one.spec), sliceSize: "/27" } }),
      "kube-system",
    );
    await sim.pass(3000);
    sim.engine.resync();
    await sim.pass(20_000);
    const { listed, lines } = stateOf(sim);
    expect([listed, lines]).toEqual([before.listed, before.lines]);
  });

  it.each(["n1", "other"])("and a backup brings its policy back without its owner: host name %s", async (hostname) => {
    const sim = new SimController();
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    sim.create(policy("a", "p") as never);
    sim.node("n0");
    sim.node("n1", { role: "worker", "kubernetes.io/hostname": hostname });
    await sim.pass(3000);
    sim.enact("a--n0", "n0", "Available");
    await sim.pass(3000);
    sim.remove("Node", "n0");
    await sim.pass(60_000);
    sim.shows("n1", "10.0.0.2");
    await sim.pass(3000);
    const before = sim.lines();
    expect(before).toEqual(["10.0.0.2 Node/n1/a/address"]);
    sim.record = emptySnapshot;
    sim.change("NodeNetworkConfigurationPolicy", "a--n1", (one) => {
      const { ownerReferences: _, ...metadata } = asBag(one.metadata) ?? {};
      return { ...one, metadata };
    });
    sim.engine.resync();
    await sim.pass(20_000);
    expect(sim.lines()).toEqual(before);
  });

  it.each([true, false])(
    "and the address of a node is reserved for another one: the node reports it %s",
    async (has) => {
      const sim = new SimController();
      sim.pool("p", "10.0.0.0/24", "10.0.0.9");
      sim.create(policy("a", "p") as never);
      for (const name of ["n0", "n1"]) sim.node(name);
      await sim.pass(3000);
      sim.enact("a--n0", "n0", "Available");
      await sim.pass(3000);
      sim.remove("Node", "n0");
      await sim.pass(60_000);
      if (has) sim.shows("n1", "10.0.0.2");
      const reserve = (reservations: readonly object[]) =>
        sim.change("NodeIPPool", "p", (one) => ({ ...one, spec: { ...asBag(one.spec), reservations } }));
      reserve([{ address: "10.0.0.2", owner: "Node/n7" }]);
      sim.node("n7");
      await sim.pass(3000);
      const before = sim.lines();
      expect(before).toEqual(["10.0.0.2 Node/n1/a/address"]);
      sim.record = emptySnapshot;
      sim.engine.resync();
      await sim.pass(30_000);
      expect(sim.lines()).toEqual([]);
      expect(sim.object("NodeNetworkConfigurationPolicy", "a--n1")).toBeDefined();
      expect(sim.engine.allocator.pending.list(() => true).map(({ message }) => message)).toContain(
        "Node/n1 has 10.0.0.2 already, which is reserved for Node/n7. Take that reservation out",
      );
      reserve([]);
      await sim.pass(10_000);
      expect(sim.lines()).toContain(before[0]);
    },
  );

  it("and nothing new is allocated until what an earlier controller has written has arrived", async () => {
    const sim = new SimController();
    const spec = { range: { cidr: "10.0.0.0/24" } };
    const metadata = { name: "p" };
    sim.create({ ...nodeIPPool, metadata, spec, status: { allocated: 2 } });
    sim.create(policy("a", "p") as never);
    for (const name of ["n0", "n1", "n2"]) sim.node(name);
    sim.shows("n0", "10.0.0.2");
    const state = () => [sim.lines(), asBag(sim.object("NodeIPPool", "p")?.status)?.allocated];
    await sim.pass(5000);
    expect(state()).toEqual([["10.0.0.2 Node/n0/a/address"], 2]);
    const conditions = JSON.stringify(asBag(sim.object("NodeIPPool", "p")?.status)?.conditions);
    expect(conditions).toMatch(
      /ReconcilingPool.*Addresses of pool p are gone from the record\. Nothing new .* 15 seconds/,
    );
    expect(sim.said.join("\n")).toContain(
      "NodeIPPool.nmstate.io/p RecordLost: The record of pool p is gone: it had 2 ",
    );
    sim.shows("n1", "10.0.0.1");
    await sim.pass(11_000);
    const lines = ["10.0.0.1 Node/n1/a/address", "10.0.0.2 Node/n0/a/address", "10.0.0.3 Node/n2/a/address"];
    expect(state()).toEqual([lines, 3]);
  });

  it("of one node, another one has its releasing address again at once", async () => {
    const sim = new SimController();
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    sim.create(policy("a", "p") as never);
    for (const name of ["n0", "n1"]) sim.node(name);
    await sim.pass(3000);
    const label = (role: string) =>
      sim.change("Node", "n1", (one) => ({
        ...one,
        metadata: { ...asBag(one.metadata), labels: { role, "kubernetes.io/hostname": "n1" } },
      }));
    label("other");
    await sim.pass(3000);
    expect(sim.lines()).toContain("10.0.0.2 Node/n1/a/address releasing");
    const { allocations, base } = sim.record;
    const others = allocations.filter(({ claim }) => !claim.startsWith("Node/n0/"));
    sim.record = { ...sim.record, allocations: others, base: new Map([...base].map(([pool]) => [pool, "other"])) };
    sim.engine.resync();
    await sim.pass(1000);
    label("worker");
    await sim.pass(3000);
    expect(sim.lines()).toContain("10.0.0.2 Node/n1/a/address");
  });

  it("and a node waits for another pool", async () => {
    const sim = new SimController();
    const all = { maxUnavailable: "100%" };
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    sim.pool("q", "10.0.1.0/24", "10.0.1.1");
    sim.create(policy("a", "p", "eth1", all) as never);
    for (const name of ["n0", "n1"]) sim.node(name);
    await sim.pass(3000);
    for (const [node, ip] of [
      ["n0", "10.0.0.1"],
      ["n1", "10.0.0.2"],
    ] as const) {
      sim.shows(node, ip);
      sim.enact(`a--${node}`, node, "Available");
    }
    sim.create(policy("b", "q", "eth2", all) as never);
    await sim.pass(5000);
    const state = () => [sim.lines(), sim.all("NodeNetworkConfigurationPolicy").map(({ metadata }) => metadata.name)];
    const before = state();
    sim.record = emptySnapshot;
    sim.engine.resync();
    await sim.pass(10_000);
    expect(state()).toEqual(before);
    sim.node("n2");
    await sim.pass(10_000);
    expect(sim.lines().join()).not.toMatch(/10\.0\.0\.2 Node\/(?!n1)/);
    sim.remove("NodeNetworkConfigurationPolicy", "b");
    await sim.pass(10_000);
    expect(sim.lines()).toContain("10.0.0.2 Node/n1/a/address");
  });

  it("of one pool of a policy: a node that joins gets no address of the other one either, until both can give one", async () => {
    const sim = new SimController();
    const spec = { range: { cidr: "10.0.0.0/24" } };
    sim.create({ ...nodeIPPool, metadata: { name: "p" }, spec, status: { allocated: 1 } });
    sim.pool("q", "10.0.1.0/24", "10.0.1.9");
    sim.create(policyOfTwo("a", "p", "q") as never);
    for (const name of ["n0", "n1"]) sim.node(name);
    sim.shows("n0", "10.0.0.2");
    await sim.pass(5000);
    expect(sim.lines()).toEqual(["10.0.0.2 Node/n0/a/address", "10.0.1.1 Node/n0/a/other"]);
    await sim.pass(15_000);
    expect(sim.lines()).toEqual([
      "10.0.0.1 Node/n1/a/address",
      "10.0.0.2 Node/n0/a/address",
      "10.0.1.1 Node/n0/a/other",
      "10.0.1.2 Node/n1/a/other",
    ]);
  });
});
