import { afterAll, expect, it } from "vitest";
import { emptySnapshot, type Snapshot } from "../../core/allocation.ts";
import { plan } from "../../core/plan/plan.ts";
import { planRelease } from "../../core/plan/release.ts";
import type { AllocationOrder } from "../../core/pool-spec.ts";
import { applyPlan } from "../../state/apply.ts";
import { decode } from "../../state/codec.ts";
import { mergeRecords } from "../../state/merge.ts";
import { claimOf, poolOf } from "../support/core/text.ts";
import { outcome, textsOf } from "../support/git/forks.ts";
import { mergeTexts } from "../support/git/merge.ts";
import { Repository } from "../support/git/repository.ts";
import type { Records } from "../support/git/rules.ts";
import { tries } from "../support/long.ts";
import type { Branch, Fork } from "../support/state/branch.ts";
import { duplicates } from "../support/state/record.ts";

// Two branches, each with five new nodes, from one lock of a /24 that is half full: docs/lockfile.md has the figures.
const pairs = tries(50, 1000);
const half = 127;
const figures: string[] = [];

afterAll(() => {
  console.log(figures.join("\n"));
});

/** The same numbers in every run, from 0 up to `limit`. */
function random(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function allocated(before: Snapshot, allocationOrder: AllocationOrder, nodes: readonly string[]): Snapshot {
  const pools = [poolOf("p", "10.0.0.0/24", { allocationOrder })];
  const held = before.allocations.map(({ claim }) => claimOf(claim));
  const claims = [...held, ...nodes.map((node) => claimOf(`Node/${node}/storage/a`))];
  return applyPlan(before, plan({ pools, claims, snapshot: before })) ?? before;
}

let nodes = 1000;

/** New names as people give them: one after the other. */
function newNodes(count: number): string[] {
  return Array.from({ length: count }, () => `node${++nodes}`);
}

/** A lock in which nodes came in pull requests of one to eight, and left, until half of the pool is held. */
function halfFull(seed: number, order: AllocationOrder): Snapshot {
  const pick = random(seed);
  let record = emptySnapshot;
  for (let request = 0; request < 60; request++) {
    record = allocated(record, order, newNodes(1 + pick(8)));
    const leaving = new Set<number>();
    while (record.allocations.length - leaving.size > Math.min(half, 5 * request))
      leaving.add(pick(record.allocations.length));
    const gone = record.allocations.filter((_, i) => leaving.has(i));
    record = applyPlan(record, planRelease(record, gone)) ?? record;
  }
  return allocated(record, order, newNodes(half - record.allocations.length));
}

/** Pairs of branches with five new nodes each, on pools that were filled in one order, and are of another one now. */
function forksOf(filled: AllocationOrder, order: AllocationOrder, count: number): Records[] {
  const bases = Array.from({ length: Math.ceil(count / 50) }, (_, i) => halfFull(i + 1, filled));
  return Array.from({ length: count }, (_, i): Records => {
    const base = bases[i % bases.length] as Snapshot;
    return { base, ours: allocated(base, order, newNodes(5)), theirs: allocated(base, order, newNodes(5)) };
  });
}

/** How many pairs of a hundred merge, by git alone and by the merge driver. */
function merging(filled: AllocationOrder, order: AllocationOrder) {
  const forks = forksOf(filled, order, pairs);
  const merged = mergeTexts(forks.map((records) => textsOf(records)));
  const git = merged.filter(({ clean, text }) => {
    if (!clean) return false;
    const record = decode(text, "nodeippool.lock");
    expect(duplicates(record)).toEqual([]);
    expect(record.allocations).toHaveLength(half + 10);
    return true;
  });
  const driver = forks.filter(
    ({ base, ours, theirs }) => outcome(() => mergeRecords(base, ours, theirs)).value !== undefined,
  );
  const [byGit, byDriver] = [git, driver].map(({ length }) => (100 * length) / pairs) as [number, number];
  figures.push(`${filled} then ${order}: ${pairs} pairs, git merges ${byGit} %, the driver ${byDriver} %`);
  return { byGit, byDriver };
}

it.each(["Lowest", "Next"] as const)("two pull requests to a %s pool are always a conflict", (order) => {
  expect(merging(order, order)).toEqual({ byGit: 0, byDriver: 0 });
});

it("nine of ten to a Hashed pool are merged by git alone", () => {
  const { byGit, byDriver } = merging("Hashed", "Hashed");
  expect(byGit).toBeGreaterThan(80);
  expect(byDriver).toBeGreaterThanOrEqual(byGit);
});

it("of a pool that was filled as Lowest, and is Hashed now, the merge driver merges nine of ten", () => {
  expect(merging("Lowest", "Hashed").byDriver).toBeGreaterThan(80);
});

it("git merge does with branches of a repository what the figures say", () => {
  const forks = [...forksOf("Hashed", "Hashed", 6), ...forksOf("Lowest", "Lowest", 2)];
  const want = mergeTexts(forks.map((records) => textsOf(records))).map(({ clean }) => clean);
  const branch = (record: Snapshot, parent?: Branch): Branch => ({
    nodes: new Map(),
    record,
    ...(parent && { parent }),
  });
  const repository = new Repository(
    forks.map((records): Fork => {
      const base = branch(records.base);
      return { base, ours: branch(records.ours, base), theirs: branch(records.theirs, base) };
    }),
    { driver: false },
  );
  const merges = (i: number) =>
    repository.run(`git reset -q --hard && git checkout -q ours-${i} && git merge -q theirs-${i}`);
  expect(forks.map((_, i) => merges(i))).toEqual(want);
  repository.remove();
});
