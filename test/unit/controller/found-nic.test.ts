import { describe, expect, it } from "vitest";
import { emptySnapshot } from "../../../core/index.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { SimController } from "../../support/sim/controller.ts";

const mac = "02:00:00:00:00:01";
const byCapture = { name: "{{ capture.base.interfaces.0.name }}" };
const byMac = { name: "pub", identifier: "mac-address", "mac-address": mac };

/** A policy for all nodes, whose NIC gets so many addresses of pool p. */
function policyOf(nic: Bag, addresses = 1, name = "a") {
  // Not in the order of their names.
  const captures = Array.from({ length: addresses }, (_, i) => `address${addresses - 1 - i}`);
  const address = captures.map((one) => ({
    ip: `{{ capture.${one}.ip }}`,
    "prefix-length": `{{ capture.${one}.prefix-length }}`,
  }));
  const pools = Object.fromEntries(captures.map((one) => [one, "ippool.p.allocate"]));
  const ipv4 = { enabled: true, dhcp: false, address };
  return {
    apiVersion: "nmstate.io/v1",
    kind: "NodeNetworkConfigurationPolicy",
    metadata: { name },
    spec: {
      nodeSelector: { role: "worker" },
      maxUnavailable: "100%",
      capture: { base: 'interfaces.name == "eth1"', ...pools },
      desiredState: { interfaces: [{ type: "ethernet", state: "up", ipv4, ...nic }] },
    },
  };
}

/** What a node reports of eth1 and eth2. */
function report(name: string, ips: readonly string[], others: readonly string[] = []) {
  const nic = (of: string, addresses: readonly string[]) => {
    const ipv4 = { enabled: true, address: addresses.map((ip) => ({ ip, "prefix-length": 24 })) };
    return { name: of, type: "ethernet", state: "up", ipv4 };
  };
  const interfaces = [{ ...nic("eth1", ips), "permanent-mac-address": mac }, nic("eth2", others)];
  const status = { currentState: { interfaces } };
  return { apiVersion: "nmstate.io/v1beta1", kind: "NodeNetworkState", metadata: { name }, status };
}

function begin(): SimController {
  const sim = new SimController();
  sim.pool("p", "10.0.0.0/24", "10.0.0.20");
  return sim;
}

describe("a node keeps its addresses when the record is lost", () => {
  it.each([
    ["by its name", { name: "eth1" }, 1],
    ["by its name, and has two addresses", { name: "eth1" }, 2],
    ["by a capture", byCapture, 1],
    ["by its MAC address", byMac, 1],
  ])("on a NIC that its policy finds %s", async (_, nic, addresses) => {
    const sim = begin();
    sim.node("m0");
    sim.node("m1");
    sim.create(policyOf(nic, addresses));
    await sim.pass(5000);
    sim.remove("Node", "m0");
    await sim.pass(60_000);
    const before = sim.lines();
    expect(before.length).toBe(addresses);
    sim.create(
      report(
        "m1",
        before.map((line) => line.split(" ")[0] ?? ""),
      ),
    );
    await sim.pass(5000);
    sim.record = emptySnapshot;
    sim.engine.resync();
    await sim.pass(20_000);
    expect(sim.lines()).toEqual(before);
    // Also where nothing is left but what its policy gives it: the NIC may be down.
    sim.remove("NodeNetworkState", "m1");
    sim.record = emptySnapshot;
    sim.engine.resync();
    await sim.pass(20_000);
    expect(sim.lines()).toEqual(before);
    expect(before.join()).not.toContain("10.0.0.1 ");
  });
});

