import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Snapshot } from "../../core/allocation.ts";
import { applyPlan } from "../../state/apply.ts";
import { decode } from "../../state/codec.ts";
import { mergeRecords } from "../../state/merge.ts";
import { salvage } from "../../state/salvage.ts";
import { outcome, recordsOf, report, textsOf } from "../support/git/forks.ts";
import { type MergedText, mergeTexts } from "../support/git/merge.ts";
import { collides, isHalfRenamed, type Records, type Side, strayed, unkept, violations } from "../support/git/rules.ts";
import { type Fork, mergedNodes, movedMachines, planFor, randomForks } from "../support/state/branch.ts";
import { duplicates, holders, recordTexts } from "../support/state/record.ts";

// Random branches of random histories, merged by git, by the merge driver, and by `allocate` from what git left.
const long = process.env.NODEIPPOOL_LONG !== undefined;
const count = long ? 20_000 : 2_000;
const seed = Number(process.env.NODEIPPOOL_SEED ?? (long ? Date.now() : 20_250_101));
const styles = ["merge", "diff3", "zdiff3"];

interface Case {
  readonly fork: Fork;
  readonly records: Records;
  readonly merged: MergedText;
}

const cases: Case[] = [];
const counts = { clean: 0, conflicts: 0, refused: 0, duplicates: 0 };

beforeAll(async () => {
  const forks = await randomForks(count, seed);
  const ofStyle = (style: number) => forks.filter((_, n) => n % styles.length === style);
  for (const [i, style] of styles.entries()) {
    const records = ofStyle(i).map(recordsOf);
    const merged = mergeTexts(
      records.map((three) => textsOf(three)),
      style,
    );
    cases.push(
      ...ofStyle(i).map((fork, n) => ({ fork, records: records[n] as Records, merged: merged[n] as MergedText })),
    );
  }
}, 600_000);

afterAll(() => {
  const { clean, conflicts, refused } = counts;
  console.log(
    `git: ${count} merges (seed ${seed}), ${clean} clean, ${conflicts} conflicts, ${refused} refused, ${counts.duplicates} silent duplicates`,
  );
});

/** What is wrong in which case. */
function failing(what: (one: Case) => readonly string[]): string {
  return report(cases.map((one) => ({ records: one.records, what: what(one) })).filter((one) => one.what.length > 0));
}

describe("git alone", () => {
  it("never makes a readable record with a duplicate: a conflict, a refused text, or a sound record", () => {
    const broken = failing(({ merged }) => {
      const read = outcome(() => decode(merged.text, "nodeippool.lock"));
      if (!merged.clean) {
        counts.conflicts++;
        return read.value === undefined ? [] : ["conflict markers were read as a record"];
      }
      if (read.value === undefined) {
        counts.refused++;
        return read.code === "corrupt" ? [] : [`refused with ${read.code}`];
      }
      counts.clean++;
      const twice = duplicates(read.value);
      counts.duplicates += twice.length;
      return twice;
    });
    expect(broken).toBe("none");
    expect(counts.clean, "clean merges tried").toBeGreaterThan(count / 20);
    expect(counts.conflicts, "conflicts tried").toBeGreaterThan(count / 10);
    expect(counts.refused, "refused texts tried").toBeGreaterThan(0);
  });

  it("never moves a line from live to releasing or back where neither branch did", () => {
    const broken = failing(({ merged, records }) => {
      const { value } = outcome(() => decode(merged.text, "nodeippool.lock"));
      return value === undefined ? [] : strayed(records, value);
    });
    expect(broken).toBe("none");
  });

  it("never leaves a readable record where the driver says conflict", () => {
    const broken = failing(({ merged, records: { base, ours, theirs } }) => {
      const { code } = outcome(() => mergeRecords(base, ours, theirs));
      const { value } = outcome(() => decode(merged.text, "nodeippool.lock"));
      return code === "conflict" && value !== undefined ? recordTexts(value) : [];
    });
    expect(broken).toBe("none");
  });
});

