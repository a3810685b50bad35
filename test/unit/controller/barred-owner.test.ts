import { expect, it } from "vitest";
import { asBag, conditionOf } from "../../../schema/objects.ts";
import { policy } from "../../support/objects/controller-objects.ts";
import { SimController } from "../../support/sim/controller.ts";

const labels = { "kubernetes.io/hostname": "twin", role: "worker" };

it("a node whose hostname another one has, too, is served once that one is gone", async () => {
  const sim = new SimController();
  sim.pool("lan", "10.0.0.0/24", "10.0.0.9");
  for (const name of ["n1", "n2", "n3"]) sim.node(name, name === "n3" ? { role: "worker" } : labels);
  sim.create(policy("a", "lan") as never);
  await sim.pass();
  expect(sim.record.allocations.map(({ claim }) => claim)).toEqual(["Node/n3/a/address"]);
  sim.remove("Node", "n2");
  await sim.pass();
  expect(sim.record.allocations.map(({ claim }) => claim).sort()).toEqual(["Node/n1/a/address", "Node/n3/a/address"]);
});

it("a node with the hostname of another one that comes: the policy of neither selects both, and the address stays", async () => {
  const sim = new SimController();
  sim.pool("lan", "10.0.0.0/24", "10.0.0.9");
  sim.node("n1", labels);
  sim.create(policy("a", "lan") as never);
  await sim.pass();
  const policies = () => sim.all("NodeNetworkConfigurationPolicy").map(({ metadata }) => metadata.name);
  expect(policies()).toEqual(["a", "a--n1"]);
  const { allocations } = sim.record;
  sim.node("n2", labels);
  await sim.pass();
  expect(policies()).toEqual(["a"]);
  expect(sim.record.allocations).toEqual(allocations);
  const waits = () =>
    conditionOf(asBag(sim.object("NodeNetworkConfigurationPolicy", "a")?.status)?.conditions, "Degraded")?.message;
  await sim.pass();
  expect(waits()).toBe(
    "2/2 nodes get no address (n1, n2): nodes n1, n2 have the same label kubernetes.io/hostname: twin. Give each its own hostname",
  );
  sim.remove("Node", "n2");
  await sim.pass(2000);
  expect(waits()).toBe("");
  expect(policies()).toEqual(["a", "a--n1"]);
  expect(sim.record.allocations).toEqual(allocations);
});
