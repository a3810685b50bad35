import fc from "fast-check";
import { expect, it } from "vitest";
import { formatAddress } from "../../core/address.ts";
import type { Allocation, Snapshot } from "../../core/allocation.ts";
import { IpamError } from "../../core/errors.ts";
import { type Plan, plan } from "../../core/plan/plan.ts";
import { planRelease } from "../../core/plan/release.ts";
import type { StateBackend } from "../../state/backend.ts";
import { claimOf, textOf } from "../support/core/text.ts";
import { tries } from "../support/long.ts";
import { duplicates, holders, places, standingText } from "../support/state/record.ts";
import { pools, type Store } from "./store.ts";

// Two or three planners, each `read`, `plan`, wait, `commit`, on one record, in any order that can be.

const nameArb = fc.constantFrom("n1", "n2", "n3", "n4", "n5");
const claimArb = fc
  .tuple(nameArb, fc.constantFrom("p", "p", "q", "r", "s"), fc.constantFrom("", " if=eth1"))
  .map(([name, pool, nic]) => `Node/${name}/a pool=${pool}${nic}`);
/** What a planner wants next: all claims of its set, or some releasing lines freed. */
const wishArb = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      claims: fc.uniqueArray(claimArb, { maxLength: 6, selector: (text) => text.split(" if=")[0] }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ free: fc.nat({ max: 0xff }) }) },
);
const plannerArb = fc.record({
  set: fc.constantFrom("a", "a", "b"),
  wishes: fc.array(wishArb, { minLength: 1, maxLength: 4 }),
});
const turnArb = fc.record({ who: fc.nat({ max: 2 }), again: fc.constantFrom(false, false, false, true) });
const historyArb = fc.record({
  planners: fc.array(plannerArb, { minLength: 2, maxLength: 3 }),
  turns: fc.array(turnArb, { minLength: 4, maxLength: 24 }),
});

class Planner {
  private readonly backend: StateBackend;
  private readonly set: string;
  private readonly wishes: (typeof wishArb extends fc.Arbitrary<infer T> ? T : never)[];
  private made: Plan | undefined;
  private last: Plan | undefined;

  constructor(store: Store, { set, wishes }: typeof plannerArb extends fc.Arbitrary<infer T> ? T : never) {
    this.backend = store.open();
    this.set = set;
    this.wishes = [...wishes];
  }

  /** Reads and plans, or commits what was planned; `again` repeats the commit before. */
  async turn(again: boolean): Promise<Plan | undefined> {
    if (again) return this.last;
    if (this.made === undefined) {
      const wish = this.wishes.shift();
      if (wish === undefined) return undefined;
      const snapshot = await this.backend.read();
      this.made =
        "free" in wish
          ? planRelease(
              snapshot,
              snapshot.releasing.filter((_, i) => (wish.free >> i) & 1),
            )
          : plan({ pools, claims: wish.claims.map(claimOf), snapshot, set: this.set });
      return undefined;
    }
    this.last = this.made;
    this.made = undefined;
    return this.last;
  }
}

/** Lines that should stand, or should be gone, after a plan, and do not. */
function missing(made: Plan, after: Snapshot): { readonly pool: string; readonly text: string }[] {
  const now = places(after);
  const here = (line: Allocation) => now.get(`${line.pool} ${formatAddress(line.address)}`);
  const stands = (line: Allocation, releasing: boolean) =>
    standingText(here(line)) === standingText({ line, releasing });
  const absent = [
    ...made.assign.filter((line) => !stands(line, false)),
    ...made.keep.flatMap(({ allocation, was, releasing = false }) =>
      was && !stands(allocation, releasing) ? [allocation] : [],
    ),
    ...made.release.flatMap(({ allocation, to }) => {
      const isDone = to === "free" ? here(allocation)?.line.claim !== allocation.claim : stands(allocation, true);
      return isDone ? [] : [allocation];
    }),
  ];
  return absent.map((line) => ({ pool: line.pool, text: textOf(line) }));
}

/** The lines that a plan changes. */
function named(made: Plan): Allocation[] {
  const rewritten = made.keep.flatMap(({ allocation, was }) => (was ? [allocation] : []));
  return [...made.assign, ...rewritten, ...made.release.map(({ allocation }) => allocation)];
}

const touched = (made: Plan) => [...new Set(named(made).map((line) => line.pool))];

/** Lines that changed though the plan did not name them. */
function disturbed(made: Plan, before: Snapshot, after: Snapshot): string[] {
  const meant = new Set(named(made).map((line) => `${line.pool} ${formatAddress(line.address)}`));
  const now = places(after);
  return [...places(before)].flatMap(([place, standing]) =>
    meant.has(place) || standingText(now.get(place)) === standingText(standing)
      ? []
      : [`${standingText(standing)} became ${standingText(now.get(place))}`],
  );
}

export function planners(name: string, make: () => Store): void {
  it(`${name}: planners in any order never duplicate, lose or move a line, and conflict only where a pool moved`, async () => {
    const numRuns = tries(150, 5_000);
    let conflicts = 0;
    let commits = 0;
    await fc.assert(
      fc.asyncProperty(historyArb, async (history) => {
        const store = make();
        const all = history.planners.map((planner) => new Planner(store, planner));
        for (const { who, again } of history.turns) {
          const made = await all[who % all.length]?.turn(again);
          if (made === undefined) continue;
          const [before, stamp] = [await store.open().read(), await store.stamp()];
          const moved = new Set(touched(made).filter((pool) => before.base.get(pool) !== made.base.get(pool)));
          const undone = missing(made, before).filter(({ pool }) => moved.has(pool));
          try {
            const after = await store.open().commit(made);
            commits++;
            expect(undone, "done though its pool had moved").toEqual([]);
            expect(await store.open().read()).toEqual(after);
            expect(missing(made, after)).toEqual([]);
            expect(disturbed(made, before, after)).toEqual([]);
            expect(duplicates(after)).toEqual([]);
            for (const [claim, address] of holders(before))
              expect([undefined, address], claim).toContain(holders(after).get(claim));
            if (touched(made).every((pool) => moved.has(pool))) expect(await store.stamp()).toBe(stamp);
          } catch (error) {
            if (!(error instanceof IpamError)) throw error;
            conflicts++;
            expect(error.code).toBe("conflict");
            expect(undone.length, "a conflict, though no pool had moved").toBeGreaterThan(0);
            expect(await store.stamp()).toBe(stamp);
          }
        }
      }),
      { numRuns },
    );
    expect(Math.min(conflicts, commits)).toBeGreaterThan(numRuns / 10);
  });
}
