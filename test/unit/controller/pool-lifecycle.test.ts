import { describe, expect, it } from "vitest";
import { poolFinalizer as finalizer } from "../../../controller/write/writer.ts";
import { formatAddress } from "../../../core/index.ts";
import { childLabels } from "../../../schema/node.ts";
import { resetAnnotation } from "../../../schema/node-ip-pool.ts";
import { asBag, type Bag, conditionOf } from "../../../schema/objects.ts";
import { policy, pool } from "../../support/objects/controller-objects.ts";
import { addressClaim, ownersLines, PoolOwners } from "../../support/objects/pool-owners.ts";
import { SimController } from "../../support/sim/controller.ts";

/** A controller with pool `p` of ten addresses, policy `a`, and these nodes. */
async function begin(nodes: readonly string[] = ["n1", "n2"], more: Bag = {}) {
  const sim = new SimController();
  const make = (last = 10) => {
    const { spec, ...rest } = pool("p", 0, last);
    sim.create({ ...rest, spec: { ...asBag(spec), ...more } } as never);
  };
  make();
  sim.create(policy("a", "p") as never);
  for (const name of nodes) sim.node(name);
  await sim.pass(2000);
  const there = () => sim.object("NodeIPPool", "p");
  const list = ({ allocations, releasing } = sim.record) =>
    [...allocations, ...releasing.map((line) => ({ ...line, claim: `${line.claim} releasing` }))].map(
      ({ address, claim }) => `${formatAddress(address)} ${claim.replace("Node/", "").replace("/a/address", "")}`,
    );
  const reason = () => conditionOf(asBag(there()?.status)?.conditions, "Available")?.reason;
  const annotate = (kind: string, name: string, value: string) =>
    sim.change(kind, name, (one) => ({
      ...one,
      metadata: { ...asBag(one.metadata), annotations: { [resetAnnotation]: value } },
    }));
  const force = () =>
    sim.change("NodeIPPool", "p", (one) => ({
      ...one,
      metadata: { ...asBag(one.metadata), deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [] },
    }));
  return { sim, make, there, list, reason, annotate, force };
}

/** What a node reports: NIC eth1, with these addresses. */
function report(node: string, ...ips: string[]) {
  const ipv4 = { enabled: true, dhcp: false, address: ips.map((ip) => ({ ip, "prefix-length": 24 })) };
  const interfaces = [{ name: "eth1", type: "ethernet", state: "up", ipv4 }];
  const status = { currentState: { interfaces }, lastSuccessfulUpdateTime: "2026-01-01T00:00:00Z" };
  return { apiVersion: "nmstate.io/v1beta1", kind: "NodeNetworkState", metadata: { name: node }, status };
}

describe("a pool in use", () => {
  it("is not deleted until nothing of it is on record", async () => {
    const { sim, there, list, reason } = await begin();
    expect(asBag(there()?.metadata)?.finalizers).toEqual([finalizer]);
    sim.remove("NodeIPPool", "p");
    await sim.pass(2000);
    expect([reason(), list()]).toEqual(["Terminating", ["10.0.0.1 n1", "10.0.0.2 n2"]]);
    sim.remove("Node", "n1");
    await sim.pass(40_000);
    expect([reason(), list()]).toEqual(["Terminating", ["10.0.0.2 n2"]]);
    sim.remove("Node", "n2");
    await sim.pass(40_000);
    expect([there(), list()]).toEqual([undefined, []]);
  });

  it("that is made anew with a larger range gives each what it had, and who waited is served", async () => {
    const { sim, make, list, force } = await begin(["n1", "n2", "n3"]);
    force();
    await sim.pass(2000);
    sim.remove("Node", "n1");
    await sim.pass(60_000);
    expect(list()).toEqual(["10.0.0.1 n1", "10.0.0.2 n2", "10.0.0.3 n3"]);
    make(2);
    sim.node("n4");
    sim.node("n5");
    await sim.pass(2000);
    force();
    make(20);
    await sim.pass(60_000);
    expect(list()).toEqual(["10.0.0.2 n2", "10.0.0.3 n3", "10.0.0.4 n4", "10.0.0.5 n5"]);
  });

  it("that retains keeps addresses of nodes that are gone, also while it is made anew", async () => {
    const { sim, make, list, force } = await begin(["n1", "n2"], { reclaimPolicy: "Retain" });
    sim.remove("Node", "n1");
    await sim.pass(60_000);
    force();
    await sim.pass(60_000);
    make(20);
    sim.node("n3");
    await sim.pass(60_000);
    sim.node("n1");
    await sim.pass(2000);
    expect(list()).toEqual(["10.0.0.1 n1", "10.0.0.2 n2", "10.0.0.3 n3"]);
  });
});

