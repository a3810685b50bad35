import { describe, expect, it } from "vitest";
import type { Plan } from "../../core/plan/plan.ts";
import { planRelease } from "../../core/plan/release.ts";
import { planRename } from "../../core/plan/rename.ts";
import { committed, freed, lines, planned, type Store } from "./store.ts";

/** A commit whose outcome was unknown, made again. */
export function repeats(name: string, make: () => Store): void {
  describe(`${name}: C3, a commit again`, () => {
    const plans: { what: string; plan: (store: Store) => Promise<Plan> }[] = [
      { what: "that assigned", plan: (store) => planned(store, ["Node/n/a", "Node/o/a", "Node/o/a pool=q"]) },
      { what: "that released", plan: (store) => planned(store, []) },
      { what: "that rewrote a line", plan: (store) => planned(store, ["Node/n/a if=eth1"]) },
      { what: "that renamed", plan: async (store) => planRename(await store.open().read(), "Node/n", "Node/m") },
      {
        what: "that moved",
        plan: (store) => planned(store, ["Node/n/a wanted=.5"], { allowMove: true }),
      },
      {
        what: "that freed",
        plan: async (store) => {
          const snapshot = await store.open().read();
          return planRelease(snapshot, snapshot.allocations);
        },
      },
    ];
    it.each(plans)("$what succeeds without a write, also after others changed other lines", async ({ plan: make1 }) => {
      const store = make();
      await committed(store, ["Node/n/a"]);
      const made = await make1(store);
      const after = await store.open().commit(made);
      const stamp = await store.stamp();
      expect(await store.open().commit(made)).toEqual(after);
      expect(await store.stamp()).toBe(stamp);

      await committed(store, ["Node/x/a wanted=.9", "Node/x/a pool=q"], { set: "b" });
      const [now, later] = [await store.open().read(), await store.stamp()];
      expect(await store.open().commit(made)).toEqual(now);
      expect(await store.stamp()).toBe(later);
    });

    it.each(plans)("$what is a conflict once a part of it was undone", async ({ plan: make1 }) => {
      const store = make();
      await committed(store, ["Node/n/a"]);
      const made = await make1(store);
      await store.open().commit(made);
      await committed(store, ["Node/n/a", "Node/y/a"], { allowMove: true });
      await freed(store);
      const stamp = await store.stamp();
      await expect(store.open().commit(made)).rejects.toEqual(
        expect.objectContaining({ name: "IpamError", code: "conflict" }),
      );
      expect(await store.stamp()).toBe(stamp);
    });

    it("that freed is a conflict if the claim came back meanwhile, on another NIC", async () => {
      const store = make();
      await committed(store, ["Node/n/a if=eth0"]);
      await committed(store, []);
      const snapshot = await store.open().read();
      const made = planRelease(snapshot, snapshot.releasing);
      await committed(store, ["Node/n/a if=eth1"]);
      await expect(store.open().commit(made)).rejects.toEqual(
        expect.objectContaining({ name: "IpamError", code: "conflict" }),
      );
    });

    it("that went through in one pool alone is completed (C2)", async () => {
      const store = make();
      const all = await planned(store, ["Node/n/a", "Node/n/a pool=q", "Node/n/a pool=r"]);
      await store.open().commit({ ...all, assign: all.assign.slice(0, 1) });
      await store.open().commit(all);
      expect(await lines(store)).toEqual([
        "10.0.0.1 Node/n/a",
        "10.0.0.1 Node/n/a pool=r",
        "2001:db8::1 Node/n/a pool=q",
      ]);
    });
  });
}
