import { describe, expect, it } from "vitest";
import { managedBy } from "../../../integrations/contract/managed-by.ts";
import { childLabels, ownPrefix } from "../../../schema/node.ts";
import { asBag, asList, type Bag, conditionOf } from "../../../schema/objects.ts";
import { policy, policyOfTwo, pool } from "../../support/objects/controller-objects.ts";
import { SimController } from "../../support/sim/controller.ts";

const kind = "NodeNetworkConfigurationPolicy";

describe("a policy of two pools", () => {
  it.each([
    ["is missing", (_: SimController) => {}, /pool q, which is not defined/],
    [
      "is that of a plan",
      (sim: SimController) =>
        sim.create({
          apiVersion: "nmstate.io/v1",
          kind: "NodeIPPool",
          metadata: { name: "q" },
          spec: { range: { cidr: "10.0.1.0/24" }, authority: "Plan" },
        } as never),
      /pools of authority Plan and Cluster/,
    ],
  ])("of which one %s says so, and is parked", async (_, begin, message) => {
    const sim = new SimController();
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    begin(sim);
    sim.create(policyOfTwo("two", "p", "q") as never);
    await sim.pass(60_000);
    expect(sim.logged).toEqual([]);
    const there = sim.object(kind, "two");
    expect(conditionOf(asBag(there?.status)?.conditions, "Degraded")?.message).toMatch(message);
    expect(asBag(there?.spec)?.nodeSelector).toHaveProperty("nmstate.io/ippool-template");
  });
});

it("a node's policy has our labels, and none that a manager of the parked policy finds its objects by", async () => {
  const sim = new SimController();
  sim.pool("p", "10.0.0.0/24", "10.0.0.9");
  sim.node("n1");
  const labels = { tier: "web", "applyset.kubernetes.io/part-of": "applyset-x-v1" };
  const annotations = {
    note: "x",
    "nmstate.io/webhook-mutating-timestamp": "1",
    [`${ownPrefix}nodes-per-sync-wave`]: "2",
  };
  const parked = policy("a", "p");
  sim.create({ ...parked, metadata: { ...asBag(parked.metadata), labels, annotations } } as never);
  await sim.pass(5000);
  const { labels: own, annotations: marks } = asBag(sim.object(kind, "a--n1")?.metadata) ?? {};
  expect(own).toEqual({ ...managedBy, [childLabels.policy]: "a", [childLabels.node]: "n1" });
  expect(Object.keys(asBag(marks) ?? {})).toEqual([`${ownPrefix}applied-digest`]);
  // Of a webhook that writes the time of each update, the policies of nodes hear nothing.
  const writes = () => sim.requests.filter((one) => !one.startsWith("get")).length;
  const before = writes();
  sim.change(kind, "a", (one) => ({
    ...one,
    metadata: { ...asBag(one.metadata), annotations: { ...annotations, "nmstate.io/webhook-mutating-timestamp": "2" } },
  }));
  await sim.pass(20_000);
  expect(writes()).toBe(before);
});

describe("two policies that set one list of addresses of a NIC", () => {
  const addressesOf = (sim: SimController, name: string) => {
    const [nic] = asList(asBag(asBag(sim.object(kind, name)?.spec)?.desiredState)?.interfaces);
    return asList(asBag(asBag(nic)?.ipv4)?.address).map((one) => asBag(one)?.ip);
  };
  const degradedOf = (sim: SimController, name: string) =>
    conditionOf(asBag(sim.object(kind, name)?.status)?.conditions, "Degraded");
  /** With its addresses of p, as the earlier policy; the later one asks q, and by its name comes first. */
  async function begin(): Promise<SimController> {
    const sim = new SimController();
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    sim.pool("q", "10.0.1.0/24", "10.0.1.9");
    sim.node("n1");
    sim.create(policy("b", "p") as never);
    await sim.pass(3000);
    sim.enact("b--n1", "n1", "Available");
    sim.shows("n1", "10.0.0.1");
    await sim.pass(3000);
    sim.create(policy("a", "q") as never);
    await sim.pass(5000);
    return sim;
  }

  it("the one that has it keeps it, and the other one says why it gets nothing", async () => {
    const sim = await begin();
    expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/b/address"]);
    expect([addressesOf(sim, "b--n1"), addressesOf(sim, "a--n1")]).toEqual([["10.0.0.1"], []]);
    expect(degradedOf(sim, "a")?.message).toMatch(/policies b and a both set the IPv4 addresses of eth1/);
    expect(degradedOf(sim, "b")?.status).toBe("False");
    expect(sim.said.join()).toMatch(/NodeNetworkConfigurationPolicy.nmstate.io\/a Refused: policies b and a/);
  });

  it("says so in one sentence, whenever its nodes came", async () => {
    const sim = new SimController();
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    const nodes = ["n1", "n2", "n3"];
    for (const node of nodes) sim.node(node);
    sim.create(policy("b", "p") as never);
    await sim.pass(3000);
    sim.create(policy("a", "p") as never);
    for (const node of nodes) {
      await sim.pass(3000);
      sim.change("Node", node, (one) => ({ ...one, metadata: { ...asBag(one.metadata), annotations: { seen: "1" } } }));
    }
    await sim.pass(3000);
    expect(degradedOf(sim, "a")?.message).toBe(
      "3/3 nodes get no address (n1, n2, n3): policies b and a both set the IPv4 addresses of eth1; nmstate replaces the whole list",
    );
  });

  it("a third one, for another NIC, is served all the same", async () => {
    const sim = await begin();
    sim.create(policy("c", "p", "eth2") as never);
    await sim.pass(5000);
    expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/b/address", "10.0.0.2 Node/n1/c/address"]);
  });

  it("the other one is served once that has lost it", async () => {
    const sim = await begin();
    sim.remove(kind, "b");
    await sim.pass(3000);
    expect(sim.lines()).toEqual(["10.0.1.1 Node/n1/a/address", "10.0.0.1 Node/n1/b/address releasing"]);
    expect(addressesOf(sim, "a--n1")).toEqual(["10.0.1.1"]);
  });
});