describe("what a node had before it had a policy, which finds its NIC by a capture", () => {
  it("is its own, where there is one address and one claim", async () => {
    const sim = begin();
    sim.node("m1");
    sim.create(report("m1", ["10.0.0.7"]));
    sim.create(policyOf(byCapture));
    await sim.pass(5000);
    expect(sim.lines()).toEqual(["10.0.0.7 Node/m1/a/address0"]);
  });

  it("is not taken from it for another one, where nobody knows which it is", async () => {
    const sim = begin();
    sim.node("m1");
    sim.node("m2");
    sim.create(report("m1", ["10.0.0.7", "10.0.0.8"]));
    sim.create(policyOf(byCapture));
    await sim.pass(5000);
    expect(sim.lines()).toEqual(["10.0.0.1 Node/m2/a/address0"]);
    expect(sim.engine.allocator.pending.list(() => true).map(({ message }) => message)).toEqual([
      "Node/m1 has 10.0.0.7, 10.0.0.8 already, and it is not known for which of its claims. Reserve each for its owner and claim, or without owner if it is for none",
    ]);
  });
});

describe("where nobody knows which address is for which claim, and nothing but its policies shows what a node has", () => {
  it.each([
    ["one policy, two addresses", [policyOf(byCapture, 2)]],
    ["two policies that find their NICs by captures", [policyOf(byCapture), policyOf(byCapture, 1, "b")]],
    ["one that does, and one that names its NIC", [policyOf(byCapture), policyOf({ name: "eth2" }, 1, "b")]],
  ])("nobody else gets it: %s", async (_, policies) => {
    const sim = begin();
    for (const name of ["m0", "m1"]) sim.node(name);
    for (const one of policies) sim.create(one);
    await sim.pass(5000);
    sim.remove("Node", "m0");
    await sim.pass(60_000);
    const made = () => sim.all("NodeNetworkConfigurationPolicy").map(({ metadata }) => metadata.name);
    const [before, policiesBefore] = [sim.lines(), made()];
    sim.record = emptySnapshot;
    sim.engine.resync();
    await sim.pass(20_000);
    for (const name of ["m7", "m8"]) sim.node(name);
    await sim.pass(20_000);
    const had = before.map((line) => line.split(" ")[0]);
    expect(sim.lines().filter((line) => had.includes(line.split(" ")[0]) && !before.includes(line))).toEqual([]);
    expect(sim.lines().filter((line) => line.includes("Node/m1/") && !before.includes(line))).toEqual([]);
    expect(made()).toEqual(expect.arrayContaining(policiesBefore));
  });
});

describe("a node that has one more address on its NIC, or on another one", () => {
  it.each([
    ["its policy is renamed", { name: "eth1" }, []],
    ["its policy makes way for one of the other NIC", { name: "eth2" }, ["10.0.0.7"]],
  ])("is served when %s", async (_, nic, others) => {
    const sim = begin();
    sim.create(policyOf({ name: "eth1" }));
    sim.node("m1");
    await sim.pass(5000);
    sim.create(report("m1", others.length > 0 ? ["10.0.0.1"] : ["10.0.0.1", "10.0.0.7"], others));
    await sim.pass(5000);
    sim.remove("NodeNetworkConfigurationPolicy", "a");
    sim.create(policyOf(nic, 1, "c"));
    await sim.pass(120_000);
    expect(sim.lines().join()).toMatch(/Node\/m1\/c\/address0/);
    expect(sim.record.allocations.map(({ claim }) => claim)).not.toContain("Node/m1/a/address0");
  });

  it.each([[["10.0.0.7"]], [["10.0.0.7", "10.0.0.8"]]])("gets its own back: beside %s", async (more) => {
    const sim = begin();
    sim.create(policyOf({ name: "eth1" }));
    sim.node("m1");
    await sim.pass(3000);
    sim.create(report("m1", ["10.0.0.1", ...more]));
    await sim.pass(3000);
    const label = (labels: Bag) =>
      sim.change("Node", "m1", (one) => ({
        ...one,
        metadata: { ...asBag(one.metadata), labels: { "kubernetes.io/hostname": "m1", ...labels } },
      }));
    label({});
    await sim.pass(3000);
    label({ role: "worker" });
    await sim.pass(20_000);
    expect(sim.lines()).toEqual(["10.0.0.1 Node/m1/a/address0"]);
  });
});
