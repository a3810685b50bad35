import { describe, expect, it } from "vitest";
import { kindsOf } from "../../../controller/cache/kinds.ts";
import { keep } from "../../../controller/cache/seen.ts";
import type { ClusterIntegration } from "../../../integrations/contract/cluster-integration.ts";
import type { Recording } from "../../../integrations/contract/recording.ts";
import type { Concern, WatchedKind } from "../../../integrations/contract/watched-kind.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { toy } from "../../support/toy-integration.ts";

const secret = { apiVersion: "v1", kind: "Secret", plural: "secrets" };

function watching(kind: Partial<WatchedKind> & Pick<WatchedKind, "keep">, concern: Concern): ClusterIntegration {
  const part: Recording = {
    kinds: [{ ...secret, ...kind }],
    concerns: () => concern,
    sourceOf: (claim) => claim,
    gone: () => [],
  };
  return { ...toy, recording: part };
}

const type: Pick<WatchedKind, "keep"> = { keep: ({ type }) => ({ type, data: { a: 1 } }) };
const data: Pick<WatchedKind, "keep"> = { keep: ({ data }) => ({ data: { b: asBag(data)?.b } }) };
const one: Concern = { owners: ["Host/a"], sources: ["Thing/a"], isEvidence: true };
const nobody: Concern = { owners: [], sources: [] };

function merged(...integrations: ClusterIntegration[]) {
  const found = kindsOf(integrations).filter(({ kind }) => kind === "Secret");
  expect(found).toHaveLength(1);
  return found[0] as (typeof found)[0];
}

it("kinds of two groups that have one name are two", () => {
  const other = { ...type, apiVersion: "example.org/v1" };
  const found = kindsOf([watching(type, one), watching(other, nobody)]).filter(({ kind }) => kind === "Secret");
  expect(found.map(({ apiVersion }) => apiVersion)).toEqual(["v1", "example.org/v1"]);
});

describe("a kind that two integrations watch", () => {
  it("is watched once, and what either keeps is kept", () => {
    const kind = merged(watching(type, one), watching(data, one));
    expect(kind.keep({ type: "Opaque", data: { b: 2, c: 3 } })).toEqual({ type: "Opaque", data: { a: 1, b: 2 } });
  });

  it("of what one made is the same to who watches it alone, and to both", () => {
    const [alone] = kindsOf([watching(data, one)]).filter(({ kind }) => kind === "Secret");
    const made = { metadata: { name: "a", labels: { "app.kubernetes.io/managed-by": "nodeippool-controller" } } };
    const both = merged(watching(data, one), watching(data, one));
    expect(keep(both, made)).toEqual(keep(alone as typeof both, made));
  });

  it("is watched by each selection once, or as a whole", () => {
    const by = (labels: string) => watching({ ...type, where: { labels } }, one);
    expect(merged(by("a"), by("b"), by("a")).selections).toEqual([{ labels: "a" }, { labels: "b" }]);
    expect(merged(by("a"), watching(type, one)).selections).toEqual([{}]);
  });

  it("keeps the longer of two lists, whoever keeps it", () => {
    const list = (length: number) => ({ keep: ({ list }: Bag) => ({ list: (list as unknown[]).slice(0, length) }) });
    const whole = { list: [1, 2, 3] };
    for (const [a, b] of [
      [1, 3],
      [3, 1],
    ] as const)
      expect(merged(watching(list(a), one), watching(list(b), one)).keep(whole)).toEqual(whole);
  });

  it.each<[string, Concern, Concern, Concern]>([
    ["whom it concerns for either", one, { ...one, owners: ["Host/b"] }, { ...one, owners: ["Host/a", "Host/b"] }],
    [
      "all if it does for one",
      one,
      { owners: "all", sources: [] },
      { owners: "all", sources: ["Thing/a"], isEvidence: false },
    ],
    ["evidence if it is nothing else to the other", one, nobody, one],
    [
      "no evidence alone if the other one decides by it",
      one,
      { ...one, isEvidence: false },
      { ...one, isEvidence: false },
    ],
  ])("concerns %s", (_, a, b, expected) => {
    expect(merged(watching(type, a), watching(data, b)).concerns({})).toEqual(expected);
  });

  it("has a mere status only where it is that to both", () => {
    const mere = { ...type, ignoresStatus: true };
    expect(merged(watching(mere, one), watching(type, one)).ignoresStatus).toBe(false);
    expect(merged(watching(mere, one), watching(mere, one)).ignoresStatus).toBe(true);
  });
});
