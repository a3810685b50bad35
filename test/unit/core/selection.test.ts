import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PoolRules, Selectable } from "../../../core/index.ts";
import { type NamedPools, type PoolRequest, type PoolSource, selectPools } from "../../../core/index.ts";
import { poolOf } from "../../support/core/text.ts";

const plenty = { all: 10n, usable: 10n, unreserved: 10n, free: 10n };
const some = { matchLabels: { rack: "a" } };

function selectable(name: string, rules: PoolRules = {}, more: Partial<Selectable> = {}): Selectable {
  return { pool: poolOf(name, "10.0.0.0/24"), rules, isTerminating: false, room: plenty, ...more };
}

/** Who asks: pods of namespace shop, for node n1 of rack a. */
const asking: PoolRequest = {
  family: 4,
  namespace: { name: "shop", labels: { rack: "a" } },
  labels: { rack: "a" },
  nodeSelector: { "kubernetes.io/hostname": "n1", rack: "a" },
  network: "shop/lan",
  named: {},
};

function tried(request: Partial<PoolRequest>, pools: readonly Selectable[]): string[] {
  return selectPools({ ...asking, ...request }, pools).flatMap(({ pool, place }) => (place === undefined ? [] : pool));
}

function eitherOf(named: Partial<Record<PoolSource, string[]>>): PoolRequest["named"] {
  return Object.fromEntries(Object.entries(named).map(([source, any]): [string, NamedPools] => [source, { any }]));
}

function whyNot(request: Partial<PoolRequest>, one: Selectable): string | undefined {
  const [verdict] = selectPools({ ...asking, named: { workload: { 4: ["p"] } }, ...request }, [one]);
  return verdict?.place === undefined ? verdict?.why[0] : undefined;
}

describe("candidates", () => {
  const pools = ["a", "b", "c", "d", "e"].map((name) => selectable(name, { default: name === "e" }));

  it.each<[string, Partial<Record<PoolSource, string[]>>, string[]]>([
    ["S12 subnets come first", { subnet: ["a"], workload: ["b"], namespace: ["c"], network: ["d"] }, ["a"]],
    ["S13 then pools of the workload", { workload: ["b"], namespace: ["c"], network: ["d"] }, ["b"]],
    ["S15 then those of the namespace", { namespace: ["c"], network: ["d"] }, ["c"]],
    ["S16 then those of the network, in their order", { network: ["d", "b", "a"] }, ["d", "b", "a"]],
    ["S17 then the default pools of the cluster", {}, ["e"]],
    [
      "a name with wildcards stands for all that have it, by name",
      { workload: ["[bd]", "*"] },
      ["b", "d", "a", "c", "e"],
    ],
    ["a name that is there twice counts once", { workload: ["b", "a", "b"] }, ["b", "a"]],
  ])("%s", (_, named, want) => {
    expect(tried({ named: eitherOf(named) }, pools)).toEqual(want);
  });

  it("S11, I11: a higher source replaces the lower ones, also where all of its pools are dropped", () => {
    const all = [selectable("a", { disable: true }), selectable("e", { default: true })];
    expect(selectPools({ ...asking, named: { workload: { any: ["a", "x"] } } }, all)).toEqual([
      { pool: "e", source: "cluster", why: ["not asked: pools of the pod come first"] },
      { pool: "a", source: "workload", why: ["dropped: it is disabled"] },
      { pool: "x", source: "workload", why: ["dropped: there is no pool of this name"] },
    ]);
  });

  it("there are none where nobody names a pool", () => expect(selectPools(asking, [selectable("a")])).toEqual([]));
});

