import fc from "fast-check";
import { expect, it } from "vitest";
import { whereabouts } from "../../../integrations/whereabouts/plan.ts";
import { readersOfUses, usesOf } from "../../../pipeline/desired.ts";
import { emptyFindings } from "../../../schema/findings.ts";
import { placeless } from "../../../schema/objects.ts";
import { tries } from "../../support/long.ts";
import { slicePool } from "../../support/objects/whereabouts-objects.ts";

const keys = ["type", "range", "ipRanges", "node_slice_size", "range_start", "range_end", "exclude", "gateway"].concat(
  "network_name",
  "plugins",
  "ipam",
  "name",
  "toString",
);
const words = [
  "whereabouts",
  "10.0.0.0/16",
  "fd00::/48",
  "/24",
  "24",
  "64",
  "10.0.0.1",
  "10.0.0.5-10.0.9.9/16",
  "-",
  "",
];

/** Anything that JSON can hold, mostly of what a configuration has. */
const jsonArb = fc
  .letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.oneof(fc.constantFrom<unknown>(...words, null, 0, 24, true), fc.string()),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...keys), tie("value"), { maxKeys: 6 }),
    ),
  }))
  .value.map((value): unknown => JSON.parse(JSON.stringify(value)));

const ipamArb = fc.dictionary(fc.constantFrom(...keys), jsonArb, { maxKeys: 4 }).map((ipam) => ({
  node_slice_size: "/24",
  range: "10.0.0.0/16",
  ...ipam,
  type: "whereabouts",
}));
const configArb = fc.oneof(
  jsonArb,
  ipamArb.map((ipam) => ({ name: "a", ipam })),
  fc.tuple(jsonArb, ipamArb).map(([name, ipam]) => ({ name, plugins: [name, { ipam }] })),
);

function definition(config: unknown, i: number) {
  const metadata = { name: `n${i}` };
  return { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition", metadata, spec: { config } };
}

it("whatever a configuration or a NodeSlicePool says is read, or told as an issue with a place", () => {
  const readers = readersOfUses([whereabouts], []);
  let read = 0;
  fc.assert(
    fc.property(fc.array(configArb, { minLength: 1, maxLength: 3 }), (configs) => {
      const objects = configs.map((config, i) => placeless(definition(JSON.stringify(config), i)));
      const owned = objects.filter(({ object }) => whereabouts.reads[0]?.owns(object));
      const { value: model, issues = [] } = whereabouts.read({ owned, others: [] });
      if (model !== undefined) read += whereabouts.pools?.(model).length ?? 0;
      for (const issue of issues) expect(issue).toMatchObject({ message: expect.any(String), at: expect.anything() });
      const found = emptyFindings();
      for (const config of configs) {
        const entries = [config, { nodeName: config, sliceRange: config }, { nodeName: "a", sliceRange: config }];
        const pool = { ...slicePool("p", "10.0.0.0/16", "/24", {}), status: { allocations: entries } };
        usesOf(placeless(pool), readers, found);
        usesOf(placeless(definition(config, 0)), readers, found);
      }
    }),
    { numRuns: tries(500, 20_000) },
  );
  expect(read).toBeGreaterThan(5);
});