describe("a typo that is mended within seconds", () => {
  const withSpec = (sim: SimController, kindOfIt: string, name: string, more: object) =>
    sim.change(kindOfIt, name, (one) => ({ ...one, spec: { ...asBag(one.spec), ...more } }));
  const range = { cidr: "10.0.0.0/24", start: "10.0.0.1", end: "10.0.0.9" };
  const typos: [string, (sim: SimController) => void, (sim: SimController) => void][] = [
    [
      "in the pool",
      (sim) => withSpec(sim, "NodeIPPool", "p", { range: { cidr: "10.0.0.0/24", end: "10.9.0.0" } }),
      (sim) => withSpec(sim, "NodeIPPool", "p", { range }),
    ],
    [
      "in the policy",
      (sim) => withSpec(sim, kind, "a", { capture: { address: "ippool.pp.allocate" } }),
      (sim) => withSpec(sim, kind, "a", { capture: { address: "ippool.p.allocate" } }),
    ],
  ];
  async function begin(rejectedFor: number, breakIt: (sim: SimController) => void): Promise<SimController> {
    const sim = new SimController();
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    sim.create(policy("a", "p", "eth1", { maxUnavailable: "100%" }) as never);
    for (const name of ["n1", "n2"]) sim.node(name);
    await sim.pass(10_000);
    breakIt(sim);
    await sim.pass(rejectedFor);
    return sim;
  }
  const deleted = (sim: SimController) =>
    sim.server.events.filter(({ type }) => type === "delete").map(({ object }) => object.metadata.name);

  it.each(typos)("%s: no policy of a node is deleted, whatever changes meanwhile", async (_, breakIt, mend) => {
    const sim = await begin(1000, breakIt);
    mend(sim);
    sim.enact("a--n1", "n1", "Available");
    await sim.pass(30_000);
    expect(deleted(sim)).toEqual([]);
    expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/a/address", "10.0.0.2 Node/n2/a/address"]);
  });

  it.each(typos)("%s: a node that the policy no longer selects is served as such then", async (_, breakIt, mend) => {
    const sim = await begin(1000, breakIt);
    sim.change("Node", "n1", (one) => ({
      ...one,
      metadata: { ...asBag(one.metadata), labels: { ...asBag(asBag(one.metadata)?.labels), role: "other" } },
    }));
    await sim.pass(20_000);
    expect(sim.lines()).toContain("10.0.0.1 Node/n1/a/address");
    mend(sim);
    await sim.pass(10_000);
    expect(sim.lines()).toContain("10.0.0.1 Node/n1/a/address releasing");
    expect(sim.object(kind, "a--n2")).toBeDefined();
  });
});

