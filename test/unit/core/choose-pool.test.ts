import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Claim,
  emptySnapshot,
  formatAddress,
  type Plan,
  type Pool,
  type PoolSpec,
  parsePool,
  plan,
  type Snapshot,
  unwrap,
} from "../../../core/index.ts";
import { applyPlan } from "../../../state/apply.ts";

const db = { kind: "StatefulSet", namespace: "shop", name: "db" };

/** A pool with so many addresses, 10.<net>.0.1 and the next ones. */
function pool(name: string, net: number, count: number, rules: Partial<PoolSpec> = {}): Pool {
  const range = { cidr: `10.${net}.0.0/24`, start: `10.${net}.0.1`, end: `10.${net}.0.${count}` };
  return unwrap(parsePool(name, { range, ...rules }));
}

function claim(name: string, tried: readonly string[], kept: readonly string[] = [], owner = db): Claim {
  return { owner, name, pool: tried[0] ?? kept[0] ?? "none", choice: { tried, kept, why: "each is disabled" } };
}

function after(made: Plan, before: Snapshot = emptySnapshot): Snapshot {
  return applyPlan(before, made) ?? before;
}

function planned(pools: readonly Pool[], claims: readonly Claim[], snapshot: Snapshot = emptySnapshot) {
  const made = plan({ pools, claims, snapshot });
  const lines = [...made.assign, ...made.keep.map(({ allocation }) => allocation)];
  const got = lines.map(
    (line) => `${line.claim.slice("StatefulSet/shop:db/".length)} ${line.pool} ${formatAddress(line.address)}`,
  );
  return {
    got: got.sort(),
    pending: made.pending.map(({ claim, message }) => `${claim}: ${message}`),
    snapshot: after(made, snapshot),
  };
}

describe("a claim of several pools", () => {
  const [a, b] = [pool("a", 1, 2), pool("b", 2, 2)];

  it("I8, S34: gets the first address of the first pool with room, then of the next one", () => {
    const claims = ["0/net1", "1/net1", "2/net1"].map((name) => claim(name, ["a", "b"]));
    expect(planned([a, b], claims).got).toEqual(["0/net1 a 10.1.0.1", "1/net1 a 10.1.0.2", "2/net1 b 10.2.0.1"]);
  });

  it("S26: is pending where none has room", () => {
    const claims = [0, 1, 2, 3, 4].map((i) => claim(`${i}/net1`, ["a", "b"]));
    expect(planned([a, b], claims).pending).toEqual([
      "StatefulSet/shop:db/4/net1: pool a is exhausted: 3 needed, 2 free",
    ]);
  });

  it("S33, I13: keeps what it has, whatever the order of its pools is now", () => {
    const { snapshot } = planned([a, b], [claim("0/net1", ["b", "a"])]);
    expect(planned([a, b], [claim("0/net1", ["a", "b"])], snapshot).got).toEqual(["0/net1 b 10.2.0.1"]);
    expect(planned([a, b], [claim("0/net1", ["a"], ["b"])], snapshot).got).toEqual(["0/net1 b 10.2.0.1"]);
    expect(planned([a, b], [claim("0/net1", [], ["b"])], snapshot).got).toEqual(["0/net1 b 10.2.0.1"]);
  });

  it("has what is releasing back, where it is scaled up again", () => {
    const two = planned([a, b], [claim("0/net1", ["b"]), claim("1/net1", ["b"])]).snapshot;
    const one = planned([a, b], [claim("0/net1", ["b"])], two).snapshot;
    const again = planned([a, b], [claim("0/net1", ["a", "b"]), claim("1/net1", ["a", "b"])], one);
    expect(again.got).toEqual(["0/net1 b 10.2.0.1", "1/net1 b 10.2.0.2"]);
  });

  it("asks the pool in which an address is reserved for it", () => {
    const kept = pool("b", 2, 2, {
      reservations: [{ address: "10.2.0.2", owner: "StatefulSet/shop:db", claim: "0/net1" }],
    });
    expect(planned([a, kept], [claim("0/net1", ["a", "b"])]).got).toEqual(["0/net1 b 10.2.0.2"]);
  });

  it("is pending where there is none to try, and says why", () => {
    expect(planned([a, b], [claim("0/net1", [], ["a"])])).toMatchObject({
      got: [],
      pending: ["StatefulSet/shop:db/0/net1: no pool serves it: each is disabled"],
    });
  });
});

