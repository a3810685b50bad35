import { describe, expect, it } from "vitest";
import { type Address, formatAddress } from "../../../core/address.ts";
import { emptySnapshot, type Snapshot } from "../../../core/allocation.ts";
import { FreeSpace } from "../../../core/free-space.ts";
import { hashOf } from "../../../core/hash.ts";
import { plan } from "../../../core/plan/plan.ts";
import type { PoolSpec } from "../../../core/pool-spec.ts";
import { applyPlan } from "../../../state/apply.ts";
import { claimOf, poolOf } from "../../support/core-text.ts";

/** Plans for these nodes on top of a record: the record after it. */
function recordAfter(
  spec: Omit<PoolSpec, "range">,
  nodes: readonly string[],
  before = emptySnapshot,
  range = "10.0.0.0/24",
) {
  const pools = [poolOf("p", range, spec)];
  const claims = nodes.map((node) => claimOf(`Node/${node}/eth1 pool=p`));
  return applyPlan(before, plan({ pools, claims, snapshot: before })) ?? before;
}

function heldIn({ allocations }: Snapshot): Record<string, string> {
  const short = (claim: string) => claim.split("/")[1] ?? "";
  return Object.fromEntries(allocations.map((line) => [short(line.claim), formatAddress(line.address)]));
}

const names = (count: number, prefix = "n") =>
  Array.from({ length: count }, (_, i) => `${prefix}${String(i).padStart(3, "0")}`);

describe("a Hashed pool", () => {
  // What a name chooses must never change: branches, programs and controllers of other versions choose by it, too.
  it.each([
    ["", 2872998923],
    ["Node/node01", 3555315131],
    ["Node/node02", 917375949],
    ["StatefulSet/shop:db", 2324059554],
    ["Knoten/größe", 1465152294],
  ])("hashes %j as ever", (text, hash) => {
    expect(hashOf(text)).toBe(hash);
  });

  it("gives the first new node the address that its name chooses, and the next ones to those that come with it", () => {
    expect(heldIn(recordAfter({ allocationOrder: "Hashed" }, ["node01", "node02", "node03"]))).toEqual({
      node01: "10.0.0.49",
      node02: "10.0.0.50",
      node03: "10.0.0.51",
    });
    expect(heldIn(recordAfter({ allocationOrder: "Hashed" }, ["node07"]))).toEqual({ node07: "10.0.0.125" });
  });

  it("of two networks of one size gives a node the same place in both", () => {
    const at = (range: string) =>
      heldIn(recordAfter({ allocationOrder: "Hashed" }, ["node01"], emptySnapshot, range))
        .node01?.split(".")
        .at(-1);
    expect(at("10.0.0.0/24")).toBe(at("172.16.7.0/24"));
  });

  it("gives every address of it, each once", () => {
    const full = heldIn(recordAfter({ allocationOrder: "Hashed" }, names(254)));
    expect(new Set(Object.values(full)).size).toBe(254);
    expect(() => recordAfter({ allocationOrder: "Hashed" }, names(255))).not.toThrow();
    expect(Object.keys(heldIn(recordAfter({ allocationOrder: "Hashed" }, names(255))))).toHaveLength(254);
  });

  it("spreads single nodes over all of it", () => {
    const ends = names(300).map((node) =>
      heldIn(recordAfter({ allocationOrder: "Hashed" }, [node]))
        [node]?.split(".")
        .at(-1),
    );
    const quarters = Map.groupBy(ends, (end) => Math.floor(Number(end) / 64));
    for (const quarter of [0, 1, 2, 3]) expect(quarters.get(quarter)?.length).toBeGreaterThan(50);
  });

  it("is as likely to choose the address after a long run of taken ones as any other", () => {
    const { automatic, skipsZeroAnd255 } = poolOf("p", "10.0.0.0/24");
    const chosen = names(200).map((name) => {
      const space = new FreeSpace(automatic, skipsZeroAnd255);
      for (let i = 0; i < 127; i++) space.takeLowest();
      space.beginAtHashOf(name);
      return formatAddress(space.takeNext() as Address);
    });
    expect(chosen.filter((address) => address === "10.0.0.128").length).toBeLessThan(10);
  });

  it("gives blocks as it gives addresses", () => {
    const blocks = heldIn(
      recordAfter({ allocationOrder: "Hashed", blockLength: 24 }, names(5), emptySnapshot, "10.0.0.0/16"),
    );
    const thirds = Object.values(blocks).map((block) => Number(block.split(".")[2]));
    expect(thirds[0]).toBeGreaterThan(0);
    expect(thirds).toEqual(thirds.map((_, i) => ((thirds[0] as number) + i) % 256));
  });

  it("of IPv6 gives an address among the first 2^32", () => {
    const [address = ""] = Object.values(
      heldIn(recordAfter({ allocationOrder: "Hashed" }, ["n1"], emptySnapshot, "2001:db8::/64")),
    );
    expect(address).toMatch(/^2001:db8::[0-9a-f]{1,4}:[0-9a-f]{1,4}$/);
  });
});

it("who has an address keeps it, whatever becomes of the order and the ranges of the pool", () => {
  let record = recordAfter({}, names(20));
  const before = heldIn(record);
  for (const spec of [
    { allocationOrder: "Hashed" },
    { allocationOrder: "Lowest", additionalRanges: [{ start: "10.0.0.200", end: "10.0.0.220" }] },
    { allocationOrder: "Hashed", clusterRange: { start: "10.0.0.100", end: "10.0.0.140" } },
  ] as const) {
    record = recordAfter(spec, names(20), record, "10.0.0.0/24 10.0.0.1 10.0.0.150");
    expect(heldIn(record)).toEqual(before);
  }
});
