import { describe, expect, it } from "vitest";
import { adviceOf, emptySnapshot, type IpamError } from "../../../core/index.ts";
import { caught } from "../../../pipeline/guards.ts";
import { leftBehind } from "../../../provider/left-behind.ts";
import { readInputs } from "../../../provider/read-inputs.ts";
import { recordOf, type SetInputs, type SetState, unknown } from "../../../provider/set-state.ts";
import {
  lanClaims,
  lanInputs,
  planInStack,
  planned,
  lanPools as pools,
  shortState,
} from "../../support/pulumi/inputs.ts";
import { inScratchFolder } from "../../support/state/folder.ts";

inScratchFolder();

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

it("a pool of order Next goes on after the address that the stack allocated last", () => {
  const next = { pools: { lan: { ...pools.lan, allocationOrder: "Next" } } } as const;
  const first = planInStack(lanInputs(lanClaims("a", "b"), undefined, next));
  expect(first.last).toEqual({ lan: "10.0.0.2" });
  const gone = planInStack(lanInputs(lanClaims("a"), first, { ...next, confirmRelease: true }));
  const free = planInStack(lanInputs(lanClaims("a"), gone, { ...next, release: ["10.0.0.2"] }));
  expect([shortState(gone), shortState(free)]).toEqual(["a=1 / b=2", "a=1"]);
  const after = planInStack(lanInputs(lanClaims("a", "c"), free, next));
  expect([shortState(after), after.last]).toEqual(["a=1 c=3", { lan: "10.0.0.3" }]);
  expect(planInStack(lanInputs(lanClaims("a"))).last).toBeUndefined();
});

describe("an owner whose claim has another id", () => {
  const claim = (key: string, owner?: string) => [{ key, pool: "lan", ...(owner === undefined ? {} : { owner }) }];
  const plain = planInStack(lanInputs(lanClaims("x", "a")));
  const slot = planInStack(lanInputs(claim("Node/w1/eth1", "Node/a")));

  it.each([
    [
      "none before",
      plain,
      claim("Node/w1/eth1", "Node/a"),
      "its owner would lose 10.0.0.1, which it has as Node/a/eth1",
    ],
    ["none now", slot, claim("Node/a/eth1"), "its owner would lose 10.0.0.1, which it has as Node/w1/eth1"],
    [
      "another one",
      slot,
      claim("Node/w2/eth1", "Node/a"),
      "its owner would lose 10.0.0.1, which it has as Node/w1/eth1",
    ],
    ["another one, and another name", slot, claim("Node/a/lan"), 'moved: [{ from: "Node/w1/eth1", to: "Node/a/lan" }]'],
    [
      "the name of another owner, which comes",
      planInStack(lanInputs(claim("Node/b/eth1", "Node/a"))),
      [...claim("Node/b/eth1"), ...claim("Node/a/eth1")],
      "its owner would lose 10.0.0.1, which it has as Node/b/eth1",
    ],
  ])("does not move: %s", (_, own, claims, says) => {
    expect(() => planInStack(lanInputs(claims, own))).toThrow(says);
    expect(() => planInStack(lanInputs(claims, own, { allowMove: true, confirmRelease: true }))).not.toThrow();
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
      "its owner would lose 10.0.0.1, which it has as Node/a/eth1",
    );
  });

  it("is looked up in its own set, and one id stands for one owner", () => {
    const wan = { range: { cidr: "10.1.0.0/24" } };
    const addresses = { wan: { "Node/w1/eth1": "10.1.0.1" } };
    const other = { ...slot, pools: { wan }, addresses, owners: { "Node/w1/eth1": "Node/b" } };
    const previous = { own: slot, others: [other] };
    const plan = (claims: SetInputs["claims"]) => planInStack(lanInputs(claims, undefined, { previous }));
    expect(() => plan(claim("Node/a/eth1"))).toThrow("its owner would lose 10.0.0.1");
    expect(shortState(plan(claim("Node/b/eth1")))).toBe("b=2 / w1=1");
    const two = [...claim("Node/w1/eth1", "Node/a"), ...claim("Node/w1/eth2", "Node/b")];
    expect(() => plan(two)).toThrow("Node/w1/eth2 in pool lan: Node/w1 stands for another owner in claims[0]");
  });

  it("gives another owner of the same id its address", () => {
    expect(shortState(planInStack(lanInputs(claim("Node/w1/eth1", "Node/b"), slot)))).toBe("w1=1");
  });
});

