import { describe, expect, it } from "vitest";
import { emptySnapshot } from "../../../src/core/index.ts";
import { type Left, whatIsLeft } from "../../../src/provider/forgetting.ts";
import * as planning from "../../../src/provider/plan-set.ts";
import { checkState } from "../../../src/provider/read-inputs.ts";
import { type ClaimInput, recordOf, type SetInputs, type SetState, unknown } from "../../../src/provider/set-state.ts";
import { stackRecord } from "../../../src/provider/stack-record.ts";
import { setInputs } from "../../support/pulumi-inputs.ts";

const pools = { lan: { range: { cidr: "10.0.0.0/24", start: "10.0.0.1", end: "10.0.0.4" } } };

function claimsOf(...names: string[]): ClaimInput[] {
  return names.map((name) => ({ key: `Node/${name}/eth1`, pool: "lan" }));
}

function inputsOf(claims: readonly ClaimInput[], own?: SetState, rest: Partial<SetInputs> = {}): SetInputs {
  const previous = own === undefined ? { others: [] } : { own, others: [] };
  return setInputs({ pools, claims, previous, ...rest });
}

/** What these hold, for a set whose pools come. */
function leftOf(...states: SetState[]): Left {
  return { records: [recordOf(states)], pools: new Set(["lan", "wan"]), own: emptySnapshot };
}

/** With the record in the stack. */
function planSet(inputs: SetInputs): SetState {
  return planning.planSet(inputs, () => stackRecord(inputs.previous, inputs.pools, inputs.set)).state;
}

/** `a=1 b=2 / c=3`: live addresses, and releasing ones after the slash. */
function short({ addresses, releasing = {} }: SetState): string {
  const text = (held: SetState["addresses"]) =>
    Object.values(held)
      .flatMap((claims) => Object.entries(claims))
      .map(([key, address]) => `${key.split("/")[1]}=${address.replace("10.0.0.", "")}`)
      .join(" ");
  const gone = text(releasing);
  return gone === "" ? text(addresses) : `${text(addresses)} / ${gone}`;
}

describe("pools of a program", () => {
  const refused = (spec: unknown) => () =>
    planSet(inputsOf(claimsOf("a"), undefined, { pools: { lan: spec } as never }));

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
    expect(() => planSet(inputsOf(claims))).toThrow("the set has no such pool");
  });

  it("an old spec that would be refused today does not keep what it recorded from being read", () => {
    const own = {
      ...planSet(inputsOf(claimsOf("a"))),
      addresses: {},
      releasing: { old: { "Node/a/eth1": "10.9.0.1" } },
    };
    const old = { range: { cidr: "10.9.0.0/24", exclude: ["nonsense"] } };
    const after = planSet(inputsOf(claimsOf("a"), { ...own, pools: { ...own.pools, old } }));
    expect(after.releasing).toEqual({ old: { "Node/a/eth1": "10.9.0.1" } });
  });
});

