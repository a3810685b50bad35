import { describe, expect, it } from "vitest";
import { type Pool, type PoolSpec, parsePool, unwrap } from "../../../core/index.ts";
import { namedBy, namedByNamespace, namedByPod } from "../../../integrations/workload/named-pools.ts";
import { type NicRequest, poolsForNic } from "../../../integrations/workload/nic-pools.ts";
import type { Bag } from "../../../schema/objects.ts";

function poolsOf(specs: Readonly<Record<string, Partial<PoolSpec>>>): ReadonlyMap<string, Pool> {
  const pools = Object.entries(specs).map(([name, spec], i): [string, Pool] => {
    const cidr = name.endsWith("6") ? `fd00:${i}::/64` : `10.${i}.0.0/24`;
    return [name, unwrap(parsePool(name, { range: { cidr }, ...spec }))];
  });
  return new Map(pools);
}

const annotations = {
  subnet: { "ipam.spidernet.io/subnet": '{"ipv4": ["sub"]}' },
  ippool: { "ipam.spidernet.io/ippool": '{"ipv4": ["a", "b"]}' },
  own: { "nodeippool.nmstate.io/pool": "a, a6" },
};

/** `4 a b` for each family of a NIC of a pod with these annotations. */
function triedFor(pod: Bag, more: Partial<NicRequest> = {}, pools = all, nic = "net1", place = 0): string[] {
  const { subnet, workload } = unwrap(namedByPod(pod, { nic, place }));
  const request: NicRequest = {
    namespace: { name: "shop", labels: { tier: "gold" } },
    labels: { app: "db" },
    nodeSelector: {},
    network: "shop/lan",
    owner: "StatefulSet/shop:db",
    ...more,
    named: { subnet, workload, ...more.named },
  };
  const found = unwrap(poolsForNic(request, { pools }));
  return found.map(({ family, choice: { tried, kept } }) =>
    [family, ...tried, ...(kept.length > 0 ? [`keeps ${kept.join(" ")}`] : [])].join(" "),
  );
}

const all = poolsOf({ a: {}, b: {}, c: {}, sub: {}, a6: {}, d: { default: true }, d6: { default: true } });
const namespace = { named: { namespace: { 4: ["c"] } } };
const network = { named: { network: namedBy({ "nodeippool.nmstate.io/pool": "b, a6" }) } };

describe("the pools for a NIC", () => {
  it.each<[string, Bag, Partial<NicRequest>, string[]]>([
    ["S12: of the subnet of the pod", { ...annotations.subnet, ...annotations.ippool }, namespace, ["4 sub"]],
    ["S13: named by the pod, in their order", annotations.ippool, namespace, ["4 a b"]],
    ["S15: of the namespace", {}, { named: { ...network.named, ...namespace.named } }, ["4 c"]],
    ["S16: of the network", {}, network, ["4 b", "6 a6"]],
    ["S17: with default, which keep what others had", {}, {}, ["4 d keeps a b c sub", "6 d6 keeps a6"]],
    ["S27: of the families that are stated alone", annotations.ippool, network, ["4 a b"]],
    ["of each family, where names alone are stated", annotations.own, namespace, ["4 a", "6 a6"]],
  ])("%s", (_, pod, more, want) => expect(triedFor(pod, more)).toEqual(want));

  it("I11: are none where the highest source has none that will do: no other source is asked", () => {
    const pools = poolsOf({ a: { disable: true }, b: { namespaceName: ["other"] }, d: { default: true } });
    expect(triedFor(annotations.ippool, {}, pools)).toEqual(["4 keeps a b"]);
  });

  it("S21, S22, S23: are for the namespace, the pod and the network", () => {
    const pools = poolsOf({
      a: { namespaceAffinity: { matchLabels: { tier: "gold" } }, podAffinity: { matchLabels: { app: "db" } } },
      b: { multusName: ["shop/lan"] },
      c: { podAffinity: { matchLabels: { app: "web" } } },
    });
    expect(triedFor({ "nodeippool.nmstate.io/pool": "b,c,a" }, {}, pools)).toEqual(["4 a b keeps c"]);
    expect(triedFor({ "nodeippool.nmstate.io/pool": "b,c,a" }, { network: "shop/wan" }, pools)).toEqual([
      "4 a keeps b c",
    ]);
  });

  it("S24, S25: have addresses to give, also those that are reserved for the workload itself", () => {
    const reservations = [{ address: "10.0.0.1", owner: "StatefulSet/shop:db" }];
    const range = { cidr: "10.0.0.0/24", start: "10.0.0.1", end: "10.0.0.1" };
    const pools = poolsOf({ a: { range, reservations }, b: {} });
    expect(triedFor(annotations.ippool, {}, pools)).toEqual(["4 a b"]);
    expect(triedFor(annotations.ippool, { owner: "StatefulSet/shop:web" }, pools)).toEqual(["4 b keeps a"]);
  });

  it("S27: one that is named for the other family is dropped, and gives and keeps nothing", () => {
    const pod = { "ipam.spidernet.io/ippool": '{"ipv4": ["a6"], "ipv6": ["a6"]}' };
    expect(triedFor(pod)).toEqual(["4", "6 a6"]);
  });

  it("may be named with wildcards", () => {
    expect(triedFor({ "nodeippool.nmstate.io/pool": "[ab]*" })).toEqual(["4 a b", "6 a6"]);
    expect(triedFor({ "nodeippool.nmstate.io/pool": "[bc]*" })).toEqual(["4 b c"]);
  });
});

