import { describe, expect, it } from "vitest";
import { policiesOf } from "../../support/schema/render.ts";
import { issuesOf, nicPolicyText, poolText } from "../../support/schema/text.ts";

const annotation = "nodeippool.nmstate.io/nodes-per-sync-wave";
const annotated = (annotations: string) =>
  nicPolicyText("a").replace("{name: a}", `{name: a, annotations: {${annotations}}}`);
const inWaves = (nodes: number) => annotated(`${annotation}: "${nodes}", note: x`);

async function annotationsOf(policy: string, nodes: string, pool = poolText()) {
  const made = await policiesOf({ manifests: `${pool}---\n${policy}`, nodes });
  return Object.fromEntries([...made].map(([name, { metadata }]) => [name, metadata.annotations]));
}

const wave = (number: number) => ({ note: "x", "argocd.argoproj.io/sync-wave": `${number}` });

describe("a folder's policy with waves", () => {
  it("has at most so many nodes in each, in the order of addresses", async () => {
    const made = await annotationsOf(inWaves(2), "n1\nn2\nn3\nn4");
    expect(made).toEqual({ "a--n1": wave(1), "a--n2": wave(2), "a--n3": wave(2), "a--n4": wave(3) });
  });

  it("puts the parked policy behind all of them", async () => {
    const pool = poolText(
      "  range: {cidr: 10.0.0.0/24}\n  clusterRange: {start: 10.0.0.200, end: 10.0.0.250}\n  authority: Plan",
    );
    const made = await annotationsOf(inWaves(1), "n1", pool);
    expect(made).toEqual({ "a--n1": wave(2), a: wave(1_000_001) });
  });

  it("without them has no annotation at all", async () => {
    expect(await annotationsOf(nicPolicyText("a"), "n1")).toEqual({ "a--n1": undefined });
  });

  it.each([
    [`${annotation}: "0"`, `${annotation} must be a whole number above 0`],
    [`${annotation}: 2`, `${annotation} must be text; quote it`],
    [
      `nodeippool.nmstate.io/nodes-per-wave: "2"`,
      `unknown annotation nodeippool.nmstate.io/nodes-per-wave; did you mean ${annotation}?`,
    ],
  ])("refuses %s", (text, issue) => {
    expect(issuesOf({ "f.yaml": annotated(text), "pools.yaml": poolText() })).toEqual([expect.stringContaining(issue)]);
  });
});