describe("a pool that retains addresses", () => {
  it("keeps those of owners of each kind for their return, and frees them once it no longer retains", async () => {
    const all = await PoolOwners.begin();
    all.setSpec({ reclaimPolicy: "Retain" });
    await all.pass(1000);
    const leave = async () => {
      for (const name of ["n1", "n2"]) all.removeNode(name);
      all.removeClaims();
      await all.pass(40_000);
    };
    await leave();
    expect(all.objects().filter((one) => !one.startsWith("a {"))).toEqual([]);
    all.restart();
    all.sim.create(addressClaim("late"));
    await all.pass(40_000);
    const late = "10.0.0.7 IPAddressClaim/default:late/address";
    expect(all.sim.lines()).toEqual([...ownersLines, late]);
    for (const name of ["n1", "n2"]) all.sim.node(name);
    await all.createClaims();
    expect(all.sim.lines()).toEqual([...ownersLines, late]);
    expect(all.objects()).toContain("c 10.0.0.3");
    await leave();
    all.setSpec({ reclaimPolicy: "Delete" });
    await all.pass(60_000);
    expect(all.sim.lines()).toEqual([late]);
  });
});

describe("an address that its node has taken off", () => {
  it.each([
    ["is free", false, []],
    [
      "is not free where another controller gave it back, and the watch does not show that yet",
      true,
      ["10.0.0.1 n1 releasing"],
    ],
  ])("%s", async (_, isBack, left) => {
    const { sim, list } = await begin(["n1"]);
    sim.remove("NodeNetworkConfigurationPolicy", "a");
    await sim.pass(2000);
    sim.create(report("n1") as never);
    sim.enact("a--n1", "n1", "Available");
    await sim.pass(2000);
    expect(list()).toEqual(["10.0.0.1 n1 releasing"]);
    sim.isFrozen = true;
    if (isBack)
      sim.change("NodeNetworkConfigurationPolicy", "a--n1", (one) => ({ ...one, spec: { desiredState: {} } }));
    await sim.pass(60_000);
    expect(list()).toEqual(left);
  });
});

describe("a kind that is not served", () => {
  it.each(["NodeNetworkConfigurationPolicy", "NodeNetworkState"])("%s: nothing is released", async (missing) => {
    const { sim } = await begin();
    const served = ["Node", "NodeIPPool", "NodeNetworkConfigurationPolicy", "NodeNetworkState"];
    const kinds = [...served, "NodeNetworkConfigurationEnactment"].filter((kind) => kind !== missing);
    const next = new SimController(undefined, undefined, kinds);
    next.record = sim.record;
    next.create(pool("p", 0, 10) as never);
    next.node("n1");
    await next.pass(60_000);
    expect(next.record).toEqual(sim.record);
    next.cache.replace(`${missing}.nmstate.io`, []);
    await next.pass(60_000);
    // Node n2 is gone, and nobody asks for n1 any more.
    const left = [...next.record.allocations, ...next.record.releasing].map(({ claim }) => claim);
    expect(left).toEqual(["Node/n1/a/address"]);
  });
});

describe("a pool that a plan allocates", () => {
  it("gives of its clusterRange to nodes for which the plan has no policy", async () => {
    const range = { authority: "Plan", clusterRange: { start: "10.0.0.5", end: "10.0.0.9" } };
    const { sim, list } = await begin([], range);
    const metadata = { name: "a--n1", labels: { [childLabels.policy]: "a", [childLabels.node]: "n1" } };
    sim.create({ ...policy("a--n1", "p"), metadata, spec: { desiredState: {} } } as never);
    await sim.pass(1000);
    for (const name of ["n1", "n2"]) sim.node(name);
    await sim.pass(2000);
    expect(list()).toEqual(["10.0.0.5 n2"]);
    sim.remove("NodeNetworkConfigurationPolicy", "a--n1");
    sim.node("n3");
    await sim.pass(2000);
    expect(list()).toEqual(["10.0.0.5 n2", "10.0.0.6 n1", "10.0.0.7 n3"]);
  });
});