describe("filter", () => {
  const six = { pool: poolOf("p", "fd00::/64") };
  const other = { matchLabels: { rack: "b" } };
  it.each<[string, PoolRules, Partial<Selectable>, string | undefined]>([
    ["S18 is being deleted", {}, { isTerminating: true }, "it is being deleted"],
    ["S19 is disabled", { disable: true }, {}, "it is disabled"],
    ["S20 is for another node", { nodeName: ["n2"] }, {}, "it is not for nodes with kubernetes.io/hostname=n1,rack=a"],
    ["S20 is for this node", { nodeName: ["n2", "n1"] }, {}, undefined],
    [
      "S20 selects other nodes",
      { nodeAffinity: other },
      {},
      "it is not for nodes with kubernetes.io/hostname=n1,rack=a",
    ],
    ["S20 selects this node", { nodeAffinity: some }, {}, undefined],
    ["S20, I2: names count before a selector", { nodeName: ["n1"], nodeAffinity: other }, {}, undefined],
    [
      "S20, I2: also where they leave the node out",
      { nodeName: ["n2"], nodeAffinity: some },
      {},
      "it is not for nodes with kubernetes.io/hostname=n1,rack=a",
    ],
    ["S21 is for another namespace", { namespaceName: ["x"] }, {}, "it is not for namespace shop"],
    ["S21 selects other namespaces", { namespaceAffinity: other }, {}, "it is not for namespace shop"],
    ["S21 names this one", { namespaceName: ["shop"], namespaceAffinity: other }, {}, undefined],
    ["S22, I1 is for other pods", { podAffinity: other }, {}, "it is not for pods with these labels"],
    ["S22 is for these pods", { podAffinity: some }, {}, undefined],
    ["S23 is for another network", { multusName: ["shop/wan"] }, {}, "it is not for network shop/lan"],
    ["S23 is for this network", { multusName: ["shop/lan"] }, {}, undefined],
    [
      "S24 is excluded",
      {},
      { room: { ...plenty, usable: 0n, unreserved: 0n, free: 0n } },
      "all of its 10 addresses are excluded",
    ],
    ["S25 is reserved", {}, { room: { ...plenty, unreserved: 0n, free: 0n } }, "all of its 10 addresses are reserved"],
    ["S26 is exhausted", {}, { room: { ...plenty, free: 0n } }, "exhausted (0 of 10 free)"],
    ["S27 is of the other family, and named for this one", {}, six, "it has no IPv4"],
  ])("a pool that %s", (_, rules, more, why) => {
    expect(whyNot({}, selectable("p", rules, more))).toBe(why && `dropped: ${why}`);
  });

  it.each<[string, PoolRequest["nodeSelector"], PoolRules, string | undefined]>([
    ["nothing of its node", {}, { nodeName: ["n2"] }, undefined],
    ["only another label", { zone: "z" }, { nodeAffinity: some }, undefined],
    ["a label that it needs", { rack: "b" }, { nodeAffinity: some }, "it is not for nodes with rack=b"],
    [
      "a label that it may not have",
      { rack: "b" },
      { nodeAffinity: { matchExpressions: [{ key: "rack", operator: "DoesNotExist" }] } },
      "it is not for nodes with rack=b",
    ],
  ])("S20: a pool for certain nodes, where the pod says %s", (_, nodeSelector, rules, why) => {
    expect(whyNot({ nodeSelector }, selectable("p", rules))).toBe(why && `dropped: ${why}`);
  });

  it("S27: one of the other family is left out without a word, but where it is named for this one", () => {
    const pools = [selectable("p"), selectable("six", { default: true }, { pool: poolOf("six", "fd00::/64") })];
    const said = (named: PoolRequest["named"]) =>
      selectPools({ ...asking, named }, pools).map(({ pool, why }) => [pool, ...why].join(" "));
    expect(said({})).toEqual([]);
    expect(said({ workload: { any: ["six", "p"] }, network: { 6: ["six"] } })).toEqual(["p"]);
    expect(said({ workload: { 4: ["s*", "p"] } })).toEqual(["p"]);
    expect(said({ workload: { 4: ["p", "six"] } })).toEqual(["p", "six dropped: it has no IPv4"]);
  });
});

const rules = {
  podAffinity: some,
  nodeName: ["n1"],
  nodeAffinity: some,
  namespaceName: ["shop"],
  namespaceAffinity: some,
  multusName: ["shop/lan"],
} as const;
type Rule = keyof typeof rules;
const withRules = (name: string, ...has: readonly Rule[]) =>
  selectable(name, Object.fromEntries(has.map((rule) => [rule, rules[rule]])));

describe("sort", () => {
  it.each<[string, Rule[], Rule[]]>([
    ["S32, first example", ["podAffinity", "nodeName"], ["podAffinity"]],
    ["S32, second example, I9", ["podAffinity"], ["nodeName", "namespaceName"]],
    ["S32, third example", ["podAffinity", "nodeName"], ["podAffinity", "namespaceName", "multusName"]],
    ["S28", ["podAffinity"], ["nodeName", "nodeAffinity", "namespaceName", "namespaceAffinity", "multusName"]],
    ["S29", ["nodeName"], ["nodeAffinity", "namespaceName"]],
    ["S30", ["namespaceName"], ["namespaceAffinity", "multusName"]],
    ["S31", ["multusName"], []],
  ])("%s", (_, first, second) => {
    const pools = [withRules("a", ...second), withRules("b", ...first)];
    expect(tried({ named: { workload: { any: ["a", "b"] } } }, pools)).toEqual(["b", "a"]);
  });

  it("I3: pools with the same rules stay in the order of their source", () => {
    const pools = ["a", "b", "c"].map((name) => withRules(name, "nodeName"));
    expect(tried({ named: { network: { any: ["c", "a", "b"] } } }, pools)).toEqual(["c", "a", "b"]);
  });
});

/** The same, as somebody would do it by hand: each rule is a digit of a number. */
function naive(names: readonly string[], pools: readonly Selectable[]): string[] {
  const order = Object.keys(rules) as Rule[];
  const weight = ({ rules: of }: Selectable) =>
    order.reduce((sum, rule, i) => sum + (of[rule] === undefined ? 0 : 2 ** (order.length - i)), 0);
  const left = names.flatMap((name) => pools.filter(({ pool, rules: of }) => pool.name === name && !of.disable));
  const result: string[] = [];
  while (left.length > 0) {
    const best = left.reduce((a, b) => (weight(b) > weight(a) ? b : a));
    left.splice(left.indexOf(best), 1);
    result.push(best.pool.name);
  }
  return result;
}

it("is what a naive model says, whatever the order in which pools are given", () => {
  const anyPools = fc.uniqueArray(
    fc.tuple(fc.constantFrom(..."abcdefgh"), fc.subarray(Object.keys(rules) as Rule[]), fc.boolean()),
    { selector: ([name]) => name, minLength: 1 },
  );
  fc.assert(
    fc.property(anyPools, fc.nat(), (made, seed) => {
      const pools = made.map(([name, has, disable]) => {
        const one = withRules(name, ...has);
        return { ...one, rules: { ...one.rules, disable } };
      });
      const names = pools.map(({ pool }) => pool.name);
      const turned = pools.map((_, i) => pools[(i + seed) % pools.length] as Selectable);
      const named = { workload: { any: names } };
      expect(tried({ named }, turned)).toEqual(naive(names, pools));
    }),
  );
});
