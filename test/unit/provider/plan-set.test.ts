import { describe, expect, it } from "vitest";
import { emptySnapshot } from "../../../core/index.ts";
import { type Left, nothingLeft, whatIsLeft } from "../../../provider/forgetting.ts";
import { planSet } from "../../../provider/plan-set.ts";
import { checkState } from "../../../provider/read-inputs.ts";
import { recordOf, type SetInputs, type SetState, unknown } from "../../../provider/set-state.ts";
import { stackRecord } from "../../../provider/stack-record.ts";
import { lanClaims, lanInputs, planInStack, lanPools as pools, shortState } from "../../support/pulumi-inputs.ts";

/** What these hold, for a set that leaves their record. */
function leftOf(...states: SetState[]): Left {
  return { ...nothingLeft, record: recordOf(states) };
}

describe("pools of a program", () => {
  const refused = (spec: unknown) => () =>
    planInStack(lanInputs(lanClaims("a"), undefined, { pools: { lan: spec } as never }));

  it.each([
    [{}, "spec needs the field range"],
    [{ range: {} }, "range needs the field cidr"],
    [{ range: { cidr: "10.0.0.0/24", exclude: "10.0.0.4" } }, "exclude must be a list, but is text"],
    [{ range: { cidr: "10.0.0.0/24", exlude: [] } }, "unknown field exlude; did you mean exclude?"],
    [{ range: { cidr: "127.0.0.0/8" } }, "127.0.0.0/8 is link-local or loopback"],
    [{ range: { cidr: "239.1.0.0/16" } }, "239.1.0.0/16 is multicast: no host has such an address"],
    [{ range: { cidr: "ff02::/64" } }, "ff02::/64 is multicast"],
    [{ range: { cidr: "0.0.0.0/8" } }, "0.0.0.0/8 is of no network: no host has such an address"],
  ])("%j is refused as it is in YAML", (spec, says) => {
    expect(refused(spec)).toThrow(says);
  });

  it("a claim of a pool that every object has", () => {
    const claims = [{ key: "Node/a/eth1", pool: "constructor" }];
    expect(() => planInStack(lanInputs(claims))).toThrow("the set has no such pool");
  });

  it("an old spec that would be refused today does not keep what it recorded from being read", () => {
    const own = {
      ...planInStack(lanInputs(lanClaims("a"))),
      addresses: {},
      releasing: { old: { "Node/a/eth1": "10.9.0.1" } },
    };
    const old = { range: { cidr: "10.9.0.0/24", exclude: ["nonsense"] } };
    const after = planInStack(lanInputs(lanClaims("a"), { ...own, pools: { ...own.pools, old } }));
    expect(after.releasing).toEqual({ old: { "Node/a/eth1": "10.9.0.1" } });
  });
});

