import { describe, expect, it } from "vitest";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { policy } from "../../support/controller-objects.ts";
import { SimController } from "../../support/sim-controller.ts";

/** Returns the condition of a policy that is True, and its message. */
function standing(sim: SimController, name: string): string {
  const { conditions } = asBag(sim.object("NodeNetworkConfigurationPolicy", name)?.status) ?? {};
  const isTrue = asList(conditions)
    .map(asBag)
    .find((one) => one?.status === "True");
  return `${isTrue?.type}: ${isTrue?.message}`;
}

function begin(end = "10.0.0.9"): SimController {
  const sim = new SimController();
  sim.pool("p", "10.0.0.0/24", end);
  sim.node("n1");
  return sim;
}

describe("a policy says why it waits, with the pool's name, where its pool", () => {
  const edit = (change: (object: Bag) => Bag) => (sim: SimController) => sim.change("NodeIPPool", "p", change);
  const terminating = edit((one) => ({
    ...one,
    metadata: { ...asBag(one.metadata), deletionTimestamp: "2026-01-02T00:00:00Z" },
  }));
  const range = edit((one) => ({ ...one, spec: { ...asBag(one.spec), range: { cidr: "10.0.9.0/24" } } }));
  const invalid = edit((one) => ({ ...one, spec: { ...asBag(one.spec), range: { cidr: "10.0.0.0/99" } } }));

  it.each<[string, (sim: SimController) => void, RegExp]>([
    ["is being deleted", terminating, /NodeIPPool p, which allocates nothing now: The NodeIPPool is being deleted\./],
    ["does not fit its record", range, /NodeIPPool p, which allocates nothing now: .*10\.0\./],
    ["cannot be read", invalid, /NodeIPPool p, which allocates nothing now: ./],
  ])("%s", async (_, spoil, expected) => {
    const sim = begin();
    sim.create(policy("a", "p", "eth1") as never);
    await sim.pass(20_000);
    spoil(sim);
    await sim.pass(20_000);
    sim.create(policy("b", "p", "eth2") as never);
    await sim.pass(20_000);
    for (const name of ["a", "b"]) expect(standing(sim, name)).toMatch(expected);
  });

  it("shares addresses with an older one", async () => {
    const sim = begin();
    await sim.pass(5_000);
    const metadata = { name: "q", creationTimestamp: "2027-01-01T00:00:00Z" };
    const spec = { range: { cidr: "10.0.0.0/25" } };
    sim.create({ apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata, spec });
    sim.create(policy("b", "q", "eth2") as never);
    await sim.pass(20_000);
    expect(standing(sim, "b")).toMatch(/^Degraded: .*NodeIPPool q, which allocates nothing now: The NodeIPPool p is /);
  });

  it("is full: with the nodes that wait, each of which is told so, too", async () => {
    const sim = begin("10.0.0.1");
    for (const name of ["n2", "n3"]) sim.node(name);
    sim.create(policy("a", "p", "eth1") as never);
    await sim.pass(20_000);
    expect(standing(sim, "a")).toBe(
      "Degraded: 2/3 nodes get no address (n2, n3): pool p is exhausted: let its spec.range.end grow, or add spec.additionalRanges",
    );
    const told = new Set(sim.said.filter((text) => text.startsWith("Node/")).map((text) => text.split(", which")[0]));
    const expected = ["n2", "n3"].map(
      (name) => `Node/${name} ExhaustedIPPool: This node waits for addresses of NodeIPPool p`,
    );
    expect([...told].sort()).toEqual(expected);
  });
});

it("a policy whose nodes are all NotReady is not Available", async () => {
  const sim = new SimController();
  sim.pool("p", "10.0.0.0/24", "10.0.0.9");
  sim.create({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n1", labels: { role: "worker", "kubernetes.io/hostname": "n1" } },
    status: { conditions: [{ type: "Ready", status: "False" }] },
  });
  sim.create(policy("a", "p", "eth1") as never);
  await sim.pass(20_000);
  expect(standing(sim, "a")).toBe("Ignored: Policy does not match any Ready node, 1 are NotReady");
});
