import { expect, it } from "vitest";
import { cleanups } from "../../../integrations/nmstate/cleanups.ts";
import { whyNotFleet } from "../../../integrations/nmstate/fleet.ts";
import { gates } from "../../../integrations/nmstate/gate.ts";
import { fleetInCluster, nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";
import { asBag, type Bag, conditionOf } from "../../../schema/objects.ts";
import { policy, pool } from "../../support/objects/controller-objects.ts";
import { SimController } from "../../support/sim/controller.ts";
import { SimReconciler } from "../../support/sim/reconciler.ts";

const policyKind = "NodeNetworkConfigurationPolicy";
const enactmentKind = "NodeNetworkConfigurationEnactment";

function begin() {
  const sim = new SimController(undefined, undefined, undefined, [fleetInCluster]);
  for (const name of ["n1", "n2"]) sim.node(name);
  sim.create(pool("p", 1, 9) as never);
  sim.create(policy("a", "p", "eth1", { maxUnavailable: 3 }) as never);
  const captured = (node: string) =>
    /"ip":"([^"]*)"/.exec(
      JSON.stringify(asBag(sim.object(enactmentKind, `${node}.a---fleet`)?.status)?.capturedStates),
    )?.[1];
  const says = (type: string) => conditionOf(asBag(sim.object(policyKind, "a")?.status)?.conditions, type)?.message;
  /** As the handler of a node writes its enactment. */
  const enact = (node: string, ip: string, type = "Available") =>
    sim.change(enactmentKind, `${node}.a---fleet`, (object) => {
      const desiredState = { interfaces: [{ name: "eth1", ipv4: { address: [{ ip }] } }] };
      const capturedStates = { address: { state: desiredState } };
      const conditions = [{ type, status: "True" }];
      const { generation } = asBag(sim.object(policyKind, "a---fleet")?.metadata) ?? {};
      return { ...object, status: { desiredState, capturedStates, conditions, policyGeneration: generation } };
    });
  const cleaning = new SimReconciler(cleanups, sim.server);
  /** As the handler of a node enacts what its enactment has it take off. */
  const cleanUp = async (node: string) => {
    await cleaning.pass(3000);
    const policy = sim.object(policyKind, "a---cleanup");
    sim.change(enactmentKind, `${node}.a---cleanup`, (object) => {
      const { capturedStates } = asBag(object.status) as { capturedStates: { cleanup: { state: Bag } } };
      const { state: desiredState } = capturedStates.cleanup;
      const { generation: policyGeneration } = asBag(policy?.metadata) ?? {};
      const conditions = [{ type: "Available", status: "True" }];
      return { ...object, status: { capturedStates, desiredState, policyGeneration, conditions } };
    });
  };
  return { sim, captured, says, enact, cleanUp, cleaning };
}

it("a policy becomes one policy for all its nodes, and each has an enactment with its address", async () => {
  const { sim, captured, says, enact } = begin();
  await sim.pass(3000);
  const policies = sim.all(policyKind).map(({ metadata }) => metadata.name);
  expect([policies, captured("n1"), captured("n2")]).toEqual([["a", "a---fleet"], "10.0.1.1", "10.0.1.2"]);
  const { spec, metadata } = sim.object(policyKind, "a---fleet") as Bag;
  expect(asBag(metadata)?.ownerReferences).toMatchObject([{ kind: policyKind, name: "a" }]);
  expect(spec).toMatchObject({
    nodeSelector: { role: "worker", "gate.nodeippool.nmstate.io/a": "open" },
    maxUnavailable: 3,
    desiredState: {
      interfaces: [
        {
          ipv4: {
            address: [{ ip: "{{ capture.address.interfaces.0.ipv4.address.0.ip }}", "prefix-length": 24 }],
          },
        },
      ],
    },
  });
  expect(says("Progressing")).toMatch(/0\/2 nodes finished/);
  enact("n1", "10.0.1.1");
  enact("n2", "10.0.1.2");
  await sim.pass(3000);
  expect(says("Available")).toBe("2/2 nodes successfully configured by policy a---fleet");
});

it("an older address that a handler writes over an enactment is no success, and is written over", async () => {
  const { sim, captured, says, enact } = begin();
  await sim.pass(3000);
  enact("n1", "10.0.1.7");
  enact("n2", "10.0.1.2");
  await sim.pass(3000);
  expect([captured("n1"), says("Available")]).toEqual(["10.0.1.1", ""]);
  expect(says("Progressing")).toMatch(/1\/2 nodes finished, waiting for n1/);
  expect(sim.lines().filter((line) => line.includes("n1"))).toEqual(["10.0.1.1 Node/n1/a/address"]);
});