describe("an owner whose claim has another id", () => {
  const claim = (key: string, owner?: string) => [{ key, pool: "lan", ...(owner === undefined ? {} : { owner }) }];
  const plain = planInStack(lanInputs(lanClaims("x", "a")));
  const slot = planInStack(lanInputs(claim("Node/w1/eth1", "Node/a")));

  it.each([
    ["none before", plain, claim("Node/w1/eth1", "Node/a"), "Node/a would lose 10.0.0.1, which it has as Node/a/eth1"],
    ["none now", slot, claim("Node/a/eth1"), "Node/a would lose 10.0.0.1, which it has as Node/w1/eth1"],
    ["another one", slot, claim("Node/w2/eth1", "Node/a"), "Node/a would lose 10.0.0.1, which it has as Node/w1/eth1"],
    ["another one, and another name", slot, claim("Node/a/lan"), 'moved: [{ from: "Node/w1/eth1", to: "Node/a/lan" }]'],
    [
      "the name of another owner, which comes",
      planInStack(lanInputs(claim("Node/b/eth1", "Node/a"))),
      [...claim("Node/b/eth1"), ...claim("Node/a/eth1")],
      "Node/a would lose 10.0.0.1, which it has as Node/b/eth1\n  Give each owner the id that it had.",
    ],
  ])("does not move: %s", (_, own, claims, says) => {
    expect(() => planInStack(lanInputs(claims, own))).toThrow(says);
    expect(() => planInStack(lanInputs(claims, own, { allowMove: true }))).not.toThrow();
  });

  it("keeps its address where that is declared", () => {
    const moved = [{ from: "Node/w1/eth1", to: "Node/a/eth1" }];
    expect(shortState(planInStack(lanInputs(claim("Node/a/eth1"), slot, { moved })))).toBe("a=1");
  });

  it.each([
    ["another owner", claim("Node/w2/eth1", "Node/b")],
    ["an owner that is not known yet", claim("Node/w2/eth1", unknown)],
  ])("is no matter of %s", (_, claims) => {
    expect(shortState(planInStack(lanInputs(claims, slot)))).toBe("w2=2 / w1=1");
  });

  it.each([
    ["crossed", [...claim("Node/b/eth1", "Node/a"), ...claim("Node/a/eth1", "Node/b")]],
    ["that of one that goes", claim("Node/b/eth1", "Node/a")],
  ])("does not swap: %s", (_, claims) => {
    const own = planInStack(lanInputs(lanClaims("a", "b")));
    expect(() => planInStack(lanInputs(claims, own))).toThrow(
      "Node/a would lose 10.0.0.1, which it has as Node/a/eth1",
    );
  });

  it("is looked up in its own set, and one id stands for one owner", () => {
    const wan = { range: { cidr: "10.1.0.0/24" } };
    const addresses = { wan: { "Node/w1/eth1": "10.1.0.1" } };
    const other = { ...slot, pools: { wan }, addresses, owners: { "Node/w1/eth1": "Node/b" } };
    const previous = { own: slot, others: [other] };
    const plan = (claims: SetInputs["claims"]) => planInStack(lanInputs(claims, undefined, { previous }));
    expect(() => plan(claim("Node/a/eth1"))).toThrow("Node/a would lose 10.0.0.1");
    expect(shortState(plan(claim("Node/b/eth1")))).toBe("b=2 / w1=1");
    const two = [...claim("Node/w1/eth1", "Node/a"), ...claim("Node/w1/eth2", "Node/b")];
    expect(() => plan(two)).toThrow("Node/w1/eth2 of pool lan: Node/w1 stands for another owner in claims[0]");
  });

  it("gives another owner of the same id its address", () => {
    expect(shortState(planInStack(lanInputs(claim("Node/w1/eth1", "Node/b"), slot)))).toBe("w1=1");
  });
});

describe("while the address that a claim asks for is unknown, so is what is given up", () => {
  const waiting = [{ key: "Node/a/eth1", pool: "lan", address: unknown }];
  const own = planInStack(lanInputs(lanClaims("a")));
  const left = planInStack(lanInputs([], own));

  it.each<[string, SetState, Partial<SetInputs>, unknown]>([
    ["by one that may move", own, { allowMove: true }, unknown],
    ["by one that comes back", left, {}, unknown],
    ["but not by one that stays", own, {}, {}],
  ])("%s", (_, before, rest, expected) => {
    expect(planInStack(lanInputs(waiting, before, rest)).releasing).toEqual(expected);
  });
});

describe("a claim that gave up several addresses", () => {
  const next = (own: SetState, nodes: string[], rest: Partial<SetInputs> = {}) =>
    planInStack(lanInputs(lanClaims(...nodes), own, rest));
  const moved = [{ from: "Node/spare/eth1", to: "Node/w/eth1" }];
  const begun = planInStack(lanInputs(lanClaims("spare", "w")));
  const left = next(next(next(begun, ["spare"]), ["w"], { moved }), []);

  it("has them all releasing: nobody else gets one of them", () => {
    expect(shortState(left)).toBe(" / w=1, 2");
    expect(left.releasing).toEqual({ lan: { "Node/w/eth1": "10.0.0.1, 10.0.0.2" } });
    expect(shortState(next(left, ["x"]))).toBe("x=3 / w=1, 2");
    expect(shortState(next(left, ["w"]))).toBe("w=1 / w=2");
  });

  it("frees the one that is named, or all of them", () => {
    expect(shortState(next(left, [], { release: ["10.0.0.1"] }))).toBe(" / w=2");
    expect(shortState(next(left, ["x"], { release: ["Node/w"] }))).toBe("x=3");
    // A word that could be an owner's or a policy's frees nothing.
    for (const word of ["w", "eth1", "Node"])
      expect(shortState(next(left, [], { release: [word] }))).toBe(shortState(next(left, [])));
  });
});

