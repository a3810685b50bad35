import { describe, expect, it } from "vitest";
import { clusterPools } from "../../../controller/pools.ts";
import type { Seen } from "../../../controller/seen.ts";
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
      "that overlap, nothing of either",
      [p(), object("q", { range: { ...range, start: "10.0.0.9", end: "10.0.0.20" } })],
      ["p: OverlappingIPPool", "q: OverlappingIPPool"],
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
      "one that overlaps one that is going, nothing",
      [p(), object("q", { range }, deleted)],
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

  it("names the other one that overlaps", () => {
    const [first] = clusterPools([p(), object("q", { range })]);
    expect(first?.problem?.message).toContain("q");
  });
});
