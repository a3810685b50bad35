import { expect, it } from "vitest";
import { timing } from "../../../controller/timing.ts";
import { formatAddress } from "../../../core/index.ts";
import { policy } from "../../support/controller-objects.ts";
import { SimController } from "../../support/sim-controller.ts";

const [policies, report] = ["NodeNetworkConfigurationPolicy", "NodeNetworkState"];

it("an address becomes free although the watches show late that the handler wrote a status", async () => {
  const sim = new SimController();
  for (const name of ["old", "new"])
    sim.pool(name, `10.0.${name === "old" ? 1 : 2}.0/24`, `10.0.${name === "old" ? 1 : 2}.9`);
  sim.node("n1");
  sim.create(policy("a", "old") as never);
  await sim.pass();
  sim.enact("a--n1", "n1", "Available");
  sim.remove(policies, "a");
  sim.create(policy("b", "new") as never);
  await sim.pass();
  sim.remove("NodeNetworkConfigurationEnactment", "n1.a--n1");
  sim.enact("b--n1", "n1", "Available");
  const ip = formatAddress(sim.record.allocations[0]?.address as never);
  const ipv4 = { enabled: true, address: [{ ip, "prefix-length": 24 }] };
  const interfaces = [{ name: "eth1", type: "ethernet", state: "up", ipv4 }];
  sim.create({
    apiVersion: "nmstate.io/v1beta1",
    kind: report,
    metadata: { name: "n1" },
    status: { currentState: { interfaces } },
  } as never);
  await sim.pass(timing.hold - 5_000);
  expect(sim.record.releasing).toHaveLength(1);
  sim.isFrozen = true;
  sim.change(policies, "b--n1", (object) => ({ ...object, status: { lastUnavailableNodeCountUpdate: "now" } }));
  await sim.pass(10_000);
  sim.isFrozen = false;
  await sim.pass(10_000);
  expect(sim.record.releasing).toEqual([]);
});
