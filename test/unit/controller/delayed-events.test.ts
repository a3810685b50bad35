import { expect, it } from "vitest";
import { policy } from "../../support/objects/controller-objects.ts";
import { SimController } from "../../support/sim/controller.ts";

it("an enactment that is left of an earlier policy of a node: the user's policy says after a minute what to delete, and goes on then", async () => {
  const sim = new SimController();
  sim.pool("lan", "10.0.0.0/24", "10.0.0.9");
  sim.node("n1");
  sim.enact("a--n1", "n1", "Available");
  sim.create(policy("a", "lan") as never);
  await sim.pass(50_000);
  expect(sim.said).toEqual([]);
  await sim.pass(20_000);
  expect(new Set(sim.said)).toEqual(
    new Set([
      "NodeNetworkConfigurationPolicy.nmstate.io/a Refused: NodeNetworkConfigurationPolicy a--n1 is not created, because NodeNetworkConfigurationEnactment n1.a--n1 reports of an earlier one of that name. If the program that wrote it does not delete it, delete it.",
    ]),
  );
  expect(sim.object("NodeNetworkConfigurationPolicy", "a--n1")).toBeUndefined();
  sim.remove("NodeNetworkConfigurationEnactment", "n1.a--n1");
  await sim.pass();
  expect(sim.object("NodeNetworkConfigurationPolicy", "a--n1")).toBeDefined();
});
