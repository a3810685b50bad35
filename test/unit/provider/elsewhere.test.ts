import { describe, expect, it } from "vitest";
import { emptySnapshot } from "../../../core/index.ts";
import { whatIsLeft } from "../../../provider/forgetting.ts";
import { heldOf } from "../../../provider/held.ts";
import { planSet } from "../../../provider/plan-set.ts";
import { type ClaimInput, recordOf, type SetInputs, type SetState, unknown } from "../../../provider/set-state.ts";
import { takesOf } from "../../../provider/stack-record.ts";
import { lanClaims, lanInputs, planInStack, lanPools as pools, shortState } from "../../support/pulumi-inputs.ts";

const state = { backend: "kubernetes" } as const;
describe("a set whose record is in a cluster, and that has others beside it in the stack", () => {
  const { state: first } = planSet(
    lanInputs(lanClaims("a", "b", "c"), undefined, { state, set: "shop" }),
    () => emptySnapshot,
  );

  it("comes to a pool again that another set of the stack has taken over since", async () => {
    const own = { ...first, addresses: { lan: { "Node/a/eth1": "10.0.0.1" } } };
    const taker = { ...planInStack(lanInputs(lanClaims("a", "b"))), turn: { lan: 1 } };
    const inputs = lanInputs(lanClaims("a", "c"), own, { state, set: "shop", previous: { own, others: [taker] } });
    const left = await whatIsLeft(own, inputs.previous, inputs, { state, content: () => emptySnapshot });
    expect(left.coming).toEqual(new Map([["lan", "default"]]));
    const go = () => planSet(inputs, () => recordOf([own]), own, left);
    expect(go).toThrow(
      "another record of this stack has 2 addresses that would be forgotten, as 10.0.0.1 of Node/a/eth1 in pool lan: a pool goes to another record only with its whole set",
    );
  });

  describe("and leaves another record", () => {
    const wan = { range: { cidr: "10.1.0.0/24" } };
    const two = { pools: { ...pools, wan } };
    const stack = planInStack(lanInputs([...lanClaims("a", "b"), { key: "Node/x/eth1", pool: "wan" }], undefined, two));
    const go = async (before: SetState, claims: ClaimInput[], rest: Partial<SetInputs> = two) => {
      const inputs = lanInputs(claims, before, { state, set: "shop", ...rest });
      const left = await whatIsLeft(before, inputs.previous, inputs, { state, content: () => emptySnapshot });
      return planSet(inputs, () => emptySnapshot, before, left).state.addresses;
    };
    const x = { key: "Node/x/eth1", pool: "wan" };

    it("takes all along, pools that it has no more, and whatever their ranges and networks are now", async () => {
      expect(await go(stack, [...lanClaims("a", "b"), x])).toEqual(stack.addresses);
      const forgotten = (text: string) => `1 address that would be forgotten, as ${text}`;
      await expect(go(stack, lanClaims("a", "b"), { pools })).rejects.toThrow(
        forgotten("10.1.0.1 of Node/x/eth1 in pool wan"),
      );
      const small = { pools: { ...two.pools, lan: { range: { cidr: "10.0.0.0/24", end: "10.0.0.1" } } } };
      await expect(go(stack, [...lanClaims("a"), x], small)).rejects.toThrow(forgotten("10.0.0.2 of Node/b/eth1"));
      const blue = { pools: { ...two.pools, wan: { ...wan, network: "blue" } } };
      await expect(go(stack, [...lanClaims("a", "b"), x], blue)).rejects.toThrow(forgotten("10.1.0.1 of Node/x/eth1"));
      const retired = planInStack(lanInputs(lanClaims("a", "b"), stack));
      await expect(go(retired, lanClaims("a", "b"), { pools })).rejects.toThrow(forgotten("10.1.0.1 of Node/x/eth1"));
      await expect(go(stack, [], { pools: {} })).rejects.toThrow("3 addresses that would be forgotten");
    });

    it("takes a renamed claim along", async () => {
      const moved = [{ from: "Node/b/eth1", to: "Node/c/eth1" }];
      const { lan } = await go(stack, [...lanClaims("a", "c"), x], { ...two, moved });
      expect(lan).toEqual({ "Node/a/eth1": "10.0.0.1", "Node/c/eth1": "10.0.0.2" });
      const twice = [...moved, { from: "Node/c/eth1", to: "Node/d/eth1" }];
      const later = await go(stack, [...lanClaims("a", "d"), x], { ...two, moved: twice });
      expect(later.lan).toEqual({ "Node/a/eth1": "10.0.0.1", "Node/d/eth1": "10.0.0.2" });
    });
  });

  it("takes over a pool that another claim set of the stack had last in this record, whichever of them goes first", () => {
    const there = { state, identity: "1" };
    const [had, gave] = [
      { ...first, state, set: "old", record: "1" },
      { ...first, addresses: {}, turn: { lan: 0 } },
    ];
    const go = (record: SetState, other: SetState, ...names: string[]) => {
      const inputs = lanInputs(lanClaims(...names), undefined, { state, set: "shop", previous: { others: [other] } });
      const takes = takesOf(inputs.previous, inputs, there);
      const held = heldOf({}, inputs.previous, inputs, takes, there);
      return planSet(inputs, () => recordOf([record]), held, undefined, takes);
    };
    const made = go(had, had, "c", "0", "b");
    expect([shortState(made.state), made.state.turn]).toEqual(["0=4 b=2 c=3", { lan: 1 }]);
    expect(made.plan?.keep.map(({ allocation, releasing }) => [allocation.set, releasing])).toEqual([
      ["shop", true],
      ["shop", undefined],
      ["shop", undefined],
    ]);
    const leaving = { ...had, addresses: {}, releasing: had.addresses };
    for (const other of [had, { ...had, ...gave, set: "old" }])
      expect(shortState(go(leaving, other, "c", "0", "b").state)).toBe("0=4 b=2 c=3");
    // Not from another record, nor from a set that has lost the pool since.
    const pools = { lan: {} };
    expect(
      takesOf({ others: [{ ...had, record: "2", state: { ...state, context: "c" } }] }, lanInputs([]), there),
    ).toEqual([]);
    const owner = { ...had, set: "default", turn: { lan: 1 }, pools } as never as SetState;
    expect(takesOf({ own: owner, others: [had] }, lanInputs([]), there)).toEqual([]);
  });
});

describe("a set whose record is a lockfile", () => {
  it("records no guess for a claim whose address is not known yet; one that holds a line keeps it", () => {
    const lock = { state: { backend: "lockfile", path: "none.lock" } } as const;
    const inputs = lanInputs(
      [...lanClaims("a"), { key: "Node/gw/eth1", pool: "lan", address: unknown }],
      undefined,
      lock,
    );
    const holds = (...names: string[]) => recordOf([planInStack(lanInputs(lanClaims(...names)))]);
    expect(() => planSet(inputs, () => holds("a"))).toThrow(
      "Node/gw/eth1 of pool lan: the address that it asks for is known only when another resource is made",
    );
    const { plan } = planSet(inputs, () => holds("a", "gw"));
    expect(plan?.keep).toHaveLength(2);
  });
});
