import { expect, it } from "vitest";
import { keep } from "../../../controller/cache/seen.ts";
import { timing } from "../../../controller/timing.ts";
import { formatAddress } from "../../../core/index.ts";
import { resetAnnotation } from "../../../schema/node-ip-pool.ts";
import { asBag, asList } from "../../../schema/objects.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";
import { policy } from "../../support/objects/controller-objects.ts";
import { SimController } from "../../support/sim/controller.ts";

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
  sim.shows("n1", ip);
  await sim.pass(timing.hold - 5_000);
  expect(sim.record.releasing).toHaveLength(1);
  sim.isFrozen = true;
  sim.change(policies, "b--n1", (object) => ({ ...object, status: { lastUnavailableNodeCountUpdate: "now" } }));
  await sim.pass(10_000);
  sim.isFrozen = false;
  await sim.pass(10_000);
  expect(sim.record.releasing).toEqual([]);
});

it.each([
  ["a policy", "worker", () => {}, (sim: SimController) => sim.create(policy("late", "lan") as never)],
  ["a label", "none", (sim: SimController) => sim.create(policy("late", "lan") as never), relabel],
])("what another controller gave by %s that the watches do not show yet stays", async (_, role, before, happens) => {
  const sim = new SimController();
  sim.pool("lan", "10.0.0.0/24", "10.0.0.9");
  sim.node("n1", { role });
  before(sim);
  await sim.pass();
  sim.isFrozen = true;
  happens(sim);
  const record = recordOf(["10.0.0.1 Node/n1/late/address set=cluster if=eth1 pool=lan"], [lan]);
  sim.record = { ...record, base: new Map([["lan", "written by another controller"]]) };
  sim.engine.resync();
  await sim.pass();
  expect(sim.record.releasing).toEqual([]);
  const [nic] = asList(asBag(asBag(sim.object(policies, "late--n1")?.spec)?.desiredState)?.interfaces);
  expect(asBag(asBag(nic)?.ipv4)?.address).toEqual([{ ip: "10.0.0.1", "prefix-length": 24 }]);
});

it("while reports are missed nobody gets anything new: who came back from a backup may have it", async () => {
  const sim = new SimController();
  sim.pool("lan", "10.0.0.0/24", "10.0.0.9");
  sim.create(policy("a", "lan") as never);
  await sim.pass();
  sim.cache.follow(`${report}.nmstate.io`, false);
  sim.node("n1");
  await sim.pass();
  expect(sim.record.allocations).toEqual([]);
  sim.shows("n0", "10.0.0.1");
  await sim.pass();
  sim.cache.follow(`${report}.nmstate.io`, true);
  await sim.pass();
  expect(sim.record.allocations.map(({ address }) => formatAddress(address))).toEqual(["10.0.0.2"]);
});

it("a reset frees nothing that a report on the server shows, and the watch does not yet", async () => {
  const sim = new SimController();
  sim.pool("p", "10.0.0.0/24", "10.0.0.9");
  sim.create(policy("a", "p") as never);
  sim.node("n1");
  await sim.pass(2000);
  sim.enact("a--n1", "n1", "Available");
  sim.shows("n1", "10.0.9.9");
  sim.remove(policies, "a");
  await sim.pass(2000);
  sim.remove("NodeNetworkConfigurationEnactment", "n1.a--n1");
  sim.enact("a--n1", "n1", "Failing");
  await sim.pass(40_000);
  expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/a/address releasing"]);
  sim.isFrozen = true;
  const [ip, other] = ["10.0.0.1", "10.0.9.9"].map((one) => JSON.stringify(one));
  sim.change(report, "n1", (one) => JSON.parse(JSON.stringify(one).replace(`${other}`, `${ip}`)));
  const annotations = { [resetAnnotation]: "" };
  sim.change("NodeIPPool", "p", (one) => ({ ...one, metadata: { ...asBag(one.metadata), annotations } }));
  const { cache } = sim;
  cache.set(keep(cache.kind("NodeIPPool.nmstate.io"), sim.object("NodeIPPool", "p") as never));
  await sim.pass(40_000);
  expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/a/address releasing"]);
});

const lan = poolOf("lan", "10.0.0.0/24");

function relabel(sim: SimController): void {
  const labels = { "kubernetes.io/hostname": "n1", role: "worker" };
  sim.change("Node", "n1", (node) => ({ ...node, metadata: { ...asBag(node.metadata), labels } }));
}
