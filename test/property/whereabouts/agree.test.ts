import fc from "fast-check";
import { expect, it } from "vitest";
import { timing } from "../../../controller/timing.ts";
import { emptySnapshot, formatBlock, plan, type Snapshot, unwrap } from "../../../core/index.ts";
import { nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";
import { slicesInCluster } from "../../../integrations/whereabouts/in-cluster.ts";
import { whereabouts } from "../../../integrations/whereabouts/plan.ts";
import { type Bag, placeless } from "../../../schema/objects.ts";
import { apply } from "../../support/core/apply.ts";
import { tries } from "../../support/long.ts";
import { attachment, selecting } from "../../support/objects/whereabouts-objects.ts";
import { SimController } from "../../support/sim/controller.ts";

const networks: Readonly<Record<string, Bag>> = {
  net: { range: "10.5.0.0/20", node_slice_size: "/24", gateway: "10.5.0.1" },
  red: { range: "10.5.0.0/20", node_slice_size: "/26", network_name: "red" },
  six: { range: "fd00:5::/56", node_slice_size: "/64", exclude: ["fd00:5:0:1::7"] },
};
const nodeNames = ["a", "b", "c.example.org", "d", "e"];
/** Network `red` is not for `d` and `e`. */
const labelsOf = (node: string) => ({ infra: node > "cz" ? "yes" : "no" });
const selectors: Readonly<Record<string, string>> = { red: "infra!=yes" };
const siteArb = fc.record({ nodes: fc.subarray(nodeNames), networks: fc.subarray(Object.keys(networks)) });
type Site = { readonly nodes: readonly string[]; readonly networks: readonly string[] };

function definitions({ networks: names }: Site): (Bag & { readonly kind: string })[] {
  const one = (name: string) => selecting(selectors[name], attachment(name, networks[name] ?? {}));
  return names.map((name) => ({ ...one(name), kind: "NetworkAttachmentDefinition" }));
}

/** The record after a plan for a site, and after what is releasing was confirmed to be free. */
function planned(site: Site, before: Snapshot): Snapshot {
  const model = unwrap(whereabouts.read({ owned: definitions(site).map(placeless), others: [] }));
  const nodes = site.nodes.map((name) => ({ name, labels: new Map(Object.entries(labelsOf(name))), bare: false }));
  const pools = (whereabouts.pools?.(model) ?? []).map(({ pool }) => pool);
  const facts = { nodes, pools: new Map(pools.map((pool) => [pool.name, pool])) };
  const after = apply(plan({ pools, claims: whereabouts.claims(model, facts), snapshot: before }), before);
  return { ...after, releasing: [] };
}

/** The same for the controller: one site becomes the next one, and what is free by that becomes so. */
async function become(sim: SimController, from: Site, to: Site): Promise<void> {
  for (const node of from.nodes) if (!to.nodes.includes(node)) sim.remove("Node", node);
  for (const name of from.networks)
    if (!to.networks.includes(name)) sim.remove("NetworkAttachmentDefinition", name, "default");
  for (const node of to.nodes) if (!from.nodes.includes(node)) sim.node(node, labelsOf(node));
  const there = new Set(from.networks);
  for (const one of definitions(to)) if (!there.has(`${(one.metadata as Bag).name}`)) sim.create(one);
  await sim.pass(3 * timing.hold);
}

function linesOf({ allocations }: Snapshot): string[] {
  return allocations.map((line) => `${line.pool} ${formatBlock(line)} ${line.claim}`);
}

it("a plan and the controller give the same slices, whatever comes and goes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(siteArb, { minLength: 2, maxLength: 4 }), async (sites) => {
      const integrations = [nmstateInCluster, slicesInCluster("kube-system")];
      const sim = new SimController(undefined, undefined, undefined, integrations);
      let snapshot = emptySnapshot;
      let before: Site = { nodes: [], networks: [] };
      for (const site of sites) {
        snapshot = planned(site, snapshot);
        await become(sim, before, site);
        expect(linesOf(sim.record)).toEqual(linesOf(snapshot));
        expect(sim.record.releasing).toEqual([]);
        before = site;
      }
    }),
    { numRuns: tries(4, 500) },
  );
});
