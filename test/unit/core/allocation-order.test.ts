import { describe, expect, it } from "vitest";
import { type Address, address, formatAddress } from "../../../core/address.ts";
import { emptySnapshot, type PoolRecord, type Snapshot } from "../../../core/allocation.ts";
import { FreeSpace } from "../../../core/free-space.ts";
import { hashOf } from "../../../core/hash.ts";
import { plan } from "../../../core/plan/plan.ts";
import { planRelease } from "../../../core/plan/release.ts";
import type { PoolSpec } from "../../../core/pool-spec.ts";
import { applyPlan } from "../../../state/apply.ts";
import { decode, encode, snapshotOf } from "../../../state/codec.ts";
import { mergeRecords } from "../../../state/merge.ts";
import { claimOf, poolOf } from "../../support/core/text.ts";

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

describe("a Next pool", () => {
  const next = { allocationOrder: "Next" } as const;
  const range = "10.0.0.0/24 10.0.0.1 10.0.0.5";
  /** The record once these nodes are gone, and known to be. */
  const without = (record: Snapshot, gone: readonly string[]) => {
    const lines = record.allocations.filter(({ claim }) => gone.includes(claim.split("/")[1] ?? ""));
    return applyPlan(record, planRelease(record, lines)) ?? record;
  };

  it("goes on after the address that it allocated last, though that is free again", () => {
    let record = recordAfter(next, ["a", "b"], emptySnapshot, range);
    expect(heldIn(record)).toEqual({ a: "10.0.0.1", b: "10.0.0.2" });
    record = recordAfter(next, ["a", "c"], without(record, ["b"]), range);
    expect(heldIn(record)).toEqual({ a: "10.0.0.1", c: "10.0.0.3" });
  });

  it("allocates an address again once it has been around, and all of them where all are needed", () => {
    let record = recordAfter(next, ["a", "b", "c", "d"], emptySnapshot, range);
    record = recordAfter(next, ["b", "d", "e", "f"], without(record, ["a", "c"]), range);
    expect(heldIn(record)).toEqual({ b: "10.0.0.2", d: "10.0.0.4", e: "10.0.0.5", f: "10.0.0.1" });
    record = recordAfter(next, ["b", "d", "e", "f", "g", "h"], record, range);
    expect(Object.keys(heldIn(record))).toHaveLength(5);
  });

  it("gives one address after the other to a node that is replaced again and again", () => {
    let record = recordAfter(next, ["n0"], emptySnapshot, range);
    const all = [1, 2, 3, 4, 5].map((n) => {
      const both = recordAfter(next, [`n${n - 1}`, `n${n}`], record, range);
      record = without(both, [`n${n - 1}`]);
      return heldIn(record)[`n${n}`];
    });
    expect(all).toEqual(["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.1"]);
  });

  it("is not led astray by an address that somebody asked for by name", () => {
    const wanted = { ...next, reservations: [{ address: "10.0.0.4", owner: "Node/r" }] };
    const record = recordAfter(wanted, ["a", "r"], emptySnapshot, range);
    expect(heldIn(recordAfter(wanted, ["a", "b", "r"], record, range))).toMatchObject({ b: "10.0.0.2" });
  });

  it("goes on where it was in what is left of its range, or the range has grown", () => {
    const record = recordAfter(next, ["a", "b", "c"], emptySnapshot, range);
    const later = (to: string) =>
      heldIn(recordAfter(next, ["c", "d"], without(record, ["a", "b"]), `10.0.0.0/24 ${to}`)).d;
    expect(later("10.0.0.1 10.0.0.3")).toBe("10.0.0.1");
    expect(later("10.0.0.1 10.0.0.99")).toBe("10.0.0.4");
  });

  it("does so with blocks", () => {
    const blocks = { ...next, blockLength: 24 };
    const record = recordAfter(blocks, ["a", "b"], emptySnapshot, "10.0.0.0/16");
    expect(heldIn(recordAfter(blocks, ["a", "c"], without(record, ["b"]), "10.0.0.0/16")).c).toBe("10.0.2.0");
  });

  it("knows where it was through a lock", () => {
    const record = recordAfter(next, ["a", "b"], emptySnapshot, range);
    const text = encode(record);
    expect(text).toContain('- {"pool":"p","cidr":"10.0.0.0/24","last":"10.0.0.2"}');
    expect(decode(text, "nodeippool.lock")).toEqual(record);
  });

  it.each(['"10.0.1.0"', '"10.0.0"', "7"])("refuses a lock whose pool allocated %s last", (last) => {
    const text = encode(recordAfter(next, ["a"], emptySnapshot, range)).replace('"last":"10.0.0.1"', `"last":${last}`);
    expect(() => decode(text, "nodeippool.lock")).toThrow("has a last address that is not in its cidr");
  });

  it("does not go back where a plan is committed a second time", () => {
    const pools = [poolOf("p", range, next)];
    const claims = ["a", "b"].map((node) => claimOf(`Node/${node}/eth1 pool=p`));
    const first = plan({ pools, claims: claims.slice(0, 1), snapshot: emptySnapshot });
    const one = applyPlan(emptySnapshot, first) as Snapshot;
    const two = applyPlan(one, plan({ pools, claims, snapshot: one })) as Snapshot;
    expect(applyPlan(two, first)).toBeUndefined();
    expect(two.pools.map(({ last }) => last && formatAddress(last))).toEqual(["10.0.0.2"]);
  });

  // Of base, ours and theirs: what was allocated last there.
  it.each([
    [3, 4, 3, 4],
    [3, 3, 5, 5],
    [1, 3, 5, 5],
    [4, 5, 2, 2],
    [undefined, 2, 4, 4],
    [undefined, undefined, 4, 4],
    [3, 3, 3, 3],
  ])("whose branches, from %s on, have come to %s and %s has come to %s when they are merged", (...all) => {
    const { pools, allocations } = recordAfter(next, ["a"], emptySnapshot, range);
    const [base, ours, theirs, want] = all.map((n) => (n === undefined ? undefined : address(`10.0.0.${n}`)));
    const at = (last: Address | undefined) => {
      const [{ last: _, ...pool } = {} as PoolRecord] = pools;
      return snapshotOf({ pools: [{ ...pool, ...(last === undefined ? {} : { last }) }], allocations, releasing: [] });
    };
    for (const [one, other] of [
      [ours, theirs],
      [theirs, ours],
    ]) {
      const { snapshot } = mergeRecords(at(base), at(one), at(other));
      expect(snapshot.pools.map(({ last }) => last)).toEqual([want]);
    }
  });
});

it("who has an address keeps it, whatever becomes of the order and the ranges of the pool", () => {
  let record = recordAfter({}, names(20));
  const before = heldIn(record);
  for (const spec of [
    { allocationOrder: "Hashed" },
    { allocationOrder: "Next" },
    { allocationOrder: "Lowest", additionalRanges: [{ start: "10.0.0.200", end: "10.0.0.220" }] },
    { allocationOrder: "Hashed", clusterRange: { start: "10.0.0.100", end: "10.0.0.140" } },
  ] as const) {
    record = recordAfter(spec, names(20), record, "10.0.0.0/24 10.0.0.1 10.0.0.150");
    expect(heldIn(record)).toEqual(before);
  }
});
