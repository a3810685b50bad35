import fc from "fast-check";
import { expect, it } from "vitest";
import { address, parsePrefix } from "../../../core/address.ts";
import { emptySnapshot, type Snapshot } from "../../../core/allocation.ts";
import { blocksOverlap, formatBlock, lastOf } from "../../../core/block.ts";
import { unwrap } from "../../../core/errors.ts";
import { plan } from "../../../core/plan/plan.ts";
import { nodeSlicePool } from "../../../integrations/whereabouts/node-slice-pool.ts";
import { whereabouts } from "../../../integrations/whereabouts/plan.ts";
import { placeless } from "../../../schema/objects.ts";
import { apply } from "../../support/core/apply.ts";
import { shuffled } from "../../support/core/arbitrary.ts";
import { tries } from "../../support/long.ts";
import { attachment, listAttachment } from "../../support/objects/whereabouts-objects.ts";

/** What is cut into slices: of each family, with and without addresses that nobody may have. */
const ranges = {
  four: { range: "10.1.0.0/16", node_slice_size: "/24", gateway: "10.1.0.1", exclude: ["10.1.3.0/26", "10.1.5.9"] },
  part: { range: "10.2.0.9-10.2.1.130/16", node_slice_size: "/28" },
  six: { range: "fd00:1::/48", node_slice_size: "64" },
  small: { range: "fd00:2::/64", node_slice_size: "/120", gateway: "fd00:2::1" },
};
const names = Object.keys(ranges) as (keyof typeof ranges)[];
const nodeNames = ["a", "b", "c", "d.example.org", "e", "f", "g"];

/** Some of the networks, each with one or two definitions, and some of the nodes. */
interface Site {
  readonly networks: readonly (readonly [keyof typeof ranges, shared: boolean])[];
  readonly nodes: readonly string[];
}

const siteArb: fc.Arbitrary<Site> = fc.record({
  networks: fc
    .subarray(names)
    .chain((some) => fc.tuple(...some.map((name) => fc.tuple(fc.constant(name), fc.boolean())))),
  nodes: fc.subarray(nodeNames),
});

function definitions({ networks }: Site) {
  return networks.flatMap(([name, isShared]) => {
    const ipam = { ...ranges[name], network_name: name };
    return [attachment(`${name}-a`, ipam), ...(isShared ? [listAttachment(`${name}-b`, ipam, "apps")] : [])];
  });
}

/** What the integration makes of definitions, and the record after a plan for it. */
function rolled(site: Site, before: Snapshot, objects = definitions(site), names = site.nodes) {
  const model = unwrap(whereabouts.read({ owned: objects.map(placeless), others: [] }));
  const nodes = names.map((name) => ({ name, labels: new Map<string, string>(), bare: true }));
  const pools = (whereabouts.pools?.(model) ?? []).map(({ pool }) => pool);
  const facts = { nodes, pools: new Map(pools.map((pool) => [pool.name, pool])) };
  const proposed = plan({ pools, claims: whereabouts.claims(model, facts), snapshot: before });
  expect(proposed.pending).toEqual([]);
  const snapshot = apply(proposed, before);
  return { model, pools, snapshot, written: model.networks.map((network) => nodeSlicePool(network, snapshot)) };
}

/** The slices that nobody may have: these addresses are in them. */
const withheld = ["10.1.0.1", "10.1.3.5", "10.1.5.9", "10.2.0.9", "10.2.1.130", "fd00:2::1"].map(address);

it("slices are aligned, inside of their range, never overlap, hold nothing that is withheld; nodes and networks that come and go move nobody", () => {
  fc.assert(
    fc.property(fc.array(siteArb, { minLength: 2, maxLength: 6 }), (sites) => {
      let snapshot = emptySnapshot;
      for (const site of sites) {
        const before = new Map(snapshot.allocations.map((line) => [line.claim, formatBlock(line)]));
        const after = rolled(site, snapshot);
        snapshot = after.snapshot;
        const lines = [...snapshot.allocations, ...snapshot.releasing];
        for (const [i, line] of lines.entries()) {
          const { range, node_slice_size: size } = ranges[line.pool as keyof typeof ranges];
          const { first, last } = unwrap(parsePrefix(range.replace(/.*-/, "")));
          expect(unwrap(parsePrefix(formatBlock(line))).first).toBe(line.address);
          expect(line.length).toBe(Number(size.replace("/", "")));
          expect(line.address >= first && lastOf(line) <= last).toBe(true);
          expect(withheld.filter((one) => blocksOverlap({ address: one }, line))).toEqual([]);
          expect(lines.slice(i + 1).filter((other) => blocksOverlap(line, other))).toEqual([]);
        }
        const live = new Map(snapshot.allocations.map((line) => [line.claim, formatBlock(line)]));
        for (const [name] of site.networks)
          for (const node of site.nodes) {
            const claim = `Node/${node}/${name}`;
            expect(live.has(claim)).toBe(true);
            if (before.has(claim)) expect(live.get(claim)).toBe(before.get(claim));
          }
      }
    }),
    { numRuns: tries(150, 3_000) },
  );
});

it("the order of definitions and of nodes makes no difference, to who has what or to what is written", () => {
  fc.assert(
    fc.property(siteArb, siteArb, fc.nat(), (first, site, seed) => {
      const { snapshot } = rolled(first, emptySnapshot);
      const once = rolled(site, snapshot);
      const again = rolled(site, snapshot, shuffled(definitions(site), seed), shuffled(site.nodes, seed));
      expect(again.snapshot.allocations).toEqual(once.snapshot.allocations);
      expect(JSON.stringify(again.written)).toBe(JSON.stringify(once.written));
    }),
    { numRuns: tries(100, 2_000) },
  );
});
