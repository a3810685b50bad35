import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Allocation, identityOf, type Snapshot } from "../../../core/allocation.ts";
import { isNoop, plan } from "../../../core/plan/plan.ts";
import type { TakeOver } from "../../../core/plan/take-over.ts";
import { applyPlan } from "../../../state/apply.ts";
import { historyArb, type Visit, walk } from "../../support/core-history.ts";
import { tableOf } from "../../support/core-table.ts";
import { claimOf, poolOf, recordOf, spelt, textOf } from "../../support/core-text.ts";

const pools = [poolOf("p", "10.0.0.0/29"), poolOf("q", "10.0.1.0/29")];

/** The lines of a record, as `recordOf` reads them. */
function linesOf({ allocations, releasing }: Snapshot): string[] {
  return [...allocations.map(textOf), ...releasing.map((line) => `${textOf(line)} releasing`)].sort();
}

// A set takes over what set a has of pool p.
const table = tableOf(`
record                                                | claims               | with | after
------------------------------------------------------+----------------------+------+---------------------------------------------
.5 Node/n/x set=a                                     | Node/n/x             |      | .5 Node/n/x
.5 Node/n/x set=a releasing                           | Node/n/x             |      | .5 Node/n/x
.5 Node/n/x set=a                                     | Node/m/x ; Node/n/x  |      | .1 Node/m/x ; .5 Node/n/x
.5 Node/n/x set=a                                     |                      |      | .5 Node/n/x releasing
.5 Node/n/x set=a releasing                           |                      |      | .5 Node/n/x releasing
.1 Node/n/x set=a ; .2 Node/m/x set=a releasing       | Node/o/x             |      | .1 Node/n/x releasing ; .2 Node/m/x releasing ; .3 Node/o/x
.5 Node/n/x set=a if=eth1                             | Node/n/x if=eth2     |      | .5 Node/n/x if=eth2
.5 Node/n/x set=a                                     | Node/n/x wanted=.6   | move | .5 Node/n/x releasing ; .6 Node/n/x
.1 Node/n/x set=a ; .2 Node/m/x                       | Node/n/x ; Node/m/x  |      | .1 Node/n/x ; .2 Node/m/x

# what is not taken is somebody else's
.5 Node/n/x set=b                                     |                      |      | .5 Node/n/x set=b
10.0.1.5 Node/n/x pool=q set=a                        |                      |      | 10.0.1.5 Node/n/x pool=q set=a
`);

const takes = [{ pool: "p", set: "a" }];

describe("a set that takes over a pool from another one", () => {
  it.each(table.map((row) => [row.title, row] as const))("%s", (_, { cell }) => {
    const snapshot = recordOf(cell("record").map(spelt), pools);
    const claims = cell("claims").map((text) => claimOf(spelt(text)));
    const input = { pools, claims, takes, allowMove: cell("with").includes("move") };
    const after = applyPlan(snapshot, plan({ ...input, snapshot })) ?? snapshot;
    expect(linesOf(after)).toEqual(cell("after").map(spelt));
    expect(isNoop(plan({ ...input, snapshot: after }))).toBe(true);
  });

  const taker = (line: Allocation) => ({ ...line, set: "taker" });

  it("comes to what the other set would have come to, under its own name", () => {
    everyPlan(({ input, before, made }, set, takes) => {
      const after = applyPlan(before, made) ?? before;
      const ours = (lines: readonly Allocation[]) => lines.map((line) => (line.set === set ? taker(line) : line));
      const taken = applyPlan(before, plan({ ...input, set: "taker", takes })) ?? before;
      const { allocations, releasing } = after;
      expect(linesOf(taken)).toEqual(linesOf({ ...after, allocations: ours(allocations), releasing: ours(releasing) }));
    });
  });

  it("moves nobody where the other set has given all up before", () => {
    everyPlan(({ input, before, made }, set, takes) => {
      const left = applyPlan(before, plan({ pools: [], claims: [], snapshot: before, set })) ?? before;
      const taken = applyPlan(left, plan({ ...input, set: "taker", takes, snapshot: left })) ?? left;
      const all = [...before.allocations, ...before.releasing].map(identityOf);
      const once = made.keep.filter(
        ({ allocation }) => all.filter((one) => one === identityOf(allocation)).length === 1,
      );
      const held = once.filter(({ allocation }) => before.allocations.includes(allocation));
      expect(linesOf(taken)).toEqual(expect.arrayContaining(held.map(({ allocation }) => textOf(taker(allocation)))));
    });
  });
});

/** Shows each plan of many histories that leaves nothing open, with what another set has to take over to make it. */
function everyPlan(check: (visit: Visit, set: string, takes: readonly TakeOver[]) => void): void {
  fc.assert(
    fc.property(historyArb({ handOver: false }), (history) => {
      walk(history, (visit) => {
        const { set = "default", pools } = visit.input;
        const takes = pools.map(({ name }) => ({ pool: name, set }));
        if (visit.made.pending.length === 0) check(visit, set, takes);
      });
    }),
  );
}