describe("mergeRecords", () => {
  it("without --landed is a conflict only where one address or one claim was given twice; else nobody loses", () => {
    let conflicts = 0;
    const broken = failing(({ records }) => {
      const { value, code } = outcome(() => mergeRecords(records.base, records.ours, records.theirs));
      if (code === "conflict") conflicts++;
      if (value === undefined) return collides(records) ? [] : [`expected a merge, got ${code}`];
      return violations(records, value);
    });
    expect(broken).toBe("none");
    expect(conflicts, "conflicts tried").toBeGreaterThan(count / 20);
  });

  it.each(["ours", "theirs"] as const)("with %s landed keeps its lines, and names every loser", (landed) => {
    let [losers, refused] = [0, 0];
    const broken = failing(({ records }) => {
      const { value, code } = mergeLanded(records, landed);
      if (isHalfRenamed(records)) refused++;
      if (isHalfRenamed(records)) return code === "conflict" ? [] : ["one side was taken for both"];
      if (value === undefined) return [`it threw ${code}`];
      losers += value.losers.length;
      return violations(records, value, landed);
    });
    expect(broken).toBe("none");
    expect(losers, "losers tried").toBeGreaterThan(count / 10);
    expect(refused, "refused").toBeGreaterThan(count / 100);
  });

  it.each([undefined, "ours", "theirs"] as const)(
    "gives the same when the branches change places (landed: %s)",
    (side) => {
      const broken = failing(({ records }) => {
        const turned = { base: records.base, ours: records.theirs, theirs: records.ours };
        const turnedSide = side && ({ ours: "theirs", theirs: "ours" } as const)[side];
        const [one, other] = [mergeLanded(records, side), mergeLanded(turned, turnedSide)].map((merge) =>
          merge.value === undefined
            ? [`${merge.code}`]
            : [...recordTexts(merge.value.snapshot), ...merge.value.losers.map(({ line }) => `loser ${line.claim}`)],
        );
        return JSON.stringify(one) === JSON.stringify(other) ? [] : [`${one}`, `${other}`];
      });
      expect(broken).toBe("none");
    },
  );
});

function mergeLanded({ base, ours, theirs }: Records, landed: Side | undefined) {
  return outcome(() => mergeRecords(base, ours, theirs, landed && { base, ours, theirs }[landed]));
}

describe("allocate after a merge", () => {
  it.each([undefined, "ours", "theirs"] as const)(
    "moves no machine, whatever it is called by now (landed: %s)",
    (landed) => {
      const tried = { allocated: 0, refused: 0 };
      const broken = failing(({ fork, records }) => {
        const { value } = mergeLanded(records, landed);
        if (value === undefined) return [];
        const nodes = mergedNodes(fork);
        const made = planFor(nodes, value.snapshot);
        if (made.pending.length > 0) {
          tried.refused++;
          return [];
        }
        tried.allocated++;
        return movedMachines(fork, { nodes, record: applyPlan(value.snapshot, made) ?? value.snapshot }, landed);
      });
      expect(broken).toBe("none");
      expect(tried.allocated, "allocated").toBeGreaterThan(count / 4);
      console.log(`after a merge (landed: ${landed}): ${tried.allocated} allocated, ${tried.refused} refused`);
    },
  );

  it.each(["ours", "theirs"] as const)("plans on: nodes of the landed side (%s) stay where they are", (landed) => {
    const broken = failing(({ fork, records }) => {
      const { value } = mergeLanded(records, landed);
      if (value === undefined) return [];
      const after = applyPlan(value.snapshot, planFor(mergedNodes(fork), value.snapshot)) ?? value.snapshot;
      const before = holders(value.snapshot);
      const moved = [...holders(after)].filter(([claim, address]) => (before.get(claim) ?? address) !== address);
      return [...duplicates(after), ...moved.map(([claim]) => `${claim} moved`)];
    });
    expect(broken).toBe("none");
  });

  it.each(["ours", "theirs"] as const)(
    "salvages a text without its versions: lines of the landed side (%s) stay",
    (landed) => {
      let tried = 0;
      const broken = failing(({ merged, records }) => {
        if (outcome(() => decode(merged.text, "nodeippool.lock")).value !== undefined) return [];
        tried++;
        const { value, code } = outcome(() => salvage(merged.text, "nodeippool.lock", records[landed]));
        if (value === undefined) return isHeadless(merged.text, records[landed]) ? [] : [`it threw ${code}`];
        return [...duplicates(value.snapshot), ...unkept(records, landed, value.snapshot)];
      });
      expect(broken).toBe("none");
      expect(tried, "broken texts tried").toBeGreaterThan(count / 10);
    },
  );
});

/** Does it have lines of a pool that it says nothing about, and the landed side neither? Then nobody can place them. */
function isHeadless(text: string, landed: Snapshot): boolean {
  const heads = new Set([...text.matchAll(/^- \{"pool":"(\w+)"/gm)].map(([, pool]) => pool));
  for (const { name } of landed.pools) heads.add(name);
  return [...text.matchAll(/^- \{"address":"[^"]+","pool":"(\w+)"/gm)].some(([, pool]) => !heads.has(pool));
}
