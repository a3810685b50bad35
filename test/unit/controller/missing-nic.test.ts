import { describe, expect, it } from "vitest";
import { resetAnnotation } from "../../../schema/node-ip-pool.ts";
import { asBag, type Bag, conditionOf } from "../../../schema/objects.ts";
import { policy } from "../../support/controller-objects.ts";
import { SimController } from "../../support/sim-controller.ts";

const kind = "NodeNetworkConfigurationPolicy";
const policies = "nodenetworkconfigurationpolicies";
const enactments = { apiVersion: "nmstate.io/v1beta1", plural: "nodenetworkconfigurationenactments" };

/** A node that reports these NICs, without addresses. */
function reports(sim: SimController, name: string, ...nics: string[]): void {
  const ipv4 = { enabled: true, dhcp: false, address: [] };
  const interfaces = nics.map((nic) => ({ name: nic, type: "ethernet", state: "up", ipv4 }));
  sim.create({
    apiVersion: "nmstate.io/v1beta1",
    kind: "NodeNetworkState",
    metadata: { name },
    status: { currentState: { interfaces }, lastSuccessfulUpdateTime: "2026-01-01T00:00:00Z" },
  });
}

/** The handler of a node fails for good, and says why. */
function fails(sim: SimController, name: string, node: string, message: string): void {
  const { generation } = asBag(sim.object(kind, name)?.metadata) ?? {};
  const there = sim.object("NodeNetworkConfigurationEnactment", `${node}.${name}`);
  if (there !== undefined) sim.server.remove(enactments, { ...there, metadata: { name: `${node}.${name}` } } as never);
  sim.create({
    apiVersion: "nmstate.io/v1beta1",
    kind: "NodeNetworkConfigurationEnactment",
    metadata: { name: `${node}.${name}`, labels: { "nmstate.io/node": node, "nmstate.io/policy": name } },
    status: { policyGeneration: generation, conditions: [{ type: "Failing", status: "True", message }] },
  });
}

const unknown =
  'error reconciling NodeNetworkConfigurationPolicy on node n1 at desired state apply: "",\n NmstateError: InvalidArgument: Failed to find unknown type interface eth9 in current state';
const children = (sim: SimController) =>
  sim
    .all(kind)
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.includes("--"))
    .sort();

function reset(sim: SimController): void {
  sim.change("NodeIPPool", "p", (one) => ({
    ...one,
    metadata: { ...asBag(one.metadata), annotations: { [resetAnnotation]: "" } } as Bag,
  }));
}

function begin(nic: string, ...nodes: string[]): SimController {
  const sim = new SimController();
  sim.pool("p", "10.0.0.0/24", "10.0.0.9");
  for (const node of nodes) {
    sim.node(node);
    reports(sim, node, "eth1");
  }
  sim.create(policy("a", "p", nic, { maxUnavailable: 1 }) as never);
  return sim;
}

describe("a policy for a NIC that its node does not have, and that is deleted", () => {
  it("keeps its address, because the NIC may come back with it, until a reset; then no clean-up is left behind", async () => {
    const sim = begin("eth9", "n1");
    await sim.pass(5000);
    fails(sim, "a--n1", "n1", unknown);
    await sim.pass(5000);
    sim.remove(kind, "a");
    await sim.pass(5000);
    fails(sim, "a--n1", "n1", unknown);
    await sim.pass(120_000);
    expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/a/address releasing"]);
    reset(sim);
    await sim.pass(60_000);
    expect([sim.lines(), children(sim)]).toEqual([[], []]);
  });

  it("keeps it in a reset, and says so, while the policy is on its way; afterwards it is freed", async () => {
    const sim = begin("eth9", "n1");
    await sim.pass(5000);
    sim.remove(kind, "a");
    await sim.pass(5000);
    reset(sim);
    await sim.pass(60_000);
    expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/a/address releasing"]);
    expect(sim.said.filter((one) => one.includes("ResetKept"))).toEqual([
      expect.stringMatching(
        /^NodeIPPool\.nmstate\.io\/p ResetKept: .* kept 10\.0\.0\.1 of n1 of pool p: .*kubectl get nnce/,
      ),
    ]);
    fails(sim, "a--n1", "n1", "rolling back: no ping to the gateway");
    await sim.pass(5000);
    reset(sim);
    await sim.pass(60_000);
    expect(sim.lines()).toEqual([]);
  });
});

it("where a policy never came to a node, nothing is made to take its address off, and the address is free", async () => {
  const sim = begin("eth1", "n1", "n2");
  await sim.pass(5000);
  fails(sim, "a--n1", "n1", "no ping to the gateway");
  await sim.pass(5000);
  expect([children(sim), sim.lines().length]).toEqual([["a--n1"], 2]);
  sim.requests.length = 0;
  sim.remove(kind, "a");
  await sim.pass(120_000);
  expect(sim.requests.filter((one) => one === `create ${policies}`)).toEqual([]);
  expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/a/address releasing"]);
});

it("where nothing can be taken off one node, the clean-up of another one that somebody deletes is made again", async () => {
  const sim = begin("eth1", "n1");
  sim.node("n2");
  sim.shows("n2", "10.0.0.2");
  await sim.pass(5000);
  sim.enact("a--n1", "n1", "Available");
  await sim.pass(5000);
  sim.remove(kind, "a");
  await sim.pass(5000);
  fails(sim, "a--n1", "n1", unknown);
  await sim.pass(5000);
  sim.remove(kind, "a--n2");
  await sim.pass(5000);
  expect(children(sim)).toEqual(["a--n1", "a--n2"]);
});

describe("a clean-up that fails for good on a node that the policy no longer selects", () => {
  const degraded = (sim: SimController) =>
    conditionOf(asBag(sim.object(kind, "a")?.status)?.conditions, "Degraded")?.status;
  const message = (sim: SimController, type: string) =>
    conditionOf(asBag(sim.object(kind, "a")?.status)?.conditions, type)?.message;

  /** Node n1 is selected no more; these have their addresses. */
  async function deselected(...enacted: readonly string[]): Promise<SimController> {
    const sim = begin("eth1", "n1", "n2");
    for (const node of enacted) {
      await sim.pass(5000);
      sim.enact(`a--${node}`, node, "Available");
    }
    await sim.pass(5000);
    sim.change("Node", "n1", (one) => ({
      ...one,
      metadata: { ...asBag(one.metadata), labels: { "kubernetes.io/hostname": "n1" } },
    }));
    await sim.pass(5000);
    return sim;
  }

  it("stops no other node of the policy, which says how those fare that it selects", async () => {
    const sim = await deselected("n1", "n2");
    fails(sim, "a--n1", "n1", unknown);
    await sim.pass(5000);
    expect([degraded(sim), message(sim, "Available")]).toEqual(["False", "1/1 nodes successfully configured"]);
    sim.node("n3");
    await sim.pass(5000);
    expect(children(sim)).toEqual(["a--n1", "a--n2", "a--n3"]);
  });

  it("does not count where it succeeds: the policy waits for the nodes that it selects", async () => {
    const sim = await deselected("n1");
    expect(children(sim)).toEqual(["a--n1", "a--n2"]);
    expect(message(sim, "Progressing")).toBe("Policy is progressing 0/1 nodes finished");
  });
});