it("an enactment that somebody deletes, or its handler makes without addresses, has them again", async () => {
  const { sim, captured } = begin();
  await sim.pass(3000);
  sim.remove(enactmentKind, "n1.a---fleet");
  await sim.pass(3000);
  expect(captured("n1")).toBe("10.0.1.1");
  sim.remove(enactmentKind, "n1.a---fleet");
  sim.enact("a---fleet", "n1", "Failing");
  await sim.pass(3000);
  expect(captured("n1")).toBe("10.0.1.1");
});

it("the address of a node that the policy selects no more stays its own while an enactment may give it", async () => {
  const { sim, cleanUp, cleaning } = begin();
  await sim.pass(3000);
  sim.change("Node", "n1", ({ metadata, ...rest }) => ({
    ...rest,
    metadata: { ...asBag(metadata), labels: { "kubernetes.io/hostname": "n1" } },
  }));
  sim.shows("n1");
  await sim.pass(60_000);
  expect(sim.lines()).toContain("10.0.1.1 Node/n1/a/address releasing");
  expect(sim.object(enactmentKind, "n1.a---fleet")).toBeDefined();
  sim.remove(enactmentKind, "n1.a---fleet");
  await cleanUp("n1");
  await sim.pass(60_000);
  expect(sim.lines()).toEqual(["10.0.1.2 Node/n2/a/address"]);
  expect(sim.object(enactmentKind, "n1.a---cleanup")).toBeUndefined();
  await cleaning.pass(31_000);
  expect(sim.all(policyKind).map(({ metadata }) => metadata.name)).toEqual(["a", "a---fleet"]);
});

it("the address of an enactment that somebody deletes while its handler applies it is free once a clean-up policy is enacted, and not before", async () => {
  const { sim, cleanUp } = begin();
  await sim.pass(3000);
  const labels = { "kubernetes.io/hostname": "n1" };
  sim.change("Node", "n1", ({ metadata, ...rest }) => ({ ...rest, metadata: { ...asBag(metadata), labels } }));
  sim.shows("n1");
  sim.remove(enactmentKind, "n1.a---fleet");
  await sim.pass(60_000);
  expect(sim.lines()).toContain("10.0.1.1 Node/n1/a/address releasing");
  await cleanUp("n1");
  await sim.pass(60_000);
  expect(sim.lines()).toEqual(["10.0.1.2 Node/n2/a/address"]);
});

it("only the captures whose addresses a policy uses are captured, and no other key stays in an enactment", async () => {
  const { sim } = begin();
  sim.change(policyKind, "a", ({ spec, ...rest }) => ({
    ...rest,
    spec: { ...asBag(spec), capture: { address: "ippool.p.allocate", unused: "ippool.p.allocate" } },
  }));
  await sim.pass(3000);
  const states = () => asBag(sim.object(enactmentKind, "n1.a---fleet")?.status)?.capturedStates as Bag;
  expect(asBag(sim.object(policyKind, "a---fleet")?.spec)?.capture).toEqual({ address: expect.any(String) });
  sim.change(enactmentKind, "n1.a---fleet", ({ status, ...rest }) => ({
    ...rest,
    status: { ...asBag(status), capturedStates: { ...states(), other: states().address } },
  }));
  await sim.pass(3000);
  expect(Object.keys(states())).toEqual(["address"]);
});

it("a policy of somebody else with the name of the one policy is left alone, and an Event says so", async () => {
  const said: string[] = [];
  const observer = {
    ran: () => {},
    recorded: () => {},
    wrong: (...event: string[]) => void said.push(event.join(" ")),
  };
  const sim = new SimController(observer as never, undefined, undefined, [fleetInCluster]);
  sim.node("n1");
  sim.create(pool("p", 1, 9) as never);
  const theirs = { apiVersion: "nmstate.io/v1", kind: policyKind, metadata: { name: "a---fleet" }, spec: {} };
  sim.create(theirs as never);
  sim.create(policy("a", "p") as never);
  await sim.pass(5000);
  expect(sim.object(policyKind, "a---fleet")?.spec).toEqual({});
  expect(sim.all(enactmentKind)).toEqual([]);
  expect(said.join()).toMatch(/Refused NodeNetworkConfigurationPolicy a---fleet was made by somebody else/);
});

