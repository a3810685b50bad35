import { describe, expect, it } from "vitest";
import { plan } from "../../../core/plan/plan.ts";
import { claimOf, lineOf, poolOf, recordOf, shown } from "../../support/core/text.ts";

const cidr = "10.0.0.0/28";
const claims = ["Node/a/x", "Node/b/x", "Node/c/x"].map(claimOf);
const record = ["10.0.0.1 Node/a/x", "10.0.0.2 Node/b/x"];

function planned(pool: ReturnType<typeof poolOf>, lines = record, allowMove = false): string[] {
  const was = poolOf("p", cidr);
  return shown(plan({ pools: [pool], claims, snapshot: recordOf(lines, [was]), allowMove }));
}

describe("a pool that changes", () => {
  const kept = ["keep 10.0.0.1 Node/a/x", "keep 10.0.0.2 Node/b/x"];
  it.each([
    { name: "is full", pool: poolOf("p", `${cidr} 10.0.0.1 10.0.0.2`), want: ["exhausted Node/c/x", ...kept] },
    {
      name: "gets a later end",
      pool: poolOf("p", `${cidr} 10.0.0.1 10.0.0.3`),
      want: ["assign 10.0.0.3 Node/c/x", ...kept],
    },
    {
      name: "excludes a free address",
      pool: poolOf("p", cidr, { exclude: ["10.0.0.3"] }),
      want: ["assign 10.0.0.4 Node/c/x", ...kept],
    },
    {
      name: "gets an additional range",
      pool: poolOf("p", `${cidr} 10.0.0.1 10.0.0.2`, { additionalRanges: [{ start: "10.0.0.9", end: "10.0.0.9" }] }),
      want: ["assign 10.0.0.9 Node/c/x", ...kept],
    },
    {
      name: "excludes a held address",
      pool: poolOf("p", cidr, { exclude: ["10.0.0.2"] }),
      want: ["assign 10.0.0.3 Node/c/x", "in-use Node/b/x", "keep 10.0.0.1 Node/a/x"],
    },
    {
      name: "names a DNS server",
      pool: poolOf("p", cidr, { dnsServers: ["10.0.0.3", "192.0.2.53"] }),
      want: ["assign 10.0.0.4 Node/c/x", ...kept],
    },
    {
      name: "names a DNS server that is a node of its own",
      pool: poolOf("p", cidr, { dnsServers: ["10.0.0.7"], reservations: [{ address: "10.0.0.7", owner: "Node/c" }] }),
      want: ["assign 10.0.0.7 Node/c/x", ...kept],
    },
    {
      name: "makes a held address its gateway",
      pool: poolOf("p", cidr, { gateway: "10.0.0.2" }),
      want: ["assign 10.0.0.3 Node/c/x", "in-use Node/b/x", "keep 10.0.0.1 Node/a/x"],
    },
    {
      name: "shrinks from the end below a held address",
      pool: poolOf("p", `${cidr} 10.0.0.1 10.0.0.1`),
      want: ["exhausted Node/c/x", "in-use Node/b/x", "keep 10.0.0.1 Node/a/x"],
    },
    {
      name: "leaves a held address to the controller",
      pool: poolOf("p", cidr, { clusterRange: { start: "10.0.0.2", end: "10.0.0.9" } }),
      want: ["assign 10.0.0.10 Node/c/x", "in-use Node/b/x", "keep 10.0.0.1 Node/a/x"],
    },
  ])("$name", ({ pool, want }) => {
    expect(planned(pool)).toEqual(want);
  });

  it("excludes a held address, moves allowed", () => {
    expect(planned(poolOf("p", cidr, { exclude: ["10.0.0.2"] }), record, true)).toEqual([
      "assign 10.0.0.3 Node/b/x",
      "assign 10.0.0.4 Node/c/x",
      "keep 10.0.0.1 Node/a/x",
      "releasing 10.0.0.2 Node/b/x",
    ]);
  });

  it("keeps what was wanted from among .0 and .255, and picks none of them", () => {
    const pool = poolOf("p", "10.0.0.0/22 10.0.0.254 10.0.3.254");
    const snapshot = recordOf(["10.0.0.255 Node/a/x"], [pool]);
    const asked = [...claims, claimOf("Node/d/x wanted=10.0.1.0")];
    expect(shown(plan({ pools: [pool], claims: asked, snapshot }))).toEqual([
      "assign 10.0.0.254 Node/b/x",
      "assign 10.0.1.0 Node/d/x",
      "assign 10.0.1.1 Node/c/x",
      "keep 10.0.0.255 Node/a/x",
    ]);
    const all = poolOf("p", "10.0.0.0/22 10.0.0.254 10.0.3.254", { allowZeroAnd255: true });
    expect(shown(plan({ pools: [all], claims, snapshot: recordOf([], []) })).at(-1)).toBe("assign 10.0.1.0 Node/c/x");
  });
});

