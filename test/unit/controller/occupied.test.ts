import { describe, expect, it } from "vitest";
import { type Occupied, occupied, without } from "../../../controller/allocate/occupied.ts";
import { plannableClaims } from "../../../controller/allocate/plannable-claims.ts";
import { LinesByOwner } from "../../../controller/record/lines-by-owner.ts";
import { formatAddress, parseAddress, type Use, unwrap } from "../../../core/index.ts";
import { claimOf, poolOf, recordOf } from "../../support/core/text.ts";

describe("what owners show to have, beside the record", () => {
  const pools = [poolOf("p", "10.0.0.0/29"), poolOf("q", "10.0.1.0/29")];
  const shown = (text: string): Use => {
    const [ip = "", owner = "", nic = "", temporary] = text.split(" ");
    const use = {
      address: unwrap(parseAddress(ip)),
      owner,
      interface: nic,
      at: { file: "report", line: 1, column: 1 },
    };
    return temporary === undefined ? use : { ...use, isTemporary: true };
  };
  const recorded = (lines: string[]) => {
    const byOwner = new LinesByOwner();
    byOwner.follow(recordOf(lines, pools));
    return byOwner;
  };
  const wantedOf = (claim: string, all: typeof pools, found: Occupied) =>
    plannableClaims([claimOf(claim)], all, found, new Map(), recorded([]), () => false).claims[0]?.wanted;
  const a = "10.0.0.2 Node/a eth1";
  const b = "10.0.0.2 Node/b eth3";

  it.each<[string, string[], string[], { taken: string[]; own: string[]; collisions: number }]>([
    ["on record for who shows it", [a], ["10.0.0.2 Node/a/x pool=p"], { taken: [], own: [], collisions: 0 }],
    ["on record for nobody", [a], [], { taken: ["10.0.0.2"], own: ["10.0.0.2 Node/a eth1"], collisions: 0 }],
    ["for a time", [`${a} dhcp`], [], { taken: ["10.0.0.2"], own: [], collisions: 0 }],
    ["on record for another one", [a], ["10.0.0.2 Node/c/x pool=p"], { taken: [], own: [], collisions: 1 }],
    ["of two, one on record", [a, b], ["10.0.0.2 Node/a/x pool=p"], { taken: [], own: [], collisions: 1 }],
    ["of two, none on record", [a, b], [], { taken: ["10.0.0.2"], own: [], collisions: 1 }],
    ["in no pool", ["10.9.0.2 Node/a eth1"], [], { taken: [], own: [], collisions: 0 }],
  ])("%s", (_, uses, lines, expected) => {
    const found = occupied(pools, uses.map(shown), recorded(lines));
    expect({
      taken: (found.taken.get("p") ?? []).map(({ address }) => formatAddress(address)),
      own: (found.own.get("p") ?? []).map(
        ({ address, owner, interface: nic }) => `${formatAddress(address)} ${owner} ${nic}`,
      ),
      collisions: found.collisions.get("p")?.length ?? 0,
    }).toEqual(expected);
  });

  const outside = { ...shown("10.0.0.9 Node/a eth1"), pool: "small" };
  const small = poolOf("small", "10.0.0.0/24 10.0.0.1 10.0.0.4");

  it.each<[string, Use, boolean]>([
    ["names the pool", outside, true],
    [
      "names the pool, and the address is of another subnet",
      { ...shown("10.0.9.9 Node/a eth1"), pool: "small" },
      false,
    ],
    ["names another pool", { ...outside, pool: "q" }, false],
    ["names none", shown("10.0.0.9 Node/a eth1"), false],
    ["names the pool, and the address is of another one", { ...shown("10.0.1.3 Node/a eth1"), pool: "small" }, false],
  ])("is kept by its owner although the pool gives it no more, if the report %s", (_, use, isKept) => {
    const both = [small, poolOf("q", "10.0.1.0/29")];
    const found = occupied(both, [use], recorded([]));
    expect(wantedOf("Node/a/x pool=small if=eth1", both, found)).toBe(isKept ? use.address : undefined);
    const given = without(small, found);
    const has = (range: typeof small.range) =>
      range.some(({ first, last }) => first <= use.address && use.address <= last);
    expect([has(given.assignable), has(given.automatic)]).toEqual([isKept, false]);
  });

  it.each([
    ["another network", "blue", ["10.0.0.2"]],
    ["the same network", undefined, []],
  ])("is looked for in lines of a pool that is defined no more: of %s", (_, network, taken) => {
    const gone = poolOf("gone", "10.0.0.0/29", network === undefined ? {} : { network });
    const lines = new LinesByOwner();
    lines.follow(recordOf(["10.0.0.2 Node/c/x pool=gone"], [gone]));
    const found = occupied(pools, [{ ...shown(a), pool: "p" }], lines);
    expect((found.taken.get("p") ?? []).map(({ address }) => formatAddress(address))).toEqual(taken);
  });

  it("is given to nobody but its owner, on its NIC", () => {
    const found = occupied(pools, [shown(a)], recorded([]));
    const wanted = (claim: string) => wantedOf(claim, pools, found);
    expect(wanted("Node/a/x pool=p if=eth1")).toBe(shown(a).address);
    // Its policy finds the NIC by something else than its name, and there is no other claim.
    expect(wanted("Node/a/x pool=p")).toBe(shown(a).address);
    for (const other of ["Node/a/x pool=p if=eth2", "Node/b/x pool=p if=eth1", "Node/a/x pool=q if=eth1"])
      expect(wanted(other)).toBeUndefined();
    const [pool] = pools.map((one) => without(one, found));
    expect(pool?.automatic.some(({ first, last }) => first <= shown(a).address && shown(a).address <= last)).toBe(
      false,
    );
  });
});