describe("a set whose record is in a cluster", () => {
  const state = { backend: "kubernetes" } as const;
  const planned = (names: string[], record: readonly SetState[], held?: Partial<SetState>, set = "shop") =>
    planning.planSet(inputsOf(claimsOf(...names), undefined, { state, set }), () => recordOf(record), held).state;
  const first = planned(["a", "b", "c"], []);

  it("takes again what the stack has and the record has not, or is refused; after that nobody is asked", () => {
    const held = { ...first, addresses: { lan: { "Node/b/eth1": "10.0.0.2", "Node/c/eth1": "10.0.0.3" } } };
    expect(short(planned(["b", "c"], [], held))).toBe("b=2 c=3");
    const thief = { ...first, addresses: { lan: { "Node/x/eth1": "10.0.0.2" } } };
    expect(() => planned(["b", "c"], [thief], held)).toThrow(/10\.0\.0\.2 is held by Node\/x\/eth1/);
    expect(short(planned(["b", "c"], [thief], {}))).toBe("b=1 c=3");
  });

  it("gives up nothing on pools that it never had", () => {
    const wan = {
      ...first,
      addresses: { wan: { "Node/x/eth2": "10.1.0.1" } },
      pools: { wan: { range: { cidr: "10.1.0.0/24" } } },
    };
    const { plan } = planning.planSet(inputsOf(claimsOf("a"), undefined, { state, set: "shop" }), () =>
      recordOf([first, wan]),
    );
    expect(plan?.release.map(({ allocation }) => allocation.claim)).toEqual(["Node/b/eth1", "Node/c/eth1"]);
    const had = planning.planSet(
      inputsOf(claimsOf("a"), undefined, { state, set: "shop" }),
      () => recordOf([first, wan]),
      wan,
    );
    expect(had.plan?.release).toHaveLength(3);
  });

  describe("and was in the stack", () => {
    const go = (stack: SetState, names: string[], moved: SetInputs["moved"] = [], there: SetState[] = []) =>
      short(
        planning.planSet(
          inputsOf(claimsOf(...names), undefined, { state, set: "shop", moved }),
          () => recordOf(there),
          stack,
          leftOf(stack),
        ).state,
      );
    const three = planSet(inputsOf(claimsOf("a", "b", "c")));

    it("keeps all addresses", () => expect(go(three, ["b", "a", "c", "0"])).toBe("0=4 a=1 b=2 c=3"));

    it("is refused what would be forgotten: what is releasing, and what is claimed no more", () => {
      const releasing = planSet(inputsOf(claimsOf("b", "c"), three));
      expect(() => go(releasing, ["b", "c"])).toThrow("1 address that would be forgotten, as 10.0.0.1 of");
      expect(go(releasing, ["a", "b", "c"])).toBe("a=1 b=2 c=3");
      expect(() => go(three, ["0", "b"])).toThrow("2 addresses that would be forgotten, as 10.0.0.1 of");
    });

    it("is refused a move in the same edit, which would forget where the claim was", () => {
      const inputs = inputsOf([{ key: "Node/a/eth1", pool: "lan", address: "10.0.0.4" }, ...claimsOf("b", "c")]);
      const go = () =>
        planning.planSet({ ...inputs, state, set: "shop", allowMove: true }, () => recordOf([]), three, leftOf(three));
      expect(go).toThrow("1 address that would be forgotten, as 10.0.0.1 of Node/a/eth1");
    });

    it("has what was renamed, and what is there already", () => {
      expect(go(three, ["b", "c", "d"], [{ from: "Node/a/eth1", to: "Node/d/eth1" }])).toBe("b=2 c=3 d=1");
      const there = { ...three, set: "shop" };
      expect(go(three, ["b", "c"], [], [there])).toBe("b=2 c=3");
    });
  });

  it("looks at other records only where it comes to this one, or a pool comes to it", async () => {
    const stack = planSet(inputsOf(claimsOf("a", "b")));
    const own = { ...first, addresses: { lan: { "Node/a/eth1": "10.0.0.1" } }, state };
    const inputs = inputsOf(claimsOf("a"), undefined, { state, set: "shop" });
    const left = (before: SetState | undefined, pools: SetInputs["pools"] = inputs.pools) =>
      whatIsLeft(before, { others: [stack] }, { ...inputs, pools }, { state });
    expect((await left(own)).records).toEqual([]);
    expect((await left(own, { ...pools, wan: pools.lan })).pools).toEqual(new Set(["wan"]));
    expect(await left(undefined)).toMatchObject({ records: [recordOf([stack])], pools: new Set(["lan"]) });
    // From then on it is the one that is right about the pool.
    const { state: taken } = planning.planSet({ ...inputs, previous: { others: [stack] } }, () => recordOf([own]));
    expect(taken.turn).toEqual({ lan: 1 });
  });

  it("is refused what other sets of the stack have elsewhere, to release or in use", () => {
    const one = planSet(inputsOf(claimsOf("b", "c"), planSet(inputsOf(claimsOf("a", "b", "c")))));
    const other = { ...pools, wan: pools.lan };
    const claims = [{ key: "Node/x/eth1", pool: "wan" }];
    const go = (pools: SetInputs["pools"], claims: ClaimInput[], set = "shop") =>
      planning.planSet(inputsOf(claims, undefined, { state, set, pools }), () => recordOf([]), {}, leftOf(one));
    expect(() => go({ wan: other.wan }, claims)).toThrow("3 addresses that would be forgotten");
    expect(() => go(pools, claimsOf("b", "c"))).toThrow("1 address that would be forgotten");
    const released = { ...one, releasing: {} };
    const { state: kept } = planning.planSet(
      inputsOf(claimsOf("c", "b", "x"), undefined, { state, set: "shop" }),
      () => recordOf([]),
      {},
      leftOf(released),
    );
    expect(short(kept)).toBe("b=2 c=3 x=1");
  });

  it("does not go by an old line of a lockfile that the set comes back to", () => {
    const lock = { ...first, addresses: { lan: { "Node/b/eth1": "10.0.0.2" } } };
    const left = { ...first, addresses: { lan: { "Node/b/eth1": "10.0.0.3" } } };
    const inputs = inputsOf(claimsOf("b"), undefined, { state: { backend: "lockfile", path: "l" }, set: "shop" });
    const go = (...left: SetState[]) => planning.planSet(inputs, () => recordOf([lock]), {}, leftOf(...left));
    expect(short(go().state)).toBe("b=2");
    expect(() => go(left)).toThrow(/10\.0\.0\.[23]/);
  });

  it("leaves nothing behind that others have in its pools, when it goes to the stack", () => {
    const own = { ...first, addresses: { lan: { "Node/c/eth1": "10.0.0.3" } } };
    const go = (left: SetState) => {
      const inputs = inputsOf(claimsOf("c"), own);
      return planning.planSet(
        inputs,
        () => stackRecord(inputs.previous, inputs.pools, "default"),
        {},
        leftOf(own, left),
      );
    };
    const lan = (claim: string) => ({ ...first, set: "other", addresses: { lan: { [claim]: "10.0.0.1" } } });
    expect(() => go(lan("Node/x/eth1"))).toThrow("would be forgotten, as 10.0.0.1 of Node/x/eth1");
    const renamed = { addresses: { old: { "Node/x/eth1": "10.0.0.2" } }, pools: { old: pools.lan } };
    expect(() => go({ ...first, set: "other", ...renamed })).toThrow("would be forgotten");
    const elsewhere = { old: { ...pools.lan, network: "blue" } };
    expect(short(go({ ...first, set: "other", ...renamed, pools: elsewhere }).state)).toBe("c=3");
  });

  it.each([
    [{ backend: "kubernetes", token: "t" }, /state\.token|no such setting/],
    [{ backend: "kubernets" }, /no such backend; did you mean kubernetes\?/],
    [{ backend: "lockfile" }, /is missing/],
    [{ backend: "kubernetes", context: 3 }, /should be a text/],
  ])("%j is no place for a record", (wrong, message) => {
    expect(() => checkState(wrong as never)).toThrow(message);
  });
});