it("a node that moves to another rack loses the routes of the old rack with its address", async () => {
  const sim = new SimController();
  for (const [rack, net] of [
    ["a", 1],
    ["b", 2],
  ] as const) {
    const gateway = `10.0.${net}.254`;
    const one = pool(rack, net, 9);
    sim.create({ ...one, spec: { ...asBag(one.spec), gateway } } as never);
    const own = policy(rack, rack);
    const spec = asBag(own.spec);
    const route = {
      destination: "0.0.0.0/0",
      "next-hop-interface": "eth1",
      "next-hop-address": "{{ capture.address.gateway }}",
    };
    const desiredState = { ...asBag(spec?.desiredState), routes: { config: [route] } };
    sim.create({ ...own, spec: { ...spec, nodeSelector: { rack }, desiredState } } as never);
  }
  sim.node("n1", { rack: "a" });
  await sim.pass(2000);
  sim.change("Node", "n1", (one) => {
    const { labels, ...rest } = asBag(one.metadata) ?? {};
    return { ...one, metadata: { ...rest, labels: { ...asBag(labels), rack: "b" } } };
  });
  const routes = () => asList(asBag(asBag(asBag(sim.object(kind, "b--n1")?.spec)?.desiredState)?.routes)?.config);
  await sim.pass(500);
  expect(sim.lines()).toContain("10.0.1.1 Node/n1/a/address releasing");
  const over = { "next-hop-interface": "eth1" };
  expect(routes()).toEqual([
    { destination: "0.0.0.0/0", ...over, "table-id": 254, state: "absent" },
    { ...over, "next-hop-address": "10.0.1.254", state: "absent" },
    { destination: "0.0.0.0/0", ...over, "next-hop-address": "10.0.2.254", "table-id": 254 },
  ]);
});

describe("a policy that gives its addresses to another NIC", () => {
  /** The policies of n1, each with the names of its NICs. */
  const nicsOf = (sim: SimController) =>
    asList(asBag(asBag(sim.object(kind, "a--n1")?.spec)?.desiredState)?.interfaces).map((nic) => asBag(nic)?.name);
  const degradedOf = (sim: SimController) =>
    conditionOf(asBag(sim.object(kind, "a")?.status)?.conditions, "Degraded")?.message;
  const withNics = (sim: SimController, ...more: object[]) =>
    sim.change(kind, "a", (one) => {
      const spec = asBag(one.spec);
      const [nic] = asList(asBag(spec?.desiredState)?.interfaces);
      return { ...one, spec: { ...spec, desiredState: { interfaces: [{ ...asBag(nic), name: "eth2" }, ...more] } } };
    });

  it("is left as it was while it leaves them on the old NIC, and says so; another policy of the node goes on", async () => {
    const sim = new SimController();
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    sim.pool("q", "10.0.1.0/24", "10.0.1.9");
    sim.node("n1");
    sim.create(policy("a", "p") as never);
    await sim.pass(3000);
    sim.enact("a--n1", "n1", "Available");
    sim.shows("n1", "10.0.0.1");
    withNics(sim);
    sim.create(policy("b", "q", "eth3") as never);
    await sim.pass(60_000);
    expect(degradedOf(sim)).toMatch(/policy a gives the address of eth1 to eth2, and nothing takes it off eth1 \(n1\)/);
    expect(degradedOf(sim)).toContain(
      "Add the old NIC to the policy: {name: eth1, ipv4: {enabled: false}}, or {name: eth1, type: ethernet, state: absent} if nodes no longer have it.",
    );
    expect(nicsOf(sim)).toEqual(["eth1"]);
    expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/a/address", "10.0.1.1 Node/n1/b/address"]);
    withNics(sim, { name: "eth1", ipv4: { enabled: false } });
    await sim.pass(60_000);
    expect(nicsOf(sim)).toEqual(["eth2", "eth1"]);
    withNics(sim);
    await sim.pass(60_000);
    expect(nicsOf(sim)).toEqual(["eth2"]);
  });
});

/** Policy a with DNS servers beside its NIC. */
function withDns(): Bag {
  const { spec, ...a } = policy("a", "p");
  const desiredState = { ...asBag(asBag(spec)?.desiredState), "dns-resolver": { config: { server: ["10.9.9.9"] } } };
  return { ...a, spec: { ...asBag(spec), desiredState } };
}

it("a policy with DNS servers beside its NIC configures half of its nodes at once, though each has two policies", async () => {
  const sim = new SimController();
  sim.pool("p", "10.0.0.0/24", "10.0.0.9");
  for (const name of ["n1", "n2"]) sim.node(name);
  sim.create(withDns() as never);
  await sim.pass(5000);
  expect(sim.all(kind).filter(({ metadata }) => `${metadata.name}`.includes("--"))).toHaveLength(1);
});

