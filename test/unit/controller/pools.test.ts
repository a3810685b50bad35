import { describe, expect, it } from "vitest";
import { clusterPools } from "../../../controller/allocate/pools.ts";
import type { Seen } from "../../../controller/cache/seen.ts";
import { formatAddress } from "../../../core/index.ts";
import type { Bag } from "../../../schema/objects.ts";

function object(name: string, spec: Bag, metadata: Bag = {}): Seen {
  const own = { name, uid: name, resourceVersion: "1", ...metadata };
  return { apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: own, spec };
}

/** `NAME: ranges that may be taken, or the reason why none`. */
const shown = (...objects: Seen[]) =>
  clusterPools(objects).map(({ name, pool, whole, problem }) => {
    const ranges = (pool?.range ?? []).map(({ first, last }) => `${formatAddress(first)}-${formatAddress(last)}`);
    const taken = pool && pool.authority === "Cluster" ? ranges.join(",") : "nothing";
    return `${name}: ${problem?.reason ?? taken}${whole === undefined ? ", unread" : ""}`;
  });

describe("what the controller may take from pools", () => {
  const range = { cidr: "10.0.0.0/24", start: "10.0.0.1", end: "10.0.0.9" };
  const p = (spec: Bag = {}, metadata: Bag = {}) => object("p", { range, ...spec }, metadata);
  const since = (second: number) => ({ creationTimestamp: `2026-01-01T00:00:0${second}Z` });
  const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };

  it.each<[string, Seen[], string[]]>([
    ["of authority Cluster, all", [p({ authority: "Cluster" })], ["p: 10.0.0.1-10.0.0.9"]],
    ["of no authority, all", [p()], ["p: 10.0.0.1-10.0.0.9"]],
    ["of authority Plan, nothing", [p({ authority: "Plan" })], ["p: nothing"]],
    [
      "of authority Plan with a clusterRange, that",
      [p({ authority: "Plan", clusterRange: { start: "10.0.0.8", end: "10.0.0.9" } })],
      ["p: 10.0.0.8-10.0.0.9"],
    ],
    [
      "of no authority with a clusterRange, nothing: it is wrong, and no obstacle to others",
      [p({ clusterRange: { start: "10.0.0.8", end: "10.0.0.9" } }), object("q", { range: { cidr: "10.0.1.0/29" } })],
      ["p: InvalidSpec", "q: 10.0.1.1-10.0.1.6"],
    ],
    ["that cannot be read, nothing", [p({ range: { cidr: "x" } })], ["p: InvalidSpec, unread"]],
    ["that is being deleted, nothing", [p({}, deleted)], ["p: Terminating"]],
    [
      "that share addresses, those of the older one",
      [p({}, since(2)), object("q", { range: { ...range, start: "10.0.0.9", end: "10.0.0.20" } }, since(1))],
      ["p: OverlappingIPPool", "q: 10.0.0.9-10.0.0.20"],
    ],
    [
      "that share addresses, those of authority Plan, which no controller can hold back",
      [p({}, since(1)), object("q", { range, authority: "Plan" }, since(2))],
      ["p: OverlappingIPPool", "q: nothing"],
    ],
    [
      "whose cidrs overlap, those of the older one",
      [p({}, since(2)), object("q", { range: { cidr: "10.0.0.0/16", start: "10.0.9.1", end: "10.0.9.2" } }, since(1))],
      ["p: OverlappingIPPool", "q: 10.0.9.1-10.0.9.2"],
    ],
    [
      "whose cidrs overlap, all of both if a plan allocates from one elsewhere",
      [p(), object("q", { range: { cidr: "10.0.0.0/16", start: "10.0.9.1", end: "10.0.9.2" }, authority: "Plan" })],
      ["p: 10.0.0.1-10.0.0.9", "q: nothing"],
    ],
    [
      "of one name, those of the older one",
      [p({}, since(2)), p({ range: { cidr: "10.7.0.0/29" } }, since(1))],
      ["p: OverlappingIPPool", "p: 10.7.0.1-10.7.0.6"],
    ],
    [
      "one beside the other, all of both",
      [p(), object("q", { range: { ...range, start: "10.0.0.10", end: "10.0.0.20" } })],
      ["p: 10.0.0.1-10.0.0.9", "q: 10.0.0.10-10.0.0.20"],
    ],
    [
      "the same addresses of two networks, all of both",
      [p(), object("q", { range, network: "other" })],
      ["p: 10.0.0.1-10.0.0.9", "q: 10.0.0.1-10.0.0.9"],
    ],
    [
      "one that overlaps an older one that is going, nothing",
      [p({}, since(2)), object("q", { range }, { ...deleted, ...since(1) })],
      ["p: OverlappingIPPool", "q: Terminating"],
    ],
    [
      "a wrong one is no obstacle to others",
      [p(), object("q", {})],
      ["p: 10.0.0.1-10.0.0.9", "q: InvalidSpec, unread"],
    ],
  ])("%s", (_, objects, expected) => {
    expect(shown(...objects)).toEqual(expected);
  });

  it("name each other where they overlap", () => {
    const [first, second] = clusterPools([p({}, since(1)), object("q", { range }, since(2))]);
    expect(first?.overlappedBy).toMatch(/^The NodeIPPool q is overlapping with this one\./);
    expect(second?.problem?.message).toMatch(/^The NodeIPPool p is overlapping with this one\./);
  });

  it("with addresses on record are used before older ones without", () => {
    const [pool] = clusterPools([p({}, since(1))]);
    const recorded = [{ name: "p", network: "default", prefix: pool?.whole?.prefix as never }];
    const found = clusterPools([p({}, since(2)), object("q", { range }, since(1))], [], recorded);
    expect(found.map(({ problem }) => problem?.reason)).toEqual([undefined, "OverlappingIPPool"]);
  });
});
