import { describe, expect, it } from "vitest";
import { type Plan, plan } from "../../core/plan/plan.ts";
import { planRelease } from "../../core/plan/release.ts";
import { claimOf, lineOf, poolOf, spelt } from "../support/core/text.ts";
import { duplicates } from "../support/state/record.ts";
import { committed, planned, type Store } from "./store.ts";

const line = (text: string) => lineOf(spelt(text));

// Plans that `plan()` never makes, but a caller, a damaged offer or another writer's pool might.
const bad: { what: string; make: (store: Store) => Promise<Plan> }[] = [
  {
    what: "frees an address and gives it to another owner (C4)",
    make: async (store) => ({
      ...(await planned(store, ["Node/n/a"])),
      release: [{ allocation: line(".1 Node/n/a"), to: "free" }],
      assign: [line(".1 Node/m/a")],
    }),
  },
  {
    what: "gives a releasing address to another owner (C4)",
    make: async (store) => ({
      ...(await planned(store, ["Node/n/a"])),
      release: [{ allocation: line(".1 Node/n/a"), to: "releasing" }],
      assign: [line(".1 Node/m/a")],
    }),
  },
  {
    what: "frees what an earlier owner of an address had",
    make: async (store) => planRelease(await store.open().read(), [line(".1 Node/m/a")]),
  },
  {
    what: "renews a line that is not as it was",
    make: async (store) => ({
      ...(await planned(store, ["Node/n/a"])),
      keep: [{ allocation: line(".1 Node/n/a if=eth2"), was: line(".1 Node/n/a if=eth1") }],
    }),
  },
  {
    what: "gives away an address that is held",
    make: async (store) => ({ ...(await planned(store, ["Node/n/a"])), assign: [line(".1 Node/m/a")] }),
  },
  {
    what: "gives one address away twice",
    make: async (store) => ({
      ...(await planned(store, ["Node/n/a"])),
      assign: [line(".2 Node/m/a"), line(".2 Node/o/a")],
    }),
  },
  {
    what: "gives a claim a second address",
    make: async (store) => ({ ...(await planned(store, ["Node/n/a"])), assign: [line(".2 Node/n/a")] }),
  },
  {
    what: "renames a claim to one that has an address",
    make: async (store) => {
      await committed(store, ["Node/n/a", "Node/m/a"]);
      const [n, m] = [line(".1 Node/n/a"), line(".2 Node/m/a")];
      return {
        ...(await planned(store, ["Node/n/a", "Node/m/a"])),
        keep: [{ allocation: { ...n, claim: m.claim }, was: n }],
      };
    },
  },
  {
    what: "gives an address outside the pool's prefix",
    make: async (store) => ({ ...(await planned(store, ["Node/n/a"])), assign: [line("10.9.9.9 Node/m/a")] }),
  },
  {
    what: "assigns in a pool that it does not name",
    make: async (store) => ({
      ...(await planned(store, ["Node/n/a"])),
      pools: [],
      assign: [line("2001:db8::1 Node/n/a pool=q")],
    }),
  },
  {
    what: "claims under a key that no record can hold",
    make: async (store) => ({ ...(await planned(store, ["Node/n/a"])), assign: [line(".2 Node/m/")] }),
  },
  {
    what: "names a pool as no record can hold it",
    make: async (store) => ({
      ...(await planned(store, ["Node/n/a"])),
      pools: [poolOf("P", "10.1.0.0/24")],
      assign: [line("10.1.0.1 Node/n/a pool=P")],
    }),
  },
  {
    what: "is for a set that no record can hold",
    make: async (store) => ({
      ...(await planned(store, ["Node/n/a"])),
      assign: [{ ...line(".2 Node/m/a"), set: "" }],
    }),
  },
  {
    what: "gives an address that a pool of the same network, unknown to this plan, got meanwhile",
    make: async (store) => {
      const other = { pools: [poolOf("other", "10.0.0.0/24 10.0.0.5 10.0.0.6")], set: "other" };
      const snapshot = await store.open().read();
      const mine = plan({ ...other, claims: [claimOf("Node/x/a pool=other")], snapshot });
      await committed(store, ["Node/n/a", "Node/y/a wanted=.5"]);
      return mine;
    },
  },
];

/** Whatever plan is committed, what is stored can be read again and holds no duplicate. */
export function refusesBadPlans(name: string, make: () => Store): void {
  describe(`${name}: refuses a plan, and writes nothing, that`, () => {
    it.each(bad)("$what", async ({ make: makePlan }) => {
      const store = make();
      await committed(store, ["Node/n/a"]);
      const made = await makePlan(store);
      const stamp = await store.stamp();
      await expect(store.open().commit(made)).rejects.toEqual(expect.objectContaining({ name: "IpamError" }));
      expect(await store.stamp()).toBe(stamp);
      expect(duplicates(await store.open().read())).toEqual([]);
    });
  });
}