it("a policy with DNS servers beside its NIC is available once both policies of each node are", async () => {
  const sim = new SimController();
  sim.pool("p", "10.0.0.0/24", "10.0.0.9");
  sim.node("n1");
  sim.create(withDns() as never);
  await sim.pass(5000);
  const messageOf = (type: string) =>
    conditionOf(asBag(sim.object(kind, "a")?.status)?.conditions, type)?.message ?? "";
  sim.enact("a--n1", "n1", "Available");
  await sim.pass(5000);
  expect(messageOf("Progressing")).toMatch(/^Policy is progressing 0\/1 nodes finished/);
  sim.enact("a.dns--n1", "n1", "Available");
  await sim.pass(5000);
  expect(messageOf("Available")).toBe("1/1 nodes successfully configured");
  sim.remove("Node", "n1");
  await sim.pass(60_000);
  expect(sim.object(kind, "a.dns--n1")).toBeUndefined();
});

describe("a policy that drops a route", () => {
  const over = { "next-hop-interface": "eth1", "table-id": 254 };
  const [first, second] = ["10.8.0.0/16", "10.9.0.0/16"].map((destination) => ({
    destination,
    "next-hop-interface": "eth1",
    "next-hop-address": "10.0.0.254",
  }));
  const withRoutes = (one: object, ...config: object[]) => {
    const spec = asBag((one as Bag).spec);
    return { ...one, spec: { ...spec, desiredState: { ...asBag(spec?.desiredState), routes: { config } } } };
  };
  const removed = (sim: SimController) =>
    asList(asBag(asBag(asBag(sim.object(kind, "a--n1")?.spec)?.desiredState)?.routes)?.config)
      .filter((route) => asBag(route)?.state === "absent")
      .map((route) => asBag(route)?.destination);
  async function begin(): Promise<SimController> {
    const sim = new SimController();
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    sim.node("n1");
    sim.create(withRoutes(policy("a", "p"), first as object, second as object) as never);
    await sim.pass(3000);
    sim.enact("a--n1", "n1", "Available");
    await sim.pass(3000);
    expect(removed(sim)).toEqual(["10.8.0.0/16", "10.9.0.0/16"]);
    return sim;
  }

  it("takes it off its nodes, and says no more of it once they are that far", async () => {
    const sim = await begin();
    sim.change(kind, "a", (one) => withRoutes(one, first as object));
    await sim.pass(60_000);
    expect(removed(sim)).toEqual(["10.8.0.0/16", "10.9.0.0/16"]);
    // Another change meanwhile, before the node has applied this one.
    sim.change(kind, "a", (one) => withRoutes(one, { ...first, "next-hop-address": "10.0.0.253" }));
    await sim.pass(60_000);
    expect(removed(sim)).toEqual(["10.8.0.0/16", "10.9.0.0/16"]);
    const generation = asBag(sim.object(kind, "a--n1")?.metadata)?.generation;
    sim.change("NodeNetworkConfigurationEnactment", "n1.a--n1", (one) => ({
      ...one,
      status: { ...asBag(one.status), policyGeneration: generation },
    }));
    sim.change(kind, "a", (one) => withRoutes(one, first as object));
    await sim.pass(60_000);
    expect(removed(sim)).toEqual(["10.8.0.0/16"]);
  });

  it("leaves it to another policy of the node that has it", async () => {
    const sim = await begin();
    const routes = { config: [{ ...second, ...over }] };
    sim.create({
      ...policy("b", "p"),
      spec: { nodeSelector: { role: "worker" }, desiredState: { routes } },
    } as never);
    sim.change(kind, "a", (one) => withRoutes(one, first as object));
    await sim.pass(60_000);
    expect(removed(sim)).toEqual(["10.8.0.0/16"]);
  });
});

it("whose node somebody's own policy has taken over leaves the NIC to that one", async () => {
  const sim = new SimController();
  sim.pool("p", "10.0.0.0/24", "10.0.0.9");
  sim.node("n1");
  sim.create(policy("a", "p") as never);
  await sim.pass(3000);
  sim.enact("a--n1", "n1", "Available");
  await sim.pass(3000);
  const ipv4 = { enabled: true, dhcp: false, address: [{ ip: "10.0.0.200", "prefix-length": 24 }] };
  sim.create({
    ...policy("own", "p"),
    spec: {
      nodeSelector: { role: "worker" },
      desiredState: { interfaces: [{ name: "eth1", type: "ethernet", state: "up", ipv4 }] },
    },
  } as never);
  sim.remove(kind, "a");
  await sim.pass(60_000);
  expect(sim.object(kind, "a--n1")).toBeUndefined();
  expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/a/address releasing"]);
  sim.remove("NodeNetworkConfigurationEnactment", "n1.a--n1");
  sim.shows("n1", "10.0.0.200");
  await sim.pass(60_000);
  expect(sim.lines()).toEqual([]);
});
