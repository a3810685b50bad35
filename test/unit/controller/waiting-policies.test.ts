import { describe, expect, it } from "vitest";
import { asBag, asList, type Bag, conditionOf } from "../../../schema/objects.ts";
import { policy } from "../../support/objects/controller-objects.ts";
import { SimController } from "../../support/sim/controller.ts";

const kind = "NodeNetworkConfigurationPolicy";

/** Returns the condition of a policy that is True, and its message. */
function standing(sim: SimController, name: string): string {
  const { conditions } = asBag(sim.object(kind, name)?.status) ?? {};
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
      "Degraded: 2/3 nodes get no address (n2, n3): pool p is exhausted. Let the pool grow: a later end, or additionalRanges",
    );
    const told = new Set(sim.said.filter((text) => text.startsWith("Node/")).map((text) => text.split(", which")[0]));
    const expected = ["n2", "n3"].map(
      (name) => `Node/${name} ExhaustedIPPool: This node waits for addresses of NodeIPPool p`,
    );
    expect([...told].sort()).toEqual(expected);
  });

  it("is disabled: the pool, the policy and the node say so, and by which field", async () => {
    const sim = begin();
    sim.change("NodeIPPool", "p", (one) => ({ ...one, spec: { ...asBag(one.spec), disable: true } }));
    sim.create(policy("a", "p", "eth1") as never);
    await sim.pass(20_000);
    const step = "Take spec.disable out of it, or ask another pool.";
    const { conditions, free } = asBag(sim.object("NodeIPPool", "p")?.status) ?? {};
    expect([free, conditionOf(conditions, "Available")?.message]).toEqual([
      "9",
      `The IP pool is disabled: 1 more needed, for n1. ${step}`,
    ]);
    expect(standing(sim, "a")).toMatch(/pool p is disabled. Take spec\.disable out of it, or ask another pool$/);
    const told = `This node waits for addresses of NodeIPPool p, which is disabled. ${step}`;
    expect(sim.said).toContain(`Node/n1 ExhaustedIPPool: ${told}`);
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

describe("a policy whose pool is not in the cluster says so", () => {
  const absent = (name: string, meant = "") =>
    `Degraded: capture address asks for pool ${name}, which is not defined${meant} Create the NodeIPPool, or correct the name. ` +
    "Captures cannot be changed: delete the policy and apply it again";

  it("and which pool was meant; the handlers do not run its captures", async () => {
    const sim = begin();
    sim.create(policy("a", "pp", "eth1") as never);
    await sim.pass(20_000);
    expect(standing(sim, "a")).toBe(absent("pp", "; did you mean p?"));
    expect(asBag(sim.object(kind, "a")?.spec)?.nodeSelector).toHaveProperty("nmstate.io/ippool-template");
    expect(sim.logged).toEqual([]);
  });

  it("until the pool is there", async () => {
    const sim = new SimController();
    sim.node("n1");
    sim.create(policy("a", "p", "eth1") as never);
    await sim.pass(20_000);
    expect(standing(sim, "a")).toBe(absent("p", "."));
    sim.pool("p", "10.0.0.0/24", "10.0.0.9");
    await sim.pass(20_000);
    expect(standing(sim, "a")).toBe(
      "Progressing: Policy is progressing 0/1 nodes finished, waiting for n1 (kubectl get nnce -l nmstate.io/node=n1)",
    );
  });

  it("also once its pool has been deleted, while nodes keep their addresses", async () => {
    const sim = begin();
    sim.create(policy("a", "p", "eth1") as never);
    await sim.pass(20_000);
    sim.remove("NodeIPPool", "p");
    await sim.pass(20_000);
    expect(standing(sim, "a")).toMatch(/The NodeIPPool is being deleted/);
    // Somebody takes its finalizer off.
    sim.change("NodeIPPool", "p", (one) => ({ ...one, metadata: { ...asBag(one.metadata), finalizers: [] } }));
    await sim.pass(20_000);
    expect(sim.object("NodeIPPool", "p")).toBeUndefined();
    expect(standing(sim, "a")).toBe(absent("p", "."));
    expect(sim.object(kind, "a--n1")).toBeDefined();
  });
});

it("a policy that takes addresses only from pools of a plan stays as it is", async () => {
  const sim = begin();
  const spec = { range: { cidr: "10.0.1.0/24" }, authority: "Plan" };
  sim.create({ apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: { name: "q" }, spec });
  sim.create(policy("a", "q", "eth1") as never);
  await sim.pass(20_000);
  const there = sim.object(kind, "a");
  expect(there?.status).toBeUndefined();
  expect(there?.spec).toEqual(policy("a", "q", "eth1").spec);
});

describe("a policy with a misspelt capture says what was meant, and what to do", () => {
  it.each([
    ["ippool.p.alocate", ': did you mean "ippool.p.allocate"?'],
    ["ippool.p", ': write "ippool.POOL.allocate".'],
  ])("%s", async (expression, meant) => {
    const sim = begin();
    const made = policy("a", "p", "eth1");
    sim.create({ ...made, spec: { ...asBag(made.spec), capture: { address: expression } } } as never);
    await sim.pass(20_000);
    expect(standing(sim, "a")).toBe(
      `Degraded: unknown capture "${expression}"${meant} Captures cannot be changed: delete the policy and apply it again`,
    );
  });
});
