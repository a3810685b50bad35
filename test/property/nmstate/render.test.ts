import fc from "fast-check";
import { expect, it } from "vitest";
import { isMap, isSeq, parseAllDocuments } from "yaml";
import { tries } from "../../support/long.ts";
import { dataArb, hasTemplate } from "../../support/schema/arbitrary.ts";
import { rendered } from "../../support/schema/render.ts";
import { documentsOf, poolText } from "../../support/schema/text.ts";

/** JSON with references in some places, as a policy's desired state. Fields that must be text are others' business. */
const stateArb = dataArb.filter(
  (data) =>
    typeof data === "object" &&
    data !== null &&
    !Array.isArray(data) &&
    !hasTemplate(data) &&
    !/"(?:name|ip|peer|ports?|description|controller)":/.test(JSON.stringify(data)),
);

function manifests(desiredState: unknown): string {
  const policy = {
    apiVersion: "nmstate.io/v1",
    kind: "NodeNetworkConfigurationPolicy",
    metadata: { name: "a", annotations: { note: "n" } },
    spec: { capture: { x: "ippool.p.allocate" }, desiredState },
  };
  return documentsOf(poolText(), `${JSON.stringify(policy)}\n`);
}

const statesOf = (text: string, version: "1.1" | "1.2") =>
  parseAllDocuments(text, { version, logLevel: "silent" })
    .slice(1)
    .map((document) => {
      const state = document.getIn(["spec", "desiredState"], true);
      return isMap(state) || isSeq(state) ? state.toJS(document) : state;
    });

it("what a policy says besides references, readers of YAML 1.1 and 1.2 read as it was written", async () => {
  await fc.assert(
    fc.asyncProperty(stateArb, async (state) => {
      const { "f.yaml": text = "" } = await rendered({ manifests: manifests(state), nodes: "n1\nn2" });
      const plain = JSON.parse(JSON.stringify(state));
      for (const version of ["1.1", "1.2"] as const) expect(statesOf(text, version)).toEqual([plain, plain]);
    }),
    { numRuns: tries(100, 4_000) },
  );
});

it("what render makes, readManifests takes as foreign, and render again passes through", async () => {
  await fc.assert(
    fc.asyncProperty(stateArb, async (state) => {
      const once = await rendered({ manifests: manifests(state), nodes: "n1" });
      expect(await rendered({ manifests: once, nodes: "n1" })).toEqual(once);
    }),
    { numRuns: tries(50, 1_500) },
  );
});
