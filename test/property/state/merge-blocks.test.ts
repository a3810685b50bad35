import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loserLine } from "../../../cli/merged-record.ts";
import type { Snapshot } from "../../../core/allocation.ts";
import { IpamError } from "../../../core/errors.ts";
import { plan } from "../../../core/plan/plan.ts";
import { applyPlan } from "../../../state/apply.ts";
import { encode, snapshotOf } from "../../../state/codec.ts";
import { mergeRecords } from "../../../state/merge.ts";
import { freed } from "../../support/core/apply.ts";
import { claimOf, poolOf, recordOf } from "../../support/core/text.ts";
import { tries } from "../../support/long.ts";
import { duplicates, recordTexts } from "../../support/state/record.ts";

const pool = (blockLength: number) => poolOf("p", "10.0.0.0/16", { blockLength });
const record = (lines: readonly string[]) => snapshotOf(recordOf(lines, [pool(22)]));

describe("two records of blocks", () => {
  it.each([
    {
      name: "that gave different blocks become one",
      ours: ["10.0.4.0/22 Node/n/a"],
      theirs: ["10.0.8.0/22 Node/m/a"],
      want: ["10.0.4.0/22 Node/n/a", "10.0.8.0/22 Node/m/a"],
    },
    {
      name: "of which the one in force gave a block: who has a part of it is planned anew",
      ours: ["10.0.4.0/22 Node/n/a"],
      theirs: ["10.0.5.0/24 Node/m/a", "10.0.7.9 Node/o/a", "10.0.8.0/24 Node/p/a"],
      want: ["10.0.4.0/22 Node/n/a", "10.0.8.0/24 Node/p/a"],
      losers: [
        "10.0.5.0/24  m  lost in the merge: n keeps 10.0.4.0/22",
        "10.0.7.9  o  lost in the merge: n keeps 10.0.4.0/22",
      ],
    },
    {
      name: "of which the one in force gave parts: who has a block around them is planned anew",
      ours: ["10.0.5.0/24 Node/m/a", "10.0.7.9 Node/o/a"],
      theirs: ["10.0.4.0/22 Node/n/a"],
      want: ["10.0.5.0/24 Node/m/a", "10.0.7.9 Node/o/a"],
      losers: ["10.0.4.0/22  n  lost in the merge: m keeps 10.0.5.0/24"],
    },
    {
      name: "of which the one in force gave a claim another block",
      ours: ["10.0.4.0/22 Node/n/a"],
      theirs: ["10.0.5.0/24 Node/n/a"],
      want: ["10.0.4.0/22 Node/n/a"],
      losers: ["10.0.5.0/24  n  lost in the merge: it keeps 10.0.4.0/22"],
    },
  ])("$name", ({ ours, theirs, want, losers = [] }) => {
    const base = record([]);
    const merged = mergeRecords(base, record(ours), record(theirs), record(ours));
    expect(recordTexts(merged.snapshot)).toEqual(want);
    expect(merged.losers.map(loserLine)).toEqual(losers.map((line) => `  ! ${line}`));
    if (losers.length === 0) return;
    expect(() => mergeRecords(base, record(ours), record(theirs))).toThrow(/which overlap/);
  });

  const nodesArb = fc.uniqueArray(fc.constantFrom("n1", "n2", "n3", "n4", "n5", "n6"), { maxLength: 5 });
  const stepArb = fc.record({
    nodes: nodesArb,
    length: fc.constantFrom(18, 19, 20, 22, 32),
    free: fc.nat({ max: 0xff }),
  });
  const branchArb = fc.array(stepArb, { minLength: 1, maxLength: 3 });

  it("never become one that holds an address twice, whichever is called ours", () => {
    let merges = 0;
    const numRuns = tries(300, 20_000);
    fc.assert(
      fc.property(branchArb, branchArb, branchArb, (before, left, right) => {
        const base = grown(record([]), before);
        const [ours, theirs] = [grown(base, left), grown(base, right)];
        for (const landed of [undefined, ours, theirs]) {
          const outcomes = [mergeOf(base, ours, theirs, landed), mergeOf(base, theirs, ours, landed)];
          expect(outcomes[1]).toEqual(outcomes[0]);
          if (outcomes[0] !== "conflict") merges++;
        }
      }),
      { numRuns },
    );
    expect(merges).toBeGreaterThan(numRuns / 10);
  });

  /** The merged lock, which holds nothing twice; or a refusal that says so. */
  function mergeOf(base: Snapshot, ours: Snapshot, theirs: Snapshot, landed?: Snapshot): string {
    try {
      const { snapshot } = mergeRecords(base, ours, theirs, landed);
      expect(duplicates(snapshot)).toEqual([]);
      return encode(snapshot);
    } catch (error) {
      if (!(error instanceof IpamError)) throw error;
      expect(error.code).toBe("conflict");
      return "conflict";
    }
  }

  function grown(
    from: ReturnType<typeof record>,
    steps: readonly (typeof stepArb extends fc.Arbitrary<infer T> ? T : never)[],
  ) {
    return steps.reduce((snapshot, { nodes, length, free }) => {
      const claims = nodes.map((node) => claimOf(`Node/${node}/a`));
      const made = plan({ pools: [pool(length)], claims, snapshot });
      const after = applyPlan(snapshot, made) ?? snapshot;
      return snapshotOf(freed(after, (_, i) => ((free >> i) & 1) === 1));
    }, from);
  }
});
