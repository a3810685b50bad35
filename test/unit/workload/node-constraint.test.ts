import { describe, expect, it } from "vitest";
import { nodesReaching, type PoolSpec, parsePool, unwrap } from "../../../core/index.ts";
import { affinityWith } from "../../../integrations/workload/node-constraint.ts";

function nodesFor(rules: Partial<PoolSpec>) {
  return nodesReaching(unwrap(parsePool("p", { range: { cidr: "10.0.0.0/24" }, ...rules })));
}

const rack = { key: "rack", operator: "In", values: ["a"] };
const requiring = (...nodeSelectorTerms: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});

describe("S2, S20: the nodes that reach the addresses of a pool", () => {
  it.each<[string, Partial<PoolSpec>, object[]]>([
    ["all", {}, []],
    ["by labels", { nodeAffinity: { matchLabels: { rack: "a" } } }, [rack]],
    [
      "by requirements",
      { nodeAffinity: { matchExpressions: [{ key: "gpu", operator: "DoesNotExist" }] } },
      [{ key: "gpu", operator: "DoesNotExist" }],
    ],
    [
      "by both",
      { nodeAffinity: { matchLabels: { rack: "a" }, matchExpressions: [{ key: "gpu", operator: "Exists" }] } },
      [rack, { key: "gpu", operator: "Exists" }],
    ],
    [
      "I2: by names, which count before labels",
      { nodeName: ["n1", "n2"], nodeAffinity: { matchLabels: { rack: "a" } } },
      [{ key: "kubernetes.io/hostname", operator: "In", values: ["n1", "n2"] }],
    ],
  ])("%s", (_, rules, want) => expect(nodesFor(rules)).toEqual(want));
});

describe("a pod that is to run on them", () => {
  const nodes = nodesFor({ nodeAffinity: { matchLabels: { rack: "a" } } });
  const gpu = { key: "gpu", operator: "Exists" };

  it("requires them", () => expect(affinityWith({}, nodes)).toEqual(requiring({ matchExpressions: [rack] })));

  it("requires them in each of its terms, which stay as they are otherwise", () => {
    const fields = { matchFields: [{ key: "metadata.name", operator: "In", values: ["n1"] }] };
    const spec = requiring({ matchExpressions: [gpu] }, fields);
    expect(affinityWith(spec, nodes)).toEqual(
      requiring({ matchExpressions: [gpu, rack] }, { ...fields, matchExpressions: [rack] }),
    );
  });

  it("requires none twice, and nothing where all nodes will do", () => {
    expect(affinityWith(requiring({ matchExpressions: [rack] }), nodes)).toEqual(
      requiring({ matchExpressions: [rack] }),
    );
    expect(affinityWith({}, [])).toEqual({});
  });
});
