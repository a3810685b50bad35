import { describe, expect, it } from "vitest";
import { childLabels } from "../../../schema/node.ts";
import { policy } from "../../support/objects/controller-objects.ts";
import { addressClaim, ownersLines as lines, PoolOwners } from "../../support/objects/pool-owners.ts";
import type { SimController } from "../../support/sim/controller.ts";

const nncp = "NodeNetworkConfigurationPolicy";

/** Puts what a plan renders for a node in the place of what the controller made: the same, under its name, without its label. */
function replaceChild(sim: SimController, node: string): void {
  const { apiVersion, metadata, spec } = sim.object(nncp, `a--${node}`) ?? ({} as never);
  const { name, labels } = metadata;
  const own = { [childLabels.policy]: labels?.[childLabels.policy], [childLabels.node]: node };
  sim.remove(nncp, name);
  sim.create({ apiVersion, kind: nncp, metadata: { name, labels: own }, spec } as never);
}

describe("a pool whose authority changes from Cluster to Plan", () => {
  it.each([
    ["", false],
    [", also once their policy is deleted", true],
  ])("keeps the addresses of all its owners, and what was made for them%s; and changes back", async (_, isPruned) => {
    const all = await PoolOwners.begin();
    expect(all.sim.lines()).toEqual(lines);
    const before = all.objects();
    const now = isPruned ? before.filter((one) => !one.startsWith("a {")) : before;
    all.setSpec({ authority: "Plan" });
    if (isPruned) all.sim.remove(nncp, "a");
    await all.pass(1000);
    all.restart();
    await all.pass(90_000);
    expect([all.sim.lines(), all.objects()]).toEqual([lines, now]);
    const inUse = "10.0.0.1 of n1, 10.0.0.2 of n2, 10.0.0.3 of IPAddressClaim/default:c and 3 more.";
    expect(all.available().reason).toBe("UnsynchronizedIPPool");
    expect(all.available().message).toContain(`in use: ${inUse}`);
    expect(all.available().message).toContain("Set authority to Cluster again, or let the plan take them over");
    for (const about of ["NodeIPPool.nmstate.io/p", "StatefulSet.apps/default:web", ...(isPruned ? [] : [nncp])])
      expect(all.sim.said.some((said) => said.startsWith(about) && said.includes("authority is Plan"))).toBe(true);
    all.setSpec({ authority: "Cluster" });
    if (isPruned) all.createPolicy();
    await all.pass(60_000);
    expect([all.sim.lines(), all.objects()]).toEqual([lines, before]);
    expect(all.available().reason).toBe("ReconciledPool");
  });

  it("allocates no others, serves all other pools, and frees what its owners give up", async () => {
    const all = await PoolOwners.begin();
    const { sim } = all;
    all.setSpec({ authority: "Plan" });
    await all.pass(5000);
    sim.create(policy("b", "q", "eth2") as never);
    sim.create(addressClaim("d", "q"));
    sim.create(addressClaim("late", "p"));
    sim.node("n3");
    all.apps.roll("StatefulSet", "web");
    await all.pass(20_000);
    const nodes = ["n1", "n2", "n3"].map((node, i) => `10.0.1.${i + 2} Node/${node}/b/address`);
    const others = ["10.0.1.1 IPAddressClaim/default:d/address", ...nodes];
    expect(sim.lines()).toEqual([...lines, ...others]);
    expect(all.objects().filter((one) => one.startsWith("web-"))).toEqual(["web-0 10.0.0.5/24", "web-1 10.0.0.6/24"]);
    all.removeNode("n1");
    all.removeClaims();
    await all.pass(90_000);
    expect(sim.lines()).toEqual(["10.0.0.2 Node/n2/a/address", ...others.filter((line) => !line.includes("n1"))]);
    all.removeNode("n2");
    await all.pass(60_000);
    expect(all.available().reason).toBe("ReconciledPool");
  });

  it("is the plan's, node by node, once policies of the plan are in the place of those that the controller made", async () => {
    const all = await PoolOwners.begin();
    const before = all.objects();
    all.setSpec({ authority: "Plan" });
    await all.pass(5000);
    replaceChild(all.sim, "n1");
    await all.pass(40_000);
    expect(all.sim.lines()).toEqual(lines.slice(1));
    all.restart();
    all.sim.remove(nncp, "a");
    replaceChild(all.sim, "n2");
    await all.pass(90_000);
    expect(all.sim.lines()).toEqual(lines.slice(2));
    expect(all.objects()).toEqual(before.filter((one) => !one.startsWith("a {")));
    expect(all.sim.said.filter((said) => said.includes("StillReleasing"))).toEqual([]);
  });
});

describe("a pool whose authority changes from Plan to Cluster", () => {
  it("gives nobody what a plan gave to a node, also to one that is off; and a node that the plan lets go keeps it", async () => {
    const all = await PoolOwners.begin();
    all.setSpec({ authority: "Plan" });
    await all.pass(2000);
    for (const node of ["n1", "n2"]) replaceChild(all.sim, node);
    await all.pass(60_000);
    all.sim.remove("NodeNetworkState", "n2");
    all.setSpec({ authority: "Cluster" });
    all.restart();
    all.sim.node("n3");
    await all.pass(20_000);
    const later = [...lines.slice(2), "10.0.0.7 Node/n3/a/address"];
    expect(all.sim.lines()).toEqual(later);
    all.sim.remove(nncp, "a--n1");
    await all.pass(20_000);
    expect(all.sim.lines()).toEqual([lines[0], ...later]);
    expect(all.available().reason).toBe("ReconciledPool");
  });
});