describe("a set whose record is in a cluster", () => {
  const state = { backend: "kubernetes" } as const;
  const planned = (names: string[], record: readonly SetState[], held?: Partial<SetState>, set = "shop") =>
    planSet(lanInputs(lanClaims(...names), undefined, { state, set }), () => recordOf(record), held).state;
  const first = planned(["a", "b", "c"], []);

  it("takes again what the stack has and the record has not, or is refused; after that nobody is asked", () => {
    const held = { ...first, addresses: { lan: { "Node/b/eth1": "10.0.0.2", "Node/c/eth1": "10.0.0.3" } } };
    expect(shortState(planned(["b", "c"], [], held))).toBe("b=2 c=3");
    const thief = { ...first, addresses: { lan: { "Node/x/eth1": "10.0.0.2" } } };
    expect(() => planned(["b", "c"], [thief], held)).toThrow(/10\.0\.0\.2 is held by Node\/x\/eth1/);
    expect(shortState(planned(["b", "c"], [thief], {}))).toBe("b=1 c=3");
  });

  it("gives up nothing on pools that it never had", () => {
    const wan = {
      ...first,
      addresses: { wan: { "Node/x/eth2": "10.1.0.1" } },
      pools: { wan: { range: { cidr: "10.1.0.0/24" } } },
    };
    const { plan } = planSet(lanInputs(lanClaims("a"), undefined, { state, set: "shop" }), () =>
      recordOf([first, wan]),
    );
    expect(plan?.release.map(({ allocation }) => allocation.claim)).toEqual(["Node/b/eth1", "Node/c/eth1"]);
    const had = planSet(
      lanInputs(lanClaims("a"), undefined, { state, set: "shop" }),
      () => recordOf([first, wan]),
      wan,
    );
    expect(had.plan?.release).toHaveLength(3);
  });

  describe("and was in the stack", () => {
    const go = (stack: SetState, names: string[], moved: SetInputs["moved"] = [], there: SetState[] = []) =>
      shortState(
        planSet(
          lanInputs(lanClaims(...names), undefined, { state, set: "shop", moved }),
          () => recordOf(there),
          stack,
          leftOf(stack),
        ).state,
      );
    const three = planInStack(lanInputs(lanClaims("a", "b", "c")));

    it("keeps all addresses", () => expect(go(three, ["b", "a", "c", "0"])).toBe("0=4 a=1 b=2 c=3"));

    it("is refused what would be forgotten: what is releasing, and what is claimed no more", () => {
      const releasing = planInStack(lanInputs(lanClaims("b", "c"), three));
      expect(() => go(releasing, ["b", "c"])).toThrow("1 address that would be forgotten, as 10.0.0.1 of");
      expect(go(releasing, ["a", "b", "c"])).toBe("a=1 b=2 c=3");
      expect(() => go(three, ["0", "b"])).toThrow("2 addresses that would be forgotten, as 10.0.0.1 of");
    });

    it("is refused a move in the same edit, which would forget where the claim was", () => {
      const inputs = lanInputs([{ key: "Node/a/eth1", pool: "lan", address: "10.0.0.4" }, ...lanClaims("b", "c")]);
      const go = () =>
        planSet({ ...inputs, state, set: "shop", allowMove: true }, () => recordOf([]), three, leftOf(three));
      expect(go).toThrow("1 address that would be forgotten, as 10.0.0.1 of Node/a/eth1");
    });

    it("has what was renamed, and what is there already", () => {
      expect(go(three, ["b", "c", "d"], [{ from: "Node/a/eth1", to: "Node/d/eth1" }])).toBe("b=2 c=3 d=1");
      const there = { ...three, set: "shop" };
      expect(go(three, ["b", "c"], [], [there])).toBe("b=2 c=3");
    });
  });

  it("looks at other records only where it comes to this one, or a pool comes to it", async () => {
    const stack = planInStack(lanInputs(lanClaims("a", "b")));
    const own = { ...first, addresses: { lan: { "Node/a/eth1": "10.0.0.1" } }, state };
    const inputs = lanInputs(lanClaims("a"), undefined, { state, set: "shop" });
    const left = (before: SetState | undefined, pools: SetInputs["pools"] = inputs.pools) =>
      whatIsLeft(before, { others: [stack] }, { ...inputs, pools }, { state, content: () => emptySnapshot });
    expect(await left(own)).toEqual(nothingLeft);
    // That other one has lan no more, whatever it says.
    const wan = { ...nothingLeft, coming: new Map([["wan", undefined]]), elsewhere: [emptySnapshot] };
    expect(await left(own, { ...pools, wan: pools.lan })).toEqual(wan);
    const lan = { ...nothingLeft, coming: new Map([["lan", "default"]]), elsewhere: [recordOf([stack])] };
    expect(await left(undefined)).toEqual(lan);
    // From then on it is the one that is right about the pool.
    const { state: taken } = planSet({ ...inputs, previous: { others: [stack] } }, () => recordOf([own]));
    expect(taken.turn).toEqual({ lan: 1 });
  });

  it("is refused what other sets of the stack have elsewhere, to release or in use", () => {
    const one = planInStack(lanInputs(lanClaims("b", "c"), planInStack(lanInputs(lanClaims("a", "b", "c")))));
    const claims = [{ key: "Node/x/eth1", pool: "wan" }];
    const go = (pools: SetInputs["pools"], claims: SetInputs["claims"], held = one) => {
      const left = {
        ...nothingLeft,
        coming: new Map(Object.keys(pools).map((pool) => [pool, held.set])),
        elsewhere: [recordOf([held])],
      };
      return planSet(lanInputs(claims, undefined, { state, set: "shop", pools }), () => recordOf([]), {}, left).state;
    };
    expect(() => go({ wan: pools.lan }, claims)).toThrow("has 3 addresses that would be forgotten");
    expect(() => go(pools, lanClaims("a", "b", "c"))).toThrow("has 3 addresses that would be forgotten");
    // Also of addresses that the pool has no more.
    expect(() => go({ lan: { range: { cidr: "10.0.9.0/24" } } }, lanClaims("a"))).toThrow("has 3 addresses that would");
    expect(() => go(pools, unknown)).toThrow("has 3 addresses that would be forgotten");
    expect(() => go(pools, lanClaims("x"), { ...one, addresses: {} })).toThrow("has 1 address that would be forgotten");
    expect(shortState(go(pools, lanClaims("x"), { ...one, addresses: {}, releasing: {} }))).toBe("x=1");
  });

  it("does not go by an old line of a lockfile that the set comes back to", () => {
    const lock = { ...first, addresses: { lan: { "Node/b/eth1": "10.0.0.2" } } };
    const left = { ...first, addresses: { lan: { "Node/b/eth1": "10.0.0.3" } } };
    const inputs = lanInputs(lanClaims("b"), undefined, { state: { backend: "lockfile", path: "l" }, set: "shop" });
    const go = (...left: SetState[]) => planSet(inputs, () => recordOf([lock]), {}, leftOf(...left));
    expect(shortState(go().state)).toBe("b=2");
    expect(() => go(left)).toThrow(/10\.0\.0\.[23]/);
  });

  it("releases much of what it holds only where that is confirmed", () => {
    const keys = ["a", "b", "c", "d"].map((name, i) => [`Node/${name}/eth1`, `10.0.0.${i + 1}`]);
    const pools = { lan: { range: { cidr: "10.0.0.0/24" } } };
    const held = { ...first, pools, addresses: { lan: Object.fromEntries(keys) } };
    const go = (state: SetInputs["state"], confirmRelease: boolean) => {
      const inputs = lanInputs(lanClaims("v", "w"), undefined, { state, set: "shop", pools, confirmRelease });
      return () => planSet(inputs, () => recordOf([held]));
    };
    for (const state of [{ backend: "stack" }, { backend: "kubernetes" }] as const) {
      expect(go(state, false)).toThrow("this plan releases 4 of 4 addresses of set shop");
      expect(go(state, true)().plan?.release).toHaveLength(4);
    }
    expect(go({ backend: "lockfile", path: "l" }, true)).toThrow("is not up to date with the program");
  });

  it("leaves nothing behind that others have in its pools, when it goes to the stack", () => {
    const own = { ...first, addresses: { lan: { "Node/c/eth1": "10.0.0.3" } } };
    const go = (left: SetState) => {
      const inputs = lanInputs(lanClaims("c"), own);
      return planSet(inputs, () => stackRecord(inputs.previous, inputs.pools, "default"), {}, leftOf(own, left));
    };
    const lan = (claim: string) => ({ ...first, set: "other", addresses: { lan: { [claim]: "10.0.0.1" } } });
    expect(() => go(lan("Node/x/eth1"))).toThrow("would be forgotten, as 10.0.0.1 of Node/x/eth1");
    const renamed = { addresses: { old: { "Node/x/eth1": "10.0.0.2" } }, pools: { old: pools.lan } };
    expect(() => go({ ...first, set: "other", ...renamed })).toThrow("would be forgotten");
    const elsewhere = { old: { ...pools.lan, network: "blue" } };
    expect(shortState(go({ ...first, set: "other", ...renamed, pools: elsewhere }).state)).toBe("c=3");
  });

  it.each([
    [{ backend: "kubernetes", set: "shop" }, /It stands beside state, not in it: set: "shop"/],
    [{ backend: "kubernetes", token: "t" }, /state\.token|no such setting/],
    [{ backend: "kubernets" }, /no such backend; did you mean kubernetes\?/],
    [{ backend: "lockfile" }, /is missing/],
    [{ backend: "kubernetes", context: 3 }, /should be a text/],
  ])("%j is no place for a record", (wrong, message) => {
    expect(() => checkState(wrong as never)).toThrow(message);
  });
});

