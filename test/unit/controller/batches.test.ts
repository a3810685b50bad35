import { expect, it } from "vitest";
import { policy } from "../../support/objects/controller-objects.ts";
import { SimController } from "../../support/sim/controller.ts";

it("hundreds of nodes that join at once are decided for in batches, so that nothing is too old when it is written", async () => {
  const given: number[] = [];
  const sim = new SimController(undefined, (state) => ({
    ...state,
    commit: (plan) => {
      given.push(plan.assign.length);
      return state.commit(plan);
    },
  }));
  sim.pool("lan", "10.0.0.0/16", "10.0.9.0");
  sim.create(policy("p", "lan", "eth1", { maxUnavailable: "100%" }) as never);
  await sim.pass();
  for (let i = 0; i < 600; i++) sim.node(`n${i}`);
  await sim.pass(2_000);
  expect(given).toEqual([500, 100]);
  expect(sim.engine.world.all("NodeNetworkConfigurationPolicy.nmstate.io")).toHaveLength(601);
});