describe("a reset", () => {
  /** Nodes n1 and n2 have lost their policy, and nobody proves that n1 has its address no more; n2 shows its own. */
  async function doubtful() {
    const all = await begin();
    all.sim.create(report("n1") as never);
    all.sim.create(report("n2", "10.0.0.2") as never);
    all.sim.remove("NodeNetworkConfigurationPolicy", "a");
    await all.sim.pass(60_000);
    const both = ["10.0.0.1 n1 releasing", "10.0.0.2 n2 releasing"];
    expect(all.list()).toEqual(both);
    // Else a node would be on its way to take its address off.
    for (const node of ["n1", "n2"]) all.sim.enact(`a--${node}`, node, "Failing");
    await all.sim.pass(60_000);
    expect(all.list()).toEqual(both);
    return all;
  }

  it("of a pool frees what nodes do not show, and says so meanwhile", async () => {
    const { sim, there, list, reason, annotate } = await doubtful();
    annotate("NodeIPPool", "p", "");
    await sim.pass(1000);
    const reasons = sim.statuses("NodeIPPool", "p").map((status) => conditionOf(status?.conditions, "Available"));
    expect(reasons.find((one) => one?.reason === "ReconcilingPool")?.status).toBe("Unknown");
    await sim.pass(30_000);
    expect([reason(), list()]).toEqual(["ReconciledPool", ["10.0.0.2 n2 releasing"]]);
    expect(there()?.metadata.annotations).toEqual({});
  });

  it("frees nothing before it was held, though the controller has just begun", async () => {
    const { sim, list, reason, annotate } = await begin();
    sim.create(report("n1") as never);
    sim.remove("NodeNetworkConfigurationPolicy", "a");
    await sim.pass(500);
    sim.enact("a--n1", "n1", "Failing");
    annotate("NodeIPPool", "p", "");
    await sim.pass(10_000);
    expect([reason(), list()]).toEqual(["ReconcilingPool", ["10.0.0.1 n1 releasing", "10.0.0.2 n2 releasing"]]);
    await sim.pass(30_000);
    expect([reason(), list()]).toEqual(["ReconciledPool", ["10.0.0.2 n2 releasing"]]);
  });

  it("by an enactment is about its node", async () => {
    const { sim, list, annotate } = await doubtful();
    annotate("NodeNetworkConfigurationEnactment", "n2.a--n2", "p");
    await sim.pass(10_000);
    expect(list()).toEqual(["10.0.0.1 n1 releasing", "10.0.0.2 n2 releasing"]);
    annotate("NodeNetworkConfigurationEnactment", "n1.a--n1", "p");
    await sim.pass(30_000);
    expect(list()).toEqual(["10.0.0.2 n2 releasing"]);
  });

  it("by a policy is about what it gave, and keeps what nodes have", async () => {
    const { sim, list, reason, annotate } = await begin();
    annotate("NodeNetworkConfigurationPolicy", "a", "p");
    await sim.pass(10_000);
    expect([reason(), list()]).toEqual(["ReconciledPool", ["10.0.0.1 n1", "10.0.0.2 n2"]]);
    const annotations = sim.all("NodeNetworkConfigurationPolicy").map(({ metadata }) => metadata.annotations ?? {});
    expect(annotations.filter((one) => resetAnnotation in one)).toEqual([]);
  });

  it("by an emptied list of offsets fills it again", async () => {
    const { sim, there, list } = await doubtful();
    sim.node("n3");
    sim.create(policy("a", "p", "eth1", { nodeSelector: { "kubernetes.io/hostname": "n3" } }) as never);
    await sim.pass(2000);
    sim.change("NodeIPPool", "p", (one) => ({ ...one, status: { ...asBag(one.status), "allocated-offsets": [] } }));
    await sim.pass(30_000);
    expect(list()).toEqual(["10.0.0.3 n3", "10.0.0.2 n2 releasing"]);
    expect(asBag(there()?.status)?.["allocated-offsets"]).toEqual([2]);
  });

  it("by an emptied list comes to an end, also where the pool says already that it is being rebuilt", async () => {
    const sim = new SimController();
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    sim.create(policy("a", "p") as never);
    sim.node("n1");
    await sim.pass(3000);
    sim.change("NodeIPPool", "p", (one) => {
      const conditions = [{ type: "Available", status: "Unknown", reason: "ReconcilingPool", message: "" }];
      return { ...one, status: { ...asBag(one.status), conditions, "allocated-offsets": [] } };
    });
    await sim.pass(10_000);
    const before = sim.server.events.length;
    await sim.pass(60_000);
    expect(sim.server.events.length).toBe(before);
    expect(asBag(sim.object("NodeIPPool", "p")?.status)?.["allocated-offsets"]).toEqual([0]);
  });

  it("is not asked for by whoever gives a pool another range and puts it back", async () => {
    const { sim, list } = await doubtful();
    const { spec } = sim.object("NodeIPPool", "p") as Bag;
    sim.node("n3");
    sim.create(policy("a", "p", "eth1", { nodeSelector: { "kubernetes.io/hostname": "n3" } }) as never);
    await sim.pass(2000);
    sim.change("NodeIPPool", "p", (one) => ({ ...one, spec: pool("p", 7, 10).spec }));
    await sim.pass(3000);
    sim.change("NodeIPPool", "p", (one) => ({ ...one, spec }));
    await sim.pass(60_000);
    expect(list()).toEqual(["10.0.0.3 n3", "10.0.0.1 n1 releasing", "10.0.0.2 n2 releasing"]);
  });

  it.each([
    ["another pool", "pp", "there is no NodeIPPool pp; did you mean p?"],
    ["no pool", "", "needs the name of a NodeIPPool here"],
  ])("of %s does nothing and says so", async (_, value, message) => {
    const { sim, annotate } = await begin();
    annotate("NodeNetworkConfigurationPolicy", "a", value);
    await sim.pass(2000);
    expect(sim.said.at(-1)).toContain("NodeNetworkConfigurationPolicy.nmstate.io/a InvalidReset");
    expect(sim.said.at(-1)).toContain(message);
  });
});
