import { describe, expect, it } from "vitest";
import { emptySnapshot } from "../../core/allocation.ts";
import { plan } from "../../core/plan/plan.ts";
import { planRename } from "../../core/plan/rename.ts";
import { claimOf, spelt } from "../support/core/text.ts";
import { refusesBadPlans } from "./bad-plans.ts";
import { blocks } from "./blocks.ts";
import { planners } from "./planners.ts";
import { repeats } from "./repeats.ts";
import { committed, freed, lines, planned, pools, type Store } from "./store.ts";

const refused = (code: string) => expect.objectContaining({ name: "IpamError", code });

/** The contract of every state backend; see state/backend.ts. */
export function contract(name: string, make: () => Store): void {
  describe(`${name}: reading and writing`, () => {
    it("an absent record reads as empty, and stays absent after an empty plan", async () => {
      const store = make();
      const before = await store.stamp();
      expect(await store.open().read()).toEqual(emptySnapshot);
      expect(await committed(store, [])).toEqual(emptySnapshot);
      expect(await store.stamp()).toBe(before);
    });

    it("what a commit returns is what everybody reads from then on", async () => {
      const store = make();
      const after = await committed(store, ["Node/n/a if=eth1", "Node/m/a pool=q uid=7", "VM/ns:v/net0 pool=r"]);
      expect(await store.open().read()).toEqual(after);
      expect(await lines(store)).toEqual([
        "10.0.0.1 Node/n/a if=eth1",
        "10.0.0.1 VM/ns:v/net0 pool=r",
        "2001:db8::1 Node/m/a pool=q uid=7",
      ]);
      expect(after.pools.map((pool) => `${pool.name} ${pool.network}`)).toEqual(["p default", "q default", "r blue"]);
      expect([...after.base.keys()].sort()).toEqual(["p", "q", "r"]);
    });

    it("lines are in the order of their addresses, whatever order they came in", async () => {
      const store = make();
      await committed(store, ["Node/n/a wanted=.9"]);
      await committed(store, ["Node/n/a wanted=.9", "Node/m/a wanted=.2", "Node/o/a pool=r wanted=.2"]);
      expect(await lines(store)).toEqual([".2 Node/m/a", ".2 Node/o/a pool=r", ".9 Node/n/a"].map(spelt));
    });

    it("an empty plan writes nothing, and commits whatever happened meanwhile", async () => {
      const store = make();
      await committed(store, ["Node/n/a"]);
      const empty = await planned(store, ["Node/n/a"]);
      await committed(store, ["Node/n/a", "Node/m/a"]);
      const before = await store.stamp();
      await store.open().commit(empty);
      expect(await store.stamp()).toBe(before);
    });
  });

  describe(`${name}: life of a line`, () => {
    // Each step is the claims that are left, or what else happened; then the lines as they are.
    it.each([
      {
        name: "released in two steps: nobody gets the address before it is free",
        steps: [
          { claims: ["Node/n/a"], want: [".1 Node/n/a"] },
          { claims: ["Node/m/a"], want: [".2 Node/m/a", ".1 Node/n/a releasing"] },
          { free: true, want: [".2 Node/m/a"] },
          { claims: ["Node/m/a", "Node/o/a"], want: [".1 Node/o/a", ".2 Node/m/a"] },
        ],
      },
      {
        name: "restored: a releasing line goes back to its claim",
        steps: [
          { claims: ["Node/n/a", "Node/m/a"], want: [".1 Node/m/a", ".2 Node/n/a"] },
          { claims: ["Node/m/a"], want: [".1 Node/m/a", ".2 Node/n/a releasing"] },
          { claims: ["Node/m/a", "Node/n/a if=eth1"], want: [".1 Node/m/a", ".2 Node/n/a if=eth1"] },
        ],
      },
      {
        name: "renamed: the address stays",
        steps: [
          { claims: ["Node/n/a", "Node/m/a"], want: [".1 Node/m/a", ".2 Node/n/a"] },
          { rename: ["Node/n", "Node/a"], want: [".1 Node/m/a", ".2 Node/a/a"] },
          { rename: ["a", "b"], want: [".1 Node/m/b", ".2 Node/a/b"] },
          { claims: ["Node/m/b", "Node/a/b"], want: [".1 Node/m/b", ".2 Node/a/b"] },
        ],
      },
      {
        name: "renamed while it is releasing: it comes back under the new name",
        steps: [
          { claims: ["Node/n/a", "Node/m/a"], want: [".1 Node/m/a", ".2 Node/n/a"] },
          { claims: ["Node/m/a"], want: [".1 Node/m/a", ".2 Node/n/a releasing"] },
          { rename: ["a", "b"], want: [".1 Node/m/b", ".2 Node/n/b releasing"] },
          { claims: ["Node/m/b", "Node/n/b"], want: [".1 Node/m/b", ".2 Node/n/b"] },
        ],
      },
      {
        name: "moved on purpose: the old address is releasing",
        steps: [
          { claims: ["Node/n/a"], want: [".1 Node/n/a"] },
          { claims: ["Node/n/a wanted=.5"], allowMove: true, want: [".5 Node/n/a", ".1 Node/n/a releasing"] },
        ],
      },
      {
        name: "the last line of a pool takes the pool with it",
        steps: [
          { claims: ["Node/n/a", "Node/n/a pool=r"], want: [".1 Node/n/a", ".1 Node/n/a pool=r"] },
          { claims: ["Node/n/a"], want: [".1 Node/n/a", ".1 Node/n/a pool=r releasing"] },
          { free: true, want: [".1 Node/n/a"], pools: ["p"] },
          { claims: [], want: [".1 Node/n/a releasing"], pools: ["p"] },
          { free: true, want: [], pools: [] },
        ],
      },
    ])("$name", async ({ steps }) => {
      const store = make();
      for (const step of steps as Step[]) {
        if (step.rename) await store.open().commit(planRename(await store.open().read(), ...step.rename));
        else if (step.free) await freed(store);
        else await committed(store, step.claims ?? [], { allowMove: step.allowMove ?? false });
        expect(await lines(store)).toEqual(step.want.map(spelt));
        if (step.pools) expect((await store.open().read()).pools.map((pool) => pool.name)).toEqual(step.pools);
      }
    });

    it("sets share a pool: each releases its own lines alone", async () => {
      const store = make();
      await committed(store, ["Node/n/a"]);
      await committed(store, ["Node/m/a"], { set: "b" });
      await committed(store, []);
      expect(await lines(store)).toEqual([".2 Node/m/a set=b", ".1 Node/n/a releasing"].map(spelt));
    });

    it("lines of pools that are configured no more are released, and kept with their pool until they are free", async () => {
      const store = make();
      await committed(store, ["Node/n/a", "Node/m/a pool=r"]);
      const rest = pools.filter((pool) => pool.name !== "r");
      const without = plan({ pools: rest, claims: [claimOf("Node/n/a")], snapshot: await store.open().read() });
      await store.open().commit(without);
      expect(await lines(store)).toEqual([".1 Node/n/a", ".1 Node/m/a pool=r releasing"].map(spelt));
      expect((await store.open().read()).pools.map((pool) => pool.network)).toEqual(["default", "blue"]);
      await freed(store);
      expect(await lines(store)).toEqual([".1 Node/n/a"].map(spelt));
    });
  });

  describe(`${name}: C1, compare and swap`, () => {
    it.each<{ other: string; change: (store: Store) => Promise<unknown> }>([
      { other: "a node came", change: (store) => committed(store, ["Node/n/a", "Node/o/a"]) },
      { other: "a node went", change: (store) => committed(store, []) },
      { other: "a NIC changed", change: (store) => committed(store, ["Node/n/a if=eth1"]) },
      {
        other: "a claim was renamed",
        change: async (store) => store.open().commit(planRename(await store.open().read(), "a", "b")),
      },
      { other: "another set came", change: (store) => committed(store, ["Node/o/a"], { set: "b" }) },
    ])("a plan is refused and nothing changes, if meanwhile $other", async ({ change }) => {
      const store = make();
      await committed(store, ["Node/n/a"]);
      const stale = await planned(store, ["Node/n/a", "Node/m/a", "Node/m/a pool=q"]);
      await change(store);
      const [before, stamp] = [await lines(store), await store.stamp()];
      await expect(store.open().commit(stale)).rejects.toEqual(refused("conflict"));
      expect(await lines(store)).toEqual(before);
      expect(await store.stamp()).toBe(stamp);
    });

    it("a plan is refused if a pool got its first line meanwhile, or lost its last", async () => {
      const store = make();
      const first = await planned(store, ["Node/m/a"]);
      await committed(store, ["Node/n/a"]);
      await expect(store.open().commit(first)).rejects.toEqual(refused("conflict"));
      const second = await planned(store, ["Node/n/a", "Node/m/a"]);
      await committed(store, []);
      await freed(store);
      await expect(store.open().commit(second)).rejects.toEqual(refused("conflict"));
    });

    it("pools that the plan does not touch may have moved", async () => {
      const store = make();
      const made = await planned(store, ["Node/n/a"]);
      await committed(store, ["Node/m/a pool=q"], { set: "b" });
      await store.open().commit(made);
      expect(await lines(store)).toEqual(["10.0.0.1 Node/n/a", "2001:db8::1 Node/m/a pool=q set=b"]);
    });

    it("a pool that moved and came back is the pool the plan was made against", async () => {
      const store = make();
      await committed(store, ["Node/n/a"]);
      const made = await planned(store, ["Node/n/a", "Node/m/a"]);
      await committed(store, []);
      await committed(store, ["Node/n/a"]);
      await store.open().commit(made);
      expect(await lines(store)).toEqual([".1 Node/n/a", ".2 Node/m/a"].map(spelt));
    });
  });

  repeats(name, make);
  blocks(name, make);
  refusesBadPlans(name, make);
  planners(name, make);
}

interface Step {
  readonly claims?: readonly string[];
  readonly allowMove?: boolean;
  readonly free?: boolean;
  readonly rename?: readonly [string, string];
  readonly want: readonly string[];
  readonly pools?: readonly string[];
}
