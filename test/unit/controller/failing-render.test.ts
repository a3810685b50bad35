import { expect, it } from "vitest";
import { nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";
import { policy } from "../../support/objects/controller-objects.ts";
import { SimController } from "../../support/sim/controller.ts";
import { failing, failsAnnotation } from "../../support/sim/failing-integration.ts";

it("an object that cannot be rendered hides nothing of what was recorded beside it, and its defect is logged with its stack", async () => {
  const told: string[] = [];
  const observer = {
    ran: () => {},
    wrong: () => {},
    recorded: ({ allocated }: { allocated: readonly { claim: string }[] }) =>
      void told.push(...allocated.map(({ claim }) => claim)),
  };
  const sim = new SimController(observer as never, undefined, undefined, [failing(nmstateInCluster)]);
  sim.pool("lan", "10.0.0.0/24", "10.0.0.9");
  sim.node("n1");
  sim.create(policy("good", "lan") as never);
  const bad = policy("bad", "lan", "eth2");
  sim.create({ ...bad, metadata: { name: "bad", annotations: { [failsAnnotation]: "render" } } } as never);
  await sim.pass();
  expect(sim.object("NodeNetworkConfigurationPolicy", "good--n1")).toBeDefined();
  expect(told).toContain("Node/n1/good/address");
  const defects = sim.logged
    .filter(({ level }) => level === "error")
    .map(({ message, error }) => [message, `${(error as Error).stack}`]);
  expect(defects[0]).toEqual([
    "1 objects are rejected for a defect",
    expect.stringContaining("a planted defect in render"),
  ]);
});
