import { describe, expect, it } from "vitest";
import { type Plan, plan } from "../../core/plan/plan.ts";
import { claimOf, lineOf, poolOf } from "../support/core/text.ts";
import { duplicates } from "../support/state/record.ts";
import { committed, freed, lines, planned, type Store } from "./store.ts";

/** A record of blocks: the same life, and what shares an address is a duplicate, be the lengths the same or not. */
export function blocks(name: string, make: () => Store): void {
  describe(`${name}: blocks`, () => {
    it("are given, released, freed and read back", async () => {
      const store = make();
      const after = await committed(store, ["Node/n/a pool=s", "Node/m/a pool=s wanted=10.5.0.0", "Node/n/a"]);
      expect(await store.open().read()).toEqual(after);
      expect(await lines(store)).toEqual([
        "10.0.0.1 Node/n/a",
        "10.4.0.0/22 Node/n/a pool=s",
        "10.5.0.0/22 Node/m/a pool=s",
      ]);
      await committed(store, ["Node/m/a pool=s", "Node/o/a pool=s"]);
      expect((await lines(store)).slice(0, 2)).toEqual(["10.4.4.0/22 Node/o/a pool=s", "10.5.0.0/22 Node/m/a pool=s"]);
      await freed(store);
      await committed(store, ["Node/m/a pool=s", "Node/o/a pool=s", "Node/x/a pool=s"]);
      expect((await lines(store))[0]).toBe("10.4.0.0/22 Node/x/a pool=s");
    });

    it("of several lengths stand in one pool, none of them moved", async () => {
      const store = make();
      await committed(store, ["Node/n/a pool=s"]);
      const longer = poolOf("s", "10.4.0.0/14", { blockLength: 24 });
      const claims = ["Node/n/a pool=s", "Node/m/a pool=s"].map(claimOf);
      await store.open().commit(plan({ pools: [longer], claims, snapshot: await store.open().read() }));
      const wider = poolOf("s", "10.4.0.0/14", { blockLength: 20 });
      const more = [...claims, claimOf("Node/o/a pool=s")];
      await store.open().commit(plan({ pools: [wider], claims: more, snapshot: await store.open().read() }));
      expect(await lines(store)).toEqual([
        "10.4.0.0/22 Node/n/a pool=s",
        "10.4.4.0/24 Node/m/a pool=s",
        "10.4.16.0/20 Node/o/a pool=s",
      ]);
    });

    const line = (text: string) => lineOf(`${text} pool=s`);
    const bad: { what: string; change: (made: Plan) => Partial<Plan> }[] = [
      { what: "gives a part of a block that is held", change: () => ({ assign: [line("10.4.1.0/24 Node/m/a")] }) },
      { what: "gives one address of it", change: () => ({ assign: [line("10.4.3.255 Node/m/a")] }) },
      { what: "gives a block around it", change: () => ({ assign: [line("10.4.0.0/21 Node/m/a")] }) },
      {
        what: "gives two that overlap",
        change: () => ({ assign: [line("10.4.4.0/22 Node/m/a"), line("10.4.6.0/23 Node/o/a")] }),
      },
      {
        what: "frees it and gives a part of it to another owner (C4)",
        change: () => ({
          release: [{ allocation: line("10.4.0.0/22 Node/n/a"), to: "free" }],
          assign: [line("10.4.2.0/24 Node/m/a")],
        }),
      },
      {
        what: "frees a block of another length than it has",
        change: () => ({ release: [{ allocation: line("10.4.0.0/23 Node/n/a"), to: "free" }] }),
      },
      {
        what: "gives a block that reaches out of the pool's prefix",
        change: () => ({ assign: [line("10.0.0.0/13 Node/m/a")] }),
      },
    ];

    it.each(bad)("a plan that $what is refused, and nothing is written", async ({ change }) => {
      const store = make();
      await committed(store, ["Node/n/a pool=s"]);
      const made = await planned(store, ["Node/n/a pool=s"]);
      const stamp = await store.stamp();
      const refusal = expect.objectContaining({ name: "IpamError" });
      await expect(store.open().commit({ ...made, ...change(made) })).rejects.toEqual(refusal);
      expect(await store.stamp()).toBe(stamp);
      expect(duplicates(await store.open().read())).toEqual([]);
    });
  });
}