describe("addresses of one pod", () => {
  const rack = (name: string) => ({ nodeAffinity: { matchLabels: { rack: name } } });
  const [a1, b1] = [pool("a1", 1, 1, rack("a")), pool("b1", 2, 9, rack("b"))];
  const [a2, b2] = [pool("a2", 3, 9, rack("a")), pool("b2", 4, 9, rack("b"))];
  const all = [a1, b1, a2, b2];
  const both = (i: number, second: readonly string[] = ["a2", "b2"]) => [
    claim(`${i}/net1`, ["a1", "b1"]),
    claim(`${i}/net2`, second),
  ];

  it("S2, S4: are of pools for the same nodes, also where the first one has no room", () => {
    expect(planned(all, [...both(0), ...both(1)]).got).toEqual([
      "0/net1 a1 10.1.0.1",
      "0/net2 a2 10.3.0.1",
      "1/net1 b1 10.2.0.1",
      "1/net2 b2 10.4.0.1",
    ]);
  });

  it("are looked for together: what only one of them may try decides", () => {
    expect(planned(all, both(0, ["b2"])).got).toEqual(["0/net1 b1 10.2.0.1", "0/net2 b2 10.4.0.1"]);
  });

  it("follow the one that it has", () => {
    const { snapshot } = planned(all, [claim("0/net2", ["b2"])]);
    expect(planned(all, both(0), snapshot).got).toEqual(["0/net1 b1 10.2.0.1", "0/net2 b2 10.4.0.1"]);
  });

  const [ab, notA, gpu] = [
    pool("ab", 5, 9, { nodeAffinity: { matchExpressions: [{ key: "rack", operator: "In", values: ["b", "a"] }] } }),
    pool("not-a", 6, 9, { nodeAffinity: { matchExpressions: [{ key: "rack", operator: "NotIn", values: ["a"] }] } }),
    pool("gpu", 7, 9, { nodeAffinity: { matchExpressions: [{ key: "gpu", operator: "Exists" }] } }),
  ];
  const n1 = pool("n1", 8, 9, { nodeName: ["n1"] });
  const held = pool("held", 9, 9, {
    ...rack("a"),
    reservations: [{ address: "10.9.0.5", owner: "StatefulSet/shop:db", claim: "0/net1" }],
  });

  it.each([
    ["racks", [["a1"], ["b2"]], undefined],
    ["racks, of one of which an address is reserved", [["held"], ["b2"]], undefined],
    ["a rack, and all others", [["a1"], ["not-a"]], undefined],
    ["two of three that go together", [["ab"], ["not-a"], ["a1"]], undefined],
    ["labels that one node may have", [["a1"], ["gpu"], ["ab"]], ["a1", "gpu", "ab"]],
    ["a node whose labels nobody knows", [["n1"], ["a2"]], ["n1", "a2"]],
    [
      "the first two, which go together, where the third then has one, too",
      [["a1", "b1"], ["gpu"], ["b2"]],
      ["b1", "gpu", "b2"],
    ],
  ])("of %s", (_, tried, want) => {
    const claims = tried.map((names, i) => claim(`0/net${i + 1}`, names));
    const { got, pending } = planned([...all, ab, notA, gpu, n1, held], claims);
    expect(got.map((one) => one.split(" ")[1])).toEqual(want ?? []);
    for (const one of pending) expect(one).toContain("none of its pools that have room is for the same nodes");
    expect(pending).toHaveLength(want === undefined ? tried.length : 0);
  });

  it("are none beside one that it has of another rack", () => {
    const { snapshot } = planned(all, [claim("0/net1", ["a1"])]);
    const { got, pending } = planned(all, [claim("0/net1", ["a1"]), claim("0/net2", ["b2"])], snapshot);
    expect([got, pending.length]).toEqual([["0/net1 a1 10.1.0.1"], 1]);
  });
});

it("whatever the pools and claims are: one address each, none twice, nobody moves, and room is used up before anybody waits", () => {
  const pools = [pool("p0", 1, 3), pool("p1", 2, 2), pool("p2", 3, 4)];
  const tried = fc.uniqueArray(fc.constantFrom("p0", "p1", "p2"), { minLength: 1 });
  const round = fc.array(tried, { maxLength: 10 });
  fc.assert(
    fc.property(fc.array(round, { minLength: 1, maxLength: 4 }), (rounds) => {
      let snapshot: Snapshot = emptySnapshot;
      for (const claims of rounds) {
        const had = new Map(snapshot.allocations.map((line) => [line.claim, line]));
        const asked = claims.map((tried, i) => claim(`${i}/net1`, tried, ["p0", "p1", "p2"]));
        const made = plan({ pools, claims: asked, snapshot });
        snapshot = after(made, snapshot);
        const addresses = [...snapshot.allocations, ...snapshot.releasing].map(({ address }) => address);
        expect(new Set(addresses).size).toBe(addresses.length);
        for (const line of snapshot.allocations)
          if (had.has(line.claim)) expect(line).toMatchObject({ address: had.get(line.claim)?.address });
        const used = Map.groupBy([...snapshot.allocations, ...snapshot.releasing], (line) => line.pool);
        const full = pools.filter(
          ({ name, start }) => used.get(name)?.length === { p0: 3, p1: 2, p2: 4 }[name] && start > 0n,
        );
        // Whose owner loses an address in the same plan waits for another reason.
        for (const one of made.pending.filter(({ code }) => code === "exhausted")) {
          const mine = asked.find(({ name }) => one.claim.endsWith(`/${name}`))?.choice?.tried ?? [];
          expect(mine.every((name) => full.some((pool) => pool.name === name))).toBe(true);
        }
        // An address that would move stays with the claim that is not asked for any more.
        const isAsked = (line: { readonly claim: string }) => asked.some(({ name }) => line.claim.endsWith(`/${name}`));
        expect(snapshot.allocations.filter(isAsked).length + made.pending.length).toBe(asked.length);
      }
    }),
  );
});

it("S19: a pool that is disabled gives nothing new, but what is reserved or wanted; who has an address keeps it", () => {
  const one = (name: string, wanted?: bigint) =>
    ({ owner: db, name, pool: "a", ...(wanted === undefined ? {} : { wanted }) }) as Claim;
  const { snapshot } = planned([pool("a", 1, 9)], [one("0/net1")]);
  const shut = pool("a", 1, 9, {
    disable: true,
    reservations: [{ address: "10.1.0.5", owner: "StatefulSet/shop:db", claim: "1/net1" }],
  });
  const { got, pending } = planned(
    [shut],
    [one("0/net1"), one("1/net1"), one("2/net1"), one("3/net1", 0x0a010007n)],
    snapshot,
  );
  expect(got).toEqual(["0/net1 a 10.1.0.1", "1/net1 a 10.1.0.5", "3/net1 a 10.1.0.7"]);
  expect(pending).toEqual(["StatefulSet/shop:db/2/net1: pool a is disabled"]);
});
