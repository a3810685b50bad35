import { describe, expect, it } from "vitest";
import { nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";
import { asBag, asList, conditionOf } from "../../../schema/objects.ts";
import { policy } from "../../support/objects/controller-objects.ts";
import { SimController } from "../../support/sim/controller.ts";

const kind = "NodeNetworkConfigurationPolicy";
const names = ["n1", "n2", "n3"];
type State = "Failing" | "Available" | "Progressing";

/** The handler of a node writes the enactment of its policy anew. */
function enact(sim: SimController, node: string, state: State): void {
  const resource = { apiVersion: "nmstate.io/v1beta1", plural: "nodenetworkconfigurationenactments" };
  sim.server.remove(resource, { metadata: { name: `${node}.a--${node}` } } as never);
  sim.enact(`a--${node}`, node, state as "Failing");
}

/** Policy `a` is applied on all nodes, one at a time. */
async function begin(): Promise<SimController> {
  const sim = new SimController();
  sim.pool("p", "10.0.0.0/24", "10.0.0.9");
  for (const name of names) sim.node(name);
  sim.create(policy("a", "p", "eth1", { maxUnavailable: 1 }) as never);
  for (const name of names) {
    await sim.pass(3000);
    enact(sim, name, "Available");
  }
  await sim.pass(3000);
  return sim;
}

/** The same cluster and record, and a controller that has just started. */
function restarted(sim: SimController): SimController {
  const next = new SimController(undefined, undefined, undefined, [nmstateInCluster], sim.server);
  next.record = sim.record;
  return next;
}

function edit(sim: SimController, mtu: number): void {
  sim.change(kind, "a", (one) => {
    const spec = asBag(one.spec);
    const [nic] = asList(asBag(spec?.desiredState)?.interfaces);
    return { ...one, spec: { ...spec, desiredState: { interfaces: [{ ...asBag(nic), mtu }] } } };
  });
}

/** The MTU that each node's policy has. */
function mtus(sim: SimController): unknown[] {
  return names.map((node) => {
    const [nic] = asList(asBag(asBag(sim.object(kind, `a--${node}`)?.spec)?.desiredState)?.interfaces);
    return asBag(nic)?.mtu;
  });
}

describe("a rollout in whose middle the controller is restarted", () => {
  it.each([
    ["fails", "Failing"],
    ["is being configured", "Progressing"],
    ["has not begun", undefined],
  ] as const)("stops at the node that %s, also after a restart", async (_, state) => {
    const before = await begin();
    edit(before, 1400);
    await before.pass(3000);
    if (state !== undefined) enact(before, "n1", state);
    await before.pass(3000);
    expect(mtus(before)).toEqual([1400, undefined, undefined]);
    const sim = restarted(before);
    await sim.pass(10_000);
    edit(sim, 1300);
    await sim.pass(10_000);
    expect(mtus(sim)).toEqual([1300, undefined, undefined]);
    enact(sim, "n1", "Available");
    await sim.pass(5000);
    expect(mtus(sim)).toEqual([1300, 1300, undefined]);
  });
});

/** The kubelet of a node stops to answer, or answers again. */
function ready(sim: SimController, name: string, is: boolean): void {
  const status = { conditions: [{ type: "Ready", status: is ? "True" : "Unknown" }] };
  sim.change("Node", name, (one) => ({ ...one, status }));
}

function relabel(sim: SimController, name: string, role: string): void {
  const labels = { "kubernetes.io/hostname": name, role };
  sim.change("Node", name, (one) => ({ ...one, metadata: { ...asBag(one.metadata), labels } }));
}

function messageOf(sim: SimController, type: string): unknown {
  return conditionOf(asBag(sim.object(kind, "a")?.status)?.conditions, type)?.message;
}

const waits =
  "It waits for nodes that are not Ready: n1. Start such a node again or, if it does not come back, delete it: kubectl delete node n1";

describe("a rollout with a node that is not Ready", () => {
  it("goes on without a node that has not begun, and names it; once it is back it counts", async () => {
    const sim = await begin();
    ready(sim, "n1", false);
    await sim.pass(1000);
    edit(sim, 1400);
    await sim.pass(3000);
    expect(mtus(sim)).toEqual([1400, 1400, undefined]);
    ready(sim, "n1", true);
    await sim.pass(1000);
    enact(sim, "n2", "Available");
    await sim.pass(5000);
    expect(mtus(sim)).toEqual([1400, 1400, undefined]);
    ready(sim, "n1", false);
    await sim.pass(3000);
    expect(mtus(sim)).toEqual([1400, 1400, 1400]);
    enact(sim, "n3", "Available");
    await sim.pass(5000);
    const text = "2/3 nodes successfully configured, 1 nodes ignored due to NotReady state";
    expect(messageOf(sim, "Available")).toBe(`${text}. ${waits}`);
  });

  it("waits for a node that went away in the middle of it, and names it; goes on once that is deleted", async () => {
    const sim = await begin();
    edit(sim, 1400);
    await sim.pass(3000);
    enact(sim, "n1", "Progressing");
    ready(sim, "n1", false);
    await sim.pass(60_000);
    expect(mtus(sim)).toEqual([1400, undefined, undefined]);
    expect(messageOf(sim, "Available")).toMatch(waits);
    sim.remove("Node", "n1");
    await sim.pass(3000);
    expect(mtus(sim)).toEqual([undefined, 1400, undefined]);
  });
});

describe("a clean-up on a node that is not Ready", () => {
  const told = (sim: SimController) => [...new Set(sim.said.filter((one) => one.includes(" StillReleasing: ")))].sort();
  const next = "Start node n1 again or, if it does not come back, delete it: kubectl delete node n1";
  const why =
    "Still releasing after a minute: 10.0.0.1 of n1, NIC eth1: node n1 is not Ready, so that nothing takes it off";

  it("keeps its address and no other node waiting; pool, policies and their Events say whom they wait for", async () => {
    const sim = await begin();
    sim.shows("n1", "10.0.0.1");
    ready(sim, "n1", false);
    await sim.pass(1000);
    relabel(sim, "n1", "spare");
    edit(sim, 1400);
    await sim.pass(90_000);
    expect(sim.lines()).toContain("10.0.0.1 Node/n1/a/address releasing");
    expect(mtus(sim)).toEqual([undefined, 1400, undefined]);
    enact(sim, "n2", "Available");
    await sim.pass(3000);
    expect(mtus(sim)).toEqual([undefined, 1400, 1400]);
    expect(told(sim)).toEqual(
      ["NodeIPPool.nmstate.io/p", ...["a", "a--n1"].map((name) => `${kind}.nmstate.io/${name}`)].map(
        (key) => `${key} StillReleasing: ${why}. ${next}`,
      ),
    );
    expect(messageOf(sim, "Progressing")).toBe(
      `Policy is progressing 1/2 nodes finished, waiting for n3 (kubectl get nnce -l nmstate.io/node=n3). ${waits}`,
    );
    sim.remove("Node", "n1");
    await sim.pass(60_000);
    expect(told(sim)).toContain(
      "NodeIPPool.nmstate.io/p StillReleasing: Still releasing after a minute: 10.0.0.1 of n1, NIC eth1: node n1 is gone, but its report is still there (kubectl get nns n1). If the machine is gone, too, delete what is left of it: kubectl delete nns n1",
    );
    sim.remove("NodeNetworkState", "n1");
    await sim.pass(60_000);
    expect(sim.lines().filter((line) => line.includes("n1"))).toEqual([]);
  });

  it("waits its turn on a node that is Ready, and an Event says so", async () => {
    const sim = await begin();
    edit(sim, 1400);
    await sim.pass(3000);
    relabel(sim, "n2", "spare");
    await sim.pass(90_000);
    expect(mtus(sim)).toEqual([1400, undefined, undefined]);
    expect(told(sim).at(-1)).toBe(
      `${kind}.nmstate.io/a--n2 StillReleasing: Still releasing after a minute: 10.0.0.2 of n2, NIC eth1: policy a--n2 still has it, because the rollout of its policy has not reached node n2. See which nodes the rollout waits for: kubectl describe nncp a`,
    );
    expect(messageOf(sim, "Progressing")).toMatch("waiting for n1 (");
  });
});