/** How the handlers of both nodes fare, and whether the slots are emptied and the aborted ones tried again. */
it.each([
  ["Pending", "Available", true, false],
  ["Pending", "Progressing", false, false],
  ["Pending", "Failing", false, false],
  ["Aborted", "Available", false, true],
  ["Aborted", "Failing", false, false],
])("where one node is %s and the other one %s", async (one, other, areEmptied, isTried) => {
  const { sim, enact } = begin();
  await sim.pass(3000);
  enact("n1", "10.0.1.1", one);
  enact("n2", "10.0.1.2", other);
  sim.change(policyKind, "a---fleet", (object) => ({ ...object, status: { unavailableNodeCountMap: { "1": 1 } } }));
  await sim.pass(3000);
  const { status, metadata } = sim.object(policyKind, "a---fleet") as Bag;
  const isEmpty = (asBag(status)?.unavailableNodeCountMap ?? null) === null;
  const annotations = asBag(asBag(metadata)?.annotations);
  expect([isEmpty, annotations?.["nodeippool.nmstate.io/retry"] !== undefined]).toEqual([areEmptied, isTried]);
});

it("a lost record is read off the enactments", async () => {
  const { sim } = begin();
  await sim.pass(3000);
  const lines = sim.lines();
  const next = new SimController(undefined, undefined, undefined, [fleetInCluster], sim.server);
  await next.pass(60_000);
  expect(next.lines().sort()).toEqual(lines.sort());
});

it.each([
  ["a".repeat(64), {}, "its name has more than 63 characters"],
  ["a", { capture: { one: "ippool.p.allocate", nic: 'interfaces.name=="eth9"' } }, "capture nic is not of a pool"],
  [
    "a",
    { desiredState: { interfaces: [], "dns-resolver": { config: { server: ["10.0.0.53"] } } } },
    "it sets DNS servers",
  ],
  ["a", { desiredState: { interfaces: [{ name: "eth1" }] } }, "its desired state has no address of a pool"],
])("policy %s keeps a policy for each node with %j", (name, spec, why) => {
  const whole = policy(name, "p", "eth1") as Bag;
  expect(whyNotFleet({ ...whole, spec: { ...asBag(whole.spec), ...spec } })).toBe(why);
  expect(whyNotFleet(policy("a", "p", "eth1"))).toBeUndefined();
});

it("an address on lo is taken off, too", async () => {
  const sim = new SimController(undefined, undefined, undefined, [fleetInCluster]);
  const gating = new SimReconciler(gates(true), sim.server);
  sim.node("n1");
  sim.create(pool("p", 1, 9) as never);
  sim.create(policy("a", "p", "lo") as never);
  await sim.pass(3000);
  sim.remove(policyKind, "a");
  for (let i = 0; i < 6; i++) {
    await sim.pass(500);
    await gating.pass(500);
  }
  const { labels } = (sim.object("Node", "n1") as { metadata: Bag }).metadata;
  expect(labels).toHaveProperty(["cleanup.nodeippool.nmstate.io/a"], "open");
});

it("where somebody else's policy has the name of the one that takes addresses off, each node has a clean-up policy of its own", async () => {
  const { sim } = begin();
  const spec = { capture: { base: 'interfaces.name=="eth7"' }, desiredState: { interfaces: [] } };
  sim.create({ apiVersion: "nmstate.io/v1", kind: policyKind, metadata: { name: "a---cleanup" }, spec } as never);
  await sim.pass(3000);
  sim.remove(policyKind, "a");
  await sim.pass(3000);
  const names = sim.all(policyKind).map(({ metadata }) => metadata.name);
  expect(names).toEqual(expect.arrayContaining(["a---cleanup", "a--n1", "a--n2"]));
  expect(sim.object(policyKind, "a---cleanup")?.spec).toEqual(spec);
});

it.each([
  ["in the fleet form", fleetInCluster],
  ["after a downgrade", nmstateInCluster],
])(
  "an enactment that somebody deletes while its handler is about to apply it: the address stays the node's until a clean-up is enacted, %s",
  async (_, after) => {
    const { sim } = begin();
    await sim.pass(3000);
    sim.remove(enactmentKind, "n1.a---fleet");
    const labels = { "kubernetes.io/hostname": "n1", "nodeippool.nmstate.io/retry": "1" };
    sim.change("Node", "n1", ({ metadata, ...rest }) => ({ ...rest, metadata: { ...asBag(metadata), labels } }));
    sim.shows("n1");
    const next = new SimController(undefined, undefined, undefined, [after], sim.server);
    next.record = sim.record;
    await next.pass(60_000);
    expect(next.lines()).toContain("10.0.1.1 Node/n1/a/address releasing");
  },
);