describe("lists of Spiderpool", () => {
  const byName = '[{"interface": "net2", "ipv4": ["b"]}, {"interface": "net1", "ipv4": ["a"], "ipv6": ["a6"]}]';
  const byPlace = '[{"ipv4": ["a"]}, {"ipv4": ["b"]}]';
  it.each<[string, string, string, number, string[]]>([
    ["name the NIC", byName, "net1", 0, ["4 a", "6 a6"]],
    ["name another NIC", byName, "net2", 1, ["4 b"]],
    ["have NICs in their order", byPlace, "net2", 1, ["4 b"]],
    [
      "do not name the NIC: then nobody below is asked for the pod's",
      byName,
      "net3",
      2,
      ["4 d keeps a b c sub", "6 d6 keeps a6"],
    ],
  ])("that %s", (_, list, nic, place, want) => {
    const pod = { "ipam.spidernet.io/ippools": list, "ipam.spidernet.io/ippool": '{"ipv4": ["c"]}' };
    expect(triedFor(pod, {}, all, nic, place)).toEqual(want);
  });

  it("S15: a namespace names its own", () => {
    const of = { "ipam.spidernet.io/default-ipv4-ippool": '["c"]', "ipam.spidernet.io/default-ipv6-ippool": '["a6"]' };
    expect(unwrap(namedByNamespace(of))).toEqual({ 4: ["c"], 6: ["a6"] });
  });
});

it.each<[string, Bag, string]>([
  ["text that is no JSON", { "ipam.spidernet.io/ippool": "a" }, "annotation ipam.spidernet.io/ippool is no JSON"],
  ["a name in place of a list", { "ipam.spidernet.io/ippool": '{"ipv4": "a"}' }, "has no list of names of pools"],
])("%s is an error", (_, pod, message) => {
  expect(namedByPod(pod, { nic: "net1", place: 0 }).issues?.[0]?.message).toContain(message);
});

it.each<[string, string, string]>([
  ["a pool that is not there", "aa", "there is no NodeIPPool aa to take addresses from; did you mean a"],
  ["a name that no pool has", "x*, y*", "no NodeIPPool is called x* or y*"],
  ["no name", "", 'there is no NodeIPPool "" to take addresses from'],
  ["a pool of blocks", "blocks", "NodeIPPool blocks gives blocks of /28, not addresses"],
])("%s is an error", (_, name, message) => {
  const pools = poolsOf({ a: {}, blocks: { blockLength: 28 } });
  const named = { workload: namedBy({ "nodeippool.nmstate.io/pool": name }) };
  const request = {
    namespace: { name: "shop", labels: {} },
    labels: {},
    nodeSelector: {},
    network: "shop/lan",
    owner: "x",
    named,
  };
  expect(poolsForNic(request, { pools }).issues?.[0]?.message).toContain(message);
});