describe("a set whose record is in the stack", () => {
  const first = planSet(inputsOf(claimsOf("a", "b", "c")));

  it("gives the lowest addresses in key order, whatever the order of claims", () => {
    expect(short(first)).toBe("a=1 b=2 c=3");
    expect(planSet(inputsOf(claimsOf("c", "a", "b")))).toEqual(first);
  });

  it("keeps addresses when claims come and go, and gives none of those that went to anybody", () => {
    expect(short(planSet(inputsOf(claimsOf("0", "c", "b"), first)))).toBe("0=4 b=2 c=3 / a=1");
  });

  it("gives a claim that comes back its own address", () => {
    const without = planSet(inputsOf(claimsOf("b"), first));
    expect(short(without)).toBe("b=2 / a=1 c=3");
    expect(short(planSet(inputsOf(claimsOf("b", "c"), without)))).toBe("b=2 c=3 / a=1");
  });

  it("frees what is released, for the next plan and not for this one", () => {
    const without = planSet(inputsOf(claimsOf("b", "c"), first));
    const release = { release: ["Node/a"] };
    const freed = planSet(inputsOf(claimsOf("b", "c", "d"), without, release));
    expect(short(freed)).toBe("b=2 c=3 d=4");
    expect(short(planSet(inputsOf(claimsOf("b", "c", "d", "e"), freed, release)))).toBe("b=2 c=3 d=4 e=1");
  });

  it("keeps what a pool still has to release when the pool is gone", () => {
    const other = { wan: { range: { cidr: "10.1.0.0/24" } } };
    const gone = planSet(inputsOf([{ key: "Node/x/eth2", pool: "wan" }], first, { pools: other }));
    expect(gone.releasing).toEqual(first.addresses);
    expect(Object.keys(gone.pools)).toEqual(["lan", "wan"]);
    expect(short(planSet(inputsOf(claimsOf("a"), gone)))).toMatch(/^a=1 \/ b=2 c=3/);
  });

  it("keeps addresses under another name of the set, and of a pool that came over", () => {
    const previous = { others: [first] };
    expect(short(planSet(inputsOf(claimsOf("0", "b", "c"), undefined, { previous })))).toBe("0=4 b=2 c=3 / a=1");
  });

  it("goes by the set that took a pool over last, even where that gave it up and nobody took it", () => {
    // `stale` was refused each update in which the pool went away from it and came back.
    const [stale, mine] = [planSet(inputsOf([])), inputsOf(claimsOf("a"))];
    const taker = planSet({ ...mine, previous: { others: [stale] } });
    const giver = planSet(inputsOf([], taker, { pools: {}, previous: { own: taker, others: [stale] } }));
    expect(short(giver)).toBe(" / a=1");
    const next = inputsOf(claimsOf("b"), stale, { previous: { own: stale, others: [giver] } });
    expect(short(planSet(next))).toBe("b=2 / a=1");
    // The same when it was released meanwhile; and the giver forgets a pool that another set has now.
    const empty = planSet(
      inputsOf([], giver, { pools: {}, release: ["Node/a"], previous: { own: giver, others: [stale] } }),
    );
    const holding = planSet(inputsOf(claimsOf("z"), undefined));
    expect(short(planSet({ ...next, previous: { own: holding, others: [empty] } }))).toBe("b=1");
    const owner = planSet({ ...next, previous: { own: stale, others: [giver] } });
    expect(planSet(inputsOf([], giver, { pools: {}, previous: { own: giver, others: [owner] } }))).toEqual({
      addresses: {},
      pools: {},
      state: { backend: "stack" },
      set: "default",
    });
  });

  it("frees nothing that it gives up itself, though a word of an earlier release names it", () => {
    const gone = planSet(inputsOf(claimsOf("b", "c"), first, { release: ["Node/a"] }));
    expect(short(gone)).toBe("b=2 c=3 / a=1");
    expect(short(planSet(inputsOf(claimsOf("b", "c"), gone, { release: ["Node/a"] })))).toBe("b=2 c=3");
  });

  it("plans around an address that is not known yet", () => {
    const claims = [...claimsOf("a", "b"), { key: "Node/c/eth1", pool: "lan", address: unknown }];
    const own = planSet(inputsOf(claimsOf("a")));
    // That of b may be the one that c wants.
    expect(planSet(inputsOf(claims, own)).addresses).toEqual({
      lan: { "Node/a/eth1": "10.0.0.1", "Node/b/eth1": unknown, "Node/c/eth1": unknown },
    });
  });

  describe("beside another set of the stack, whose pool had or has the same addresses", () => {
    const wan = (range = pools.lan.range as object) => ({ pools: { wan: { range } } }) as Partial<SetInputs>;
    const beside = (other: SetState, rest: Partial<SetInputs>, ...names: string[]) =>
      planSet(
        inputsOf(
          names.map((name) => ({ key: `Node/${name}/eth1`, pool: "wan" })),
          undefined,
          { ...rest, previous: { others: [other] } },
        ),
      );
    const gone = planSet(inputsOf([], first, { pools: {} }));

    it("gives nobody what that holds, or has to release", () => {
      expect(() => beside(first, wan(), "x")).toThrow(/pools wan and lan of network default share addresses/);
      expect(short(gone)).toBe(" / a=1 b=2 c=3");
      expect(() => beside(gone, wan(), "x")).toThrow("10.0.0.1 is recorded for Node/a/eth1");
    });

    it("neither shows nor frees what is not its own", () => {
      const four = wan({ ...pools.lan.range, start: "10.0.0.4" });
      expect(short(beside(gone, { ...four, release: ["Node/a"] }, "x"))).toBe("x=4");
      expect(beside(gone, four).pools).toEqual(four.pools);
    });
  });

  it("says everything that is wrong at once", () => {
    const claims = [
      { key: "a", pool: "lan" },
      { key: "Node/b/eth1", pool: "lan", address: "10.0.0" },
    ];
    expect(() => planSet(inputsOf(claims))).toThrow(/"a" is not a claim[\s\S]*"10.0.0" has 3 octets/);
  });

  it.each([
    ["an unknown pool", [{ key: "Node/a/eth1", pool: "lam" }], /lam/],
    ["a claim twice", claimsOf("a", "a"), /twice|Node\/a\/eth1/],
    ["too many claims", claimsOf("a", "b", "c", "d", "e"), /pool lan/],
    ["an address outside", [{ key: "Node/a/eth1", pool: "lan", address: "10.0.9.9" }], /10\.0\.9\.9/],
  ])("refuses %s", (_, claims, message) => {
    expect(() => planSet(inputsOf(claims))).toThrow(message);
  });
});