it("an address that is not known yet is refused: nobody could tell what others get", () => {
  const waiting = [{ key: "Node/a/eth1", pool: "lan", address: unknown }];
  expect(() => planInStack(lanInputs(waiting))).toThrow("the address that it asks for is not known yet");
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

it("claims that have other names now are refused once for each pool, with what declares the rename", () => {
  const wan = { range: { cidr: "10.1.0.0/24" } };
  const two = { pools: { lan: { range: { cidr: "10.0.0.0/24" } }, wan } };
  const claims = (name: string) =>
    ["lan", "wan"].flatMap((pool) => ["n10", "n11", "n12"].map((node) => ({ key: `Node/${node}/${name}`, pool })));
  const own = planInStack(lanInputs(claims("eth1"), undefined, two));
  const refused = caught(() => planInStack(lanInputs(claims("lan0"), own, two))) as IpamError;
  expect(refused.issues.map(({ path }) => path)).toEqual([
    ["claims", 0],
    ["claims", 3],
  ]);
  const said = adviceOf(refused, "stack");
  expect(said).toContain("Node/n10/lan0 in pool lan: Node/n10 would lose 10.0.0.1 (eth1)");
  expect(said).toContain("(and 2 more like it)");
  expect(said).toContain('moved: [{ from: "OWNER/eth1", to: "OWNER/lan0" }], for each owner');
  const moved = ["n10", "n11", "n12"].map((node) => ({ from: `Node/${node}/eth1`, to: `Node/${node}/lan0` }));
  expect(shortState(planInStack(lanInputs(claims("lan0"), own, { ...two, moved })))).toBe(
    shortState(own).replaceAll("eth1", "lan0"),
  );
});

describe("a set whose record others share", () => {
  const state = { backend: "kubernetes" } as const;
  const lanSet = (text: string, rest: Partial<SetState> = {}): SetState => ({
    addresses: {
      lan: Object.fromEntries(
        text
          .split(" ")
          .map((one) => one.split("="))
          .map(([n, a]) => [`Node/${n}/eth1`, `10.0.0.${a}`]),
      ),
    },
    pools,
    state,
    set: "shop",
    ...rest,
  });
  const inputsOf = (nodes: string, own: SetState | undefined, rest: Partial<SetInputs> = {}) =>
    lanInputs(lanClaims(...nodes.split(" ").filter(Boolean)), own, { state, set: "shop", ...rest });
  const moves = (text: string) =>
    text.split(" ").map((one) => ({ from: `Node/${one[0]}/eth1`, to: `Node/${one[2]}/eth1` }));

  const rows: [
    what: string,
    own: string,
    record: SetState[],
    nodes: string,
    rest: Partial<SetInputs>,
    says: string | RegExp,
  ][] = [
    ["takes again what the record has lost", "b=2 c=3", [], "b c", {}, "b=2 c=3"],
    ["is refused what somebody else has there now", "b=2", [lanSet("x=2")], "b", {}, /10\.0\.0\.2 is held by Node\/x/],
    ["is refused another address of its own there", "b=2", [lanSet("b=3")], "b", {}, /which now wants 10\.0\.0\.2/],
    ["follows the record where claims may move", "b=2", [lanSet("b=3")], "b", { allowMove: true }, "b=3"],
    ["takes lost lines again where claims may move", "b=2 c=3", [], "c b", { allowMove: true }, "b=2 c=3"],
    [
      "takes the lowest free address where its own is gone and it may move",
      "b=2",
      [lanSet("x=2")],
      "b",
      { allowMove: true },
      "b=1",
    ],
    ["takes a lost line again under a new name", "a=3", [], "b", { moved: moves("a>b") }, "b=3"],
    ["does so after two renames", "a=3", [], "c", { moved: moves("b>c a>b") }, "c=3"],
    [
      "is refused another address under the new name",
      "a=3",
      [lanSet("b=4")],
      "b",
      { moved: moves("a>b") },
      /wants 10\.0\.0\.3/,
    ],
    [
      "is refused an old line of a former name",
      "c=3",
      [lanSet("b=1")],
      "c",
      { moved: moves("b>c") },
      /wants 10\.0\.0\.3/,
    ],
    [
      "is not another claim set of the record: mv says so",
      "b=2",
      [lanSet("b=2", { set: "old" })],
      "b",
      {},
      /already held by Node\/b\/eth1 in set old/,
    ],
  ];
  it.each(rows)("%s", (_, own, record, nodes, rest, says) => {
    const go = () => shortState(planned(inputsOf(nodes, lanSet(own), rest), recordOf(record)).state);
    if (typeof says === "string") expect(go()).toBe(says);
    else expect(go).toThrow(says);
  });

  it("follows a lock that stays its record, and not one that it comes back to", () => {
    const lock = { backend: "lockfile", path: "l" } as const;
    const own = (one: SetState["state"]) => inputsOf("b", lanSet("b=3", { state: one }), { state: lock });
    expect(shortState(planned(own(lock), recordOf([lanSet("b=2")])).state)).toBe("b=2");
    expect(() => planned(own(state), recordOf([lanSet("b=2")]))).toThrow(/which now wants 10\.0\.0\.3/);
  });

  it("releases nothing on pools that it never had", () => {
    const wan = { wan: { range: { cidr: "10.1.0.0/24" } } };
    const other = lanSet("", { addresses: { wan: { "Node/x/eth2": "10.1.0.1" } }, pools: wan });
    const record = recordOf([lanSet("a=1 b=2 c=3"), other]);
    const released = (own?: SetState) =>
      planned(inputsOf("a", own), record).plan?.release.map(({ allocation }) => allocation.claim);
    expect(released()).toEqual(["Node/b/eth1", "Node/c/eth1"]);
    expect(released(other)).toHaveLength(3);
  });

  describe("changes its record, or comes to a pool", () => {
    const wan = { range: { cidr: "10.1.0.0/24" } };
    const two = { pools: { ...pools, wan } };
    const x = { key: "Node/x/eth1", pool: "wan" };
    const three = planInStack(lanInputs(lanClaims("a", "b", "c")));
    const both = planInStack(lanInputs([...lanClaims("a", "b"), x], undefined, two));
    const retired = planInStack(lanInputs(lanClaims("a", "b"), both));
    const left = planInStack(lanInputs(lanClaims("b", "c"), three));
    /** The plan of a set, with what other records of the stack have. */
    async function go(inputs: SetInputs, record = emptySnapshot): Promise<string> {
      const recorded = { name: "network", snapshot: record };
      const { pools } = readInputs(inputs);
      return shortState(planned(inputs, record, await leftBehind(inputs, pools, recorded)).state);
    }
    const would = (address: string, count = "1 address") => `has ${count}, as ${address}`;
    const small = { lan: { range: { cidr: "10.0.0.0/24", end: "10.0.0.1" } }, wan };
    const blue = { ...two.pools, wan: { ...wan, network: "blue" } };
    const beside = (own: SetState, rest: Partial<SetState> = {}) => ({ previous: { others: [{ ...own, ...rest }] } });
    const inLock = lanSet("a=1", { state: { backend: "lockfile", path: "none.lock" } });

    const rows: [what: string, inputs: SetInputs, record: SetState[], says: string][] = [
      ["from the stack: everybody keeps their address", inputsOf("b a c 0", three), [], "0=4 a=1 b=2 c=3"],
      ["with a rename", inputsOf("b c d", three, { moved: moves("a>d") }), [], "b=2 c=3 d=1"],
      ["where the record has it all already", inputsOf("b c", three), [{ ...three, set: "shop" }], "b=2 c=3"],
      ["and what was releasing comes back", inputsOf("a b c", left), [], "a=1 b=2 c=3"],
      ["but not what is releasing", inputsOf("b c", left), [], would("10.0.0.1 of Node/a/eth1")],
      ["nor what is claimed no more", inputsOf("0 b", three), [], would("10.0.0.1 of Node/a/eth1", "2 addresses")],
      [
        "nor a claim that moves in the same edit",
        lanInputs([{ key: "Node/a/eth1", pool: "lan", address: "10.0.0.4" }, ...lanClaims("b", "c")], three, {
          state,
          set: "shop",
          allowMove: true,
        }),
        [],
        would("10.0.0.1 of Node/a/eth1"),
      ],
      ["nor a pool that is dropped", inputsOf("a b", both), [], would("10.1.0.1 of Node/x/eth1 in pool wan")],
      ["nor one that was dropped before", inputsOf("a b", retired), [], would("10.1.0.1 of Node/x/eth1 in pool wan")],
      [
        "nor a pool that becomes smaller",
        lanInputs([...lanClaims("a"), x], both, { state, set: "shop", pools: small }),
        [],
        would("10.0.0.2 of Node/b/eth1"),
      ],
      [
        "nor one that goes to another network",
        lanInputs([...lanClaims("a", "b"), x], both, { state, set: "shop", pools: blue }),
        [],
        would("10.1.0.1 of Node/x/eth1"),
      ],
      [
        "nor all of it",
        lanInputs([], both, { state, set: "shop", pools: {} }),
        [],
        would("10.0.0.1 of Node/a/eth1", "3 addresses"),
      ],
      [
        "a pool of another record stays there, also with what is releasing",
        inputsOf("a b c", undefined, beside(left)),
        [],
        would("10.0.0.1 of Node/a/eth1", "3 addresses"),
      ],
      [
        "also under another name",
        lanInputs([{ key: "Node/x/eth1", pool: "wan" }], undefined, {
          state,
          set: "shop",
          pools: { wan: pools.lan },
          ...beside(left),
        }),
        [],
        would("10.0.0.1 of Node/a/eth1", "3 addresses"),
      ],
      [
        "also with another range",
        inputsOf("a", undefined, { pools: { lan: { range: { cidr: "10.0.9.0/24" } } }, ...beside(left) }),
        [],
        would("10.0.0.1 of Node/a/eth1", "3 addresses"),
      ],
      [
        "and comes once it is empty",
        inputsOf("x", undefined, beside(left, { addresses: {}, releasing: {} })),
        [],
        "x=1",
      ],
      [
        "a pool that the set has had is nobody else's",
        inputsOf("a", lanSet("a=1"), { previous: { own: lanSet("a=1"), others: [three] } }),
        [lanSet("a=1")],
        "a=1",
      ],
      [
        "in the stack, too, it stays with the set that has it",
        lanInputs(
          [...lanClaims("a"), x],
          { ...three, addresses: { wan: {} }, pools: { wan } },
          { ...two, previous: { own: { ...three, addresses: { wan: {} }, pools: { wan } }, others: [left] } },
        ),
        [],
        would("10.0.0.1 of Node/a/eth1", "3 addresses"),
      ],
    ];
    it.each(rows)("%s", async (_, inputs, record, says) => {
      const outcome = go(inputs, recordOf(record)).catch((error: Error) => error.message);
      if (says.includes("=")) expect(await outcome).toBe(says);
      else expect(await outcome).toContain(says);
    });

    it("from a lock: that is read", async () => {
      // There is none: nothing in it stands against the change.
      expect(await go(inputsOf("b a", inLock))).toBe("a=1 b=2");
    });

    it("to the stack: what others have in its pools cannot stay behind", () => {
      const inputs = lanInputs(lanClaims("c"), lanSet("c=3"));
      const stack = planInStack(inputs);
      const line = (address: bigint) => ({ address, pool: "lan", claim: "Node/x/eth1", set: "other" });
      const others = recordOf([lanSet("x=1", { set: "other" })]).allocations.map(({ address }) => ({
        line: line(address as never),
        network: "default",
        place: `lan ${address} default`,
      }));
      expect(shortState(stack)).toBe("c=3");
      expect(() =>
        planned(inputs, recordOf([lanSet("c=3", { set: "default" })]), { own: [], others: others as never }),
      ).toThrow(would("10.0.0.1 of Node/x/eth1"));
    });
  });

  it("releases much of what it holds only where that is confirmed", () => {
    const wide = { pools: { lan: { range: { cidr: "10.0.0.0/24" } } } };
    const held = lanSet("a=1 b=2 c=3 d=4", wide);
    const go = (backend: SetInputs["state"], confirmRelease: boolean) => () =>
      planned(inputsOf("v w", undefined, { ...wide, state: backend, confirmRelease }), recordOf([held]));
    for (const one of [{ backend: "stack" }, { backend: "kubernetes" }] as const) {
      expect(go(one, false)).toThrow("this plan releases all 4 addresses of claim eth1");
      expect(go(one, true)().plan?.release).toHaveLength(4);
    }
    expect(go({ backend: "lockfile", path: "l" }, true)).toThrow("is not up to date with the program");
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
    const rest = { pools: other, confirmRelease: true };
    const gone = planInStack(lanInputs([{ key: "Node/x/eth2", pool: "wan" }], first, rest));
    expect(gone.releasing).toEqual(first.addresses);
    expect(Object.keys(gone.pools)).toEqual(["lan", "wan"]);
    expect(shortState(planInStack(lanInputs(lanClaims("a"), gone)))).toMatch(/^a=1 \/ b=2 c=3/);
  });

  it("keeps addresses under another name, where it has all pools that had some", () => {
    const previous = { others: [first] };
    expect(shortState(planInStack(lanInputs(lanClaims("0", "b", "c"), undefined, { previous })))).toBe(
      "0=4 b=2 c=3 / a=1",
    );
  });

  it("gives nobody what another set has of a pool that both speak of", () => {
    // One had the pool without addresses, and was refused each update in which it went to the other and came back.
    const stale = planInStack(lanInputs([]));
    for (const other of [
      planInStack(lanInputs(lanClaims("a"))),
      planInStack(lanInputs([], planInStack(lanInputs(lanClaims("a"))))),
    ]) {
      const next = (node: string) =>
        lanInputs(lanClaims(node), undefined, { previous: { own: stale, others: [other] } });
      expect(shortState(planInStack(next("b")))).toBe("b=2");
      expect(() => planInStack(next("a"))).toThrow(
        "10.0.0.1 is releasing, as the same claim of set another of the stack",
      );
    }
  });

  it("has an address once, where the set that it took the pool from still speaks of it", () => {
    const taker = planInStack(lanInputs(lanClaims("a", "b"), undefined, { previous: { others: [first] } }));
    const next = planInStack(lanInputs(lanClaims("b"), undefined, { previous: { own: taker, others: [first] } }));
    expect(shortState(next)).toBe("b=2 / a=1 c=3");
    const previous = { own: first, others: [taker] };
    const giver = planInStack(lanInputs([], undefined, { pools: {}, previous, confirmRelease: true }));
    expect(shortState(giver)).toBe(" / a=1 b=2 c=3");
  });

  it("frees nothing that it gives up itself, though a word of an earlier release names it", () => {
    const gone = planInStack(lanInputs(lanClaims("b", "c"), first, { release: ["Node/a"] }));
    expect(shortState(gone)).toBe("b=2 c=3 / a=1");
    expect(shortState(planInStack(lanInputs(lanClaims("b", "c"), gone, { release: ["Node/a"] })))).toBe("b=2 c=3");
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
    const gone = planInStack(lanInputs([], first, { pools: {}, confirmRelease: true }));

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