describe("a set whose record is in the stack", () => {
  const first = planInStack(lanInputs(lanClaims("a", "b", "c")));

  it("gives the lowest addresses in key order, whatever the order of claims", () => {
    expect(shortState(first)).toBe("a=1 b=2 c=3");
    expect(planInStack(lanInputs(lanClaims("c", "a", "b")))).toEqual(first);
  });

  it("keeps addresses when claims come and go, and gives none of those that went to anybody", () => {
    expect(shortState(planInStack(lanInputs(lanClaims("0", "c", "b"), first)))).toBe("0=4 b=2 c=3 / a=1");
  });

  it("gives a claim that comes back its own address", () => {
    const without = planInStack(lanInputs(lanClaims("b"), first));
    expect(shortState(without)).toBe("b=2 / a=1 c=3");
    expect(shortState(planInStack(lanInputs(lanClaims("b", "c"), without)))).toBe("b=2 c=3 / a=1");
  });

  it("frees what is released, for the next plan and not for this one", () => {
    const without = planInStack(lanInputs(lanClaims("b", "c"), first));
    const release = { release: ["Node/a"] };
    const freed = planInStack(lanInputs(lanClaims("b", "c", "d"), without, release));
    expect(shortState(freed)).toBe("b=2 c=3 d=4");
    expect(shortState(planInStack(lanInputs(lanClaims("b", "c", "d", "e"), freed, release)))).toBe("b=2 c=3 d=4 e=1");
  });

  it("keeps what a pool still has to release when the pool is gone", () => {
    const other = { wan: { range: { cidr: "10.1.0.0/24" } } };
    const gone = planInStack(lanInputs([{ key: "Node/x/eth2", pool: "wan" }], first, { pools: other }));
    expect(gone.releasing).toEqual(first.addresses);
    expect(Object.keys(gone.pools)).toEqual(["lan", "wan"]);
    expect(shortState(planInStack(lanInputs(lanClaims("a"), gone)))).toMatch(/^a=1 \/ b=2 c=3/);
  });

  it("keeps addresses under another name of the set, and of a pool that came over", () => {
    const previous = { others: [first] };
    expect(shortState(planInStack(lanInputs(lanClaims("0", "b", "c"), undefined, { previous })))).toBe(
      "0=4 b=2 c=3 / a=1",
    );
  });

  it("goes by the set that took a pool over last, even where that gave it up and nobody took it", () => {
    // `stale` was refused each update in which the pool went away from it and came back.
    const [stale, mine] = [planInStack(lanInputs([])), lanInputs(lanClaims("a"))];
    const taker = planInStack({ ...mine, previous: { others: [stale] } });
    const giver = planInStack(lanInputs([], taker, { pools: {}, previous: { own: taker, others: [stale] } }));
    expect(shortState(giver)).toBe(" / a=1");
    const next = lanInputs(lanClaims("b"), stale, { previous: { own: stale, others: [giver] } });
    expect(shortState(planInStack(next))).toBe("b=2 / a=1");
    // The same when it was released meanwhile; and the giver forgets a pool that another set has now.
    const empty = planInStack(
      lanInputs([], giver, { pools: {}, release: ["Node/a"], previous: { own: giver, others: [stale] } }),
    );
    const holding = planInStack(lanInputs(lanClaims("z"), undefined));
    expect(shortState(planInStack({ ...next, previous: { own: holding, others: [empty] } }))).toBe("b=1");
    const owner = planInStack({ ...next, previous: { own: stale, others: [giver] } });
    expect(planInStack(lanInputs([], giver, { pools: {}, previous: { own: giver, others: [owner] } }))).toEqual({
      addresses: {},
      releasing: {},
      pools: {},
      state: { backend: "stack" },
      set: "default",
    });
  });

  it("frees nothing that it gives up itself, though a word of an earlier release names it", () => {
    const gone = planInStack(lanInputs(lanClaims("b", "c"), first, { release: ["Node/a"] }));
    expect(shortState(gone)).toBe("b=2 c=3 / a=1");
    expect(shortState(planInStack(lanInputs(lanClaims("b", "c"), gone, { release: ["Node/a"] })))).toBe("b=2 c=3");
  });

  it("plans around an address that is not known yet", () => {
    const claims = [...lanClaims("a", "b"), { key: "Node/c/eth1", pool: "lan", address: unknown }];
    const own = planInStack(lanInputs(lanClaims("a")));
    // That of b may be the one that c wants.
    expect(planInStack(lanInputs(claims, own)).addresses).toEqual({
      lan: { "Node/a/eth1": "10.0.0.1", "Node/b/eth1": unknown, "Node/c/eth1": unknown },
    });
  });

  describe("beside another set of the stack, whose pool had or has the same addresses", () => {
    const wan = (range = pools.lan.range as object) => ({ pools: { wan: { range } } }) as Partial<SetInputs>;
    const beside = (other: SetState, rest: Partial<SetInputs>, ...names: string[]) =>
      planInStack(
        lanInputs(
          names.map((name) => ({ key: `Node/${name}/eth1`, pool: "wan" })),
          undefined,
          { ...rest, previous: { others: [other] } },
        ),
      );
    const gone = planInStack(lanInputs([], first, { pools: {} }));

    it("gives nobody what that holds, or has to release", () => {
      expect(() => beside(first, wan(), "x")).toThrow(/pools wan and lan of network default share addresses/);
      expect(shortState(gone)).toBe(" / a=1 b=2 c=3");
      expect(() => beside(gone, wan(), "x")).toThrow("10.0.0.1 is recorded for Node/a/eth1");
    });

    it("neither shows nor frees what is not its own", () => {
      const four = wan({ ...pools.lan.range, start: "10.0.0.4" });
      expect(shortState(beside(gone, { ...four, release: ["Node/a"] }, "x"))).toBe("x=4");
      expect(beside(gone, four).pools).toEqual(four.pools);
    });
  });

  it("says everything that is wrong at once", () => {
    const claims = [
      { key: "a", pool: "lan" },
      { key: "Node/b/eth1", pool: "lan", address: "10.0.0" },
    ];
    expect(() => planInStack(lanInputs(claims))).toThrow(/"a" is not a claim[\s\S]*"10.0.0" has 3 octets/);
  });

  it.each([
    ["an unknown pool", [{ key: "Node/a/eth1", pool: "lam" }], /lam/],
    ["a claim twice", lanClaims("a", "a"), /twice|Node\/a\/eth1/],
    ["too many claims", lanClaims("a", "b", "c", "d", "e"), /pool lan/],
    ["an address outside", [{ key: "Node/a/eth1", pool: "lan", address: "10.0.9.9" }], /10\.0\.9\.9/],
  ])("refuses %s", (_, claims, message) => {
    expect(() => planInStack(lanInputs(claims))).toThrow(message);
  });
});
