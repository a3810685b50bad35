import { expect, it } from "vitest";
import { asBag } from "../../../schema/objects.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";
import { policy } from "../../support/objects/controller-objects.ts";
import { SimController } from "../../support/sim/controller.ts";

const kind = "NodeNetworkConfigurationPolicy";

function setAuthority(sim: SimController, authority: string): void {
  sim.change("NodeIPPool", "p", (pool) => ({ ...pool, spec: { ...asBag(pool.spec), authority } }));
}

/** Changes that a plan would stop for, one after the other. */
async function goThroughMistakes(sim: SimController, seen: () => void): Promise<void> {
  const select = (nodeSelector: object) =>
    sim.change(kind, "a", (one) => ({ ...one, spec: { ...asBag(one.spec), nodeSelector } }));
  for (const step of [
    () => select({ role: "wrker" }),
    () => sim.remove("Node", "n1"),
    () => sim.shows("n2"),
    () => sim.remove(kind, "a"),
    () => sim.remove("NodeIPPool", "p"),
  ]) {
    step();
    await sim.pass(120_000);
    seen();
  }
}

it("of a pool of authority Plan, the controller releases and frees no address, whatever becomes of nodes, policy and pool", async () => {
  const sim = new SimController();
  sim.record = recordOf(
    ["10.0.0.1 Node/n1/a/p if=eth1", "10.0.0.2 Node/n2/a/p if=eth1", "10.0.0.3 Node/n3/a/p if=eth1 releasing"],
    [poolOf("p", "10.0.0.0/24")],
  );
  const recorded = sim.lines();
  sim.pool("p", "10.0.0.0/24", "10.0.0.9");
  setAuthority(sim, "Plan");
  sim.node("n1");
  sim.node("n2");
  sim.create(policy("a", "p") as never);
  await sim.pass(60_000);
  expect(sim.lines()).toEqual(recorded);
  await goThroughMistakes(sim, () => expect(sim.lines()).toEqual(recorded));
});
