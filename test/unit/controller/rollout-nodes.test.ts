import { describe, expect, it } from "vitest";
import { nmstate } from "../../../integrations/nmstate/index.ts";
import { asBag, asList, type Bag, conditionOf } from "../../../schema/objects.ts";
import { policy } from "../../support/controller-objects.ts";
import { SimController } from "../../support/sim-controller.ts";

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
  const next = new SimController(undefined, undefined, undefined, [nmstate], sim.server);
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
