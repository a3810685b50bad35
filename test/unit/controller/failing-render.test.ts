import { expect, it } from "vitest";
import { nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";
import type { Bag } from "../../../schema/objects.ts";
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

it("an owner whose evidence cannot be read keeps its addresses, and those of others become free", async () => {
  const broken = {
    ...nmstateInCluster,
    recording: {
      ...nmstateInCluster.recording,
      gone: (...[objects, ...rest]: Parameters<typeof nmstateInCluster.recording.gone>) => {
        if (objects.some(({ kind, metadata }) => kind === "NodeNetworkState" && (metadata as Bag).name === "n1"))
          throw new TypeError("a planted defect in gone");
        return nmstateInCluster.recording.gone(objects, ...rest);
      },
    },
  };
  const sim = new SimController(undefined, undefined, undefined, [broken]);
  sim.pool("lan", "10.0.0.0/24", "10.0.0.9");
  for (const name of ["n1", "n2"]) sim.node(name);
  sim.create(policy("a", "lan") as never);
  await sim.pass();
  sim.remove("NodeNetworkConfigurationPolicy", "a");
  await sim.pass(2000);
  for (const name of ["n1", "n2"]) {
    sim.enact(`a--${name}`, name, "Available");
    sim.shows(name);
  }
  await sim.pass(60_000);
  expect(sim.lines()).toEqual([expect.stringMatching(/^10.0.0.1 Node\/n1\/.* releasing$/)]);
  expect(sim.logged.some(({ level, owner }) => level === "error" && owner === "Node/n1")).toBe(true);
});