describe("several pools", () => {
  const pools = [poolOf("q", "10.0.1.0/29"), poolOf("p", "10.0.0.0/29"), poolOf("v6", "2001:db8::/64")];

  it("each give their own addresses, and one claim may ask all of them", () => {
    const asked = ["Node/n/a", "Node/n/a pool=q", "Node/n/a pool=v6", "Node/n/b pool=v6"].map(claimOf);
    const made = plan({ pools, claims: asked, snapshot: recordOf([], []) });
    expect(shown(made)).toEqual([
      "assign 10.0.0.1 Node/n/a",
      "assign 10.0.1.1 Node/n/a pool=q",
      "assign 2001:db8::1 Node/n/a pool=v6",
      "assign 2001:db8::2 Node/n/b pool=v6",
    ]);
    expect(made.pools.map(({ name }) => name)).toEqual(["p", "q", "v6"]);
  });

  it("lines of a pool that is defined no more are released, those of another set are not", () => {
    const lines = [
      "10.0.2.1 Node/n/a pool=old",
      "10.0.2.2 Node/n/b pool=old set=b",
      "10.0.2.3 Node/n/c pool=old releasing",
    ];
    const snapshot = recordOf(lines, [...pools, poolOf("old", "10.0.2.0/29")]);
    expect(shown(plan({ pools, claims: [], snapshot }))).toEqual(["releasing 10.0.2.1 Node/n/a pool=old"]);
  });

  it("refuses to plan with a pool that gives away what another set holds", () => {
    const lines = ["10.0.0.5 Node/n/a set=b", "10.0.0.6 Node/m/a"];
    const snapshot = recordOf(lines, [poolOf("p", cidr)]);
    const planned = (set: string, rest: Parameters<typeof poolOf>[2]) =>
      shown(
        plan({ pools: [poolOf("p", cidr, rest)], claims: [claimOf("Node/m/a"), claimOf("Node/n/a")], snapshot, set }),
      );
    const clusterRange = (start: string) => ({ clusterRange: { start, end: start } });
    expect(() => planned("default", { gateway: "10.0.0.5" })).toThrow(
      "pool p: 10.0.0.5 is its gateway, but is recorded for Node/n/a (set b)",
    );
    expect(() => planned("default", clusterRange("10.0.0.5"))).toThrow("10.0.0.5 lies in its clusterRange, but");
    expect(() => planned("b", { gateway: "10.0.0.6" })).toThrow("recorded for Node/m/a (set default)");
    // Their own set decides: it may give them up.
    expect(planned("b", { gateway: "10.0.0.5" })).toContain("in-use Node/n/a");
  });

  it("of two networks may give one address to two owners", () => {
    const red = poolOf("p", cidr, { network: "red" });
    const blue = poolOf("q", cidr, { network: "blue" });
    const asked = ["Node/n/a", "Node/m/a pool=q"].map(claimOf);
    expect(shown(plan({ pools: [red, blue], claims: asked, snapshot: recordOf([], []) }))).toEqual([
      "assign 10.0.0.1 Node/m/a pool=q",
      "assign 10.0.0.1 Node/n/a",
    ]);
  });
});

describe("a plan carries what a commit needs", () => {
  it("the set, the base of the snapshot, the pools as configured", () => {
    const pool = poolOf("p", cidr, { network: "red" });
    const base = new Map([["p", "token"]]);
    const made = plan({ pools: [pool], claims: [], snapshot: { ...recordOf([], []), base }, set: "b" });
    expect(made).toMatchObject({ set: "b", base, pools: [{ name: "p", prefix: pool.prefix, network: "red" }] });
  });

  it("and the lines that it releases, as recorded", () => {
    const line = lineOf("10.0.0.1 Node/n/a uid=7 if=eth1");
    const snapshot = recordOf(["10.0.0.1 Node/n/a uid=7 if=eth1"], [poolOf("p", cidr)]);
    expect(plan({ pools: [poolOf("p", cidr)], claims: [], snapshot }).release).toEqual([
      { allocation: line, to: "releasing" },
    ]);
  });
});

it.each([
  ["another network", cidr, "blue", "Restore it and add a second pool."],
  ["another subnet", "10.9.0.0/28", "default", "Restore it and add a second pool."],
  ["a narrower subnet", "10.0.0.0/29", "default", "Restore it and add a second pool."],
  [
    "a wider subnet",
    "10.0.0.0/24",
    "default",
    "Restore it and add a second pool. If the subnet became wider, say so in the record as well: 10.0.0.0/24, not 10.0.0.0/28.",
  ],
])("says what to do where a pool with allocations has %s", (_, range, network, hint) => {
  const snapshot = recordOf(record, [poolOf("p", cidr)]);
  const input = { pools: [poolOf("p", range, { network })], claims, snapshot };
  expect(() => plan(input)).toThrow(
    expect.objectContaining({ code: "in-use", issues: [expect.objectContaining({ hint })] }),
  );
});

it("says what a pool that was renamed may do: another network would give live addresses out again", () => {
  const snapshot = recordOf(record, [poolOf("p", cidr)]);
  expect(() => plan({ pools: [poolOf("q", cidr)], claims: [], snapshot })).toThrow(
    "10.0.0.1 is recorded for Node/a/x\n  A recorded pool keeps its name: if this is the same one, renamed or split, give it that name.",
  );
});
