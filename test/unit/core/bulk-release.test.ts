import { describe, expect, it } from "vitest";
import { bulkRelease } from "../../../core/plan/bulk-release.ts";
import { type PlanInput, plan } from "../../../core/plan/plan.ts";
import { claimOf, poolOf, recordOf } from "../../support/core-text.ts";

const pools = [poolOf("p", "10.0.0.0/24"), poolOf("q", "10.0.1.0/24")];
const names = (count: number, first = 1) => Array.from({ length: count }, (_, i) => `n${first + i}`);

/** What is said of a plan for these claims over lines, the n-th at 10.0.0.n. */
function said(held: readonly string[], claims: readonly string[], rest: Partial<PlanInput> = {}): string | undefined {
  const lines = held.map((line, i) => `10.0.0.${i + 1} ${line}`);
  const snapshot = recordOf(lines, pools);
  return bulkRelease(plan({ pools, claims: claims.map(claimOf), snapshot, ...rest }), snapshot)?.issues[0]?.message;
}

const nodes = (count: number, first = 1) => names(count, first).map((name) => `Node/${name}/nic/a`);
const stopped = (released: number, held: number, set = "default") =>
  `this plan releases ${released} of ${held} addresses of set ${set}: wrong node list or selector?`;

describe("a plan that releases much of its set", () => {
  it.each([
    [3, 3, false],
    [3, 10, false],
    [4, 4, true],
    [4, 19, true],
    [4, 20, false],
    [5, 24, true],
    [26, 78, true],
    [63, 78, true],
  ])("%i of %i: stops %s", (released, held, stops) => {
    expect(said(nodes(held), nodes(held - released))).toBe(stops ? stopped(released, held) : undefined);
  });

  it("counts what is live in its own set alone", () => {
    const others = nodes(40, 50).map((line) => `${line} set=other`);
    expect(said([...nodes(8), ...others], nodes(4))).toBe(stopped(4, 8));
    expect(said([...nodes(8).map((line) => `${line} releasing`), ...nodes(20, 20)], nodes(20, 20))).toBeUndefined();
    const imported = names(20, 50).map((name) => `Node/${name}/imported/x set=imported`);
    expect(said([...nodes(8), ...imported], nodes(4))).toBe(stopped(4, 8));
  });

  it("also where others come in place of all, or the same owners go to another pool", () => {
    expect(said(nodes(5), nodes(5, 20))).toBe(stopped(5, 5));
    expect(
      said(
        nodes(5),
        nodes(5).map((key) => `${key} pool=q`),
      ),
    ).toBe(stopped(5, 5));
  });

  it("but not for renames, nor for moves inside of a pool that are allowed", () => {
    const moved = nodes(5).map((from, i) => ({ from, to: `Node/k${i + 1}/nic/a` }));
    expect(
      said(
        nodes(5),
        moved.map(({ to }) => to),
        { moved },
      ),
    ).toBeUndefined();
    const wanting = nodes(5).map((key, i) => `${key} wanted=10.0.0.${i + 100}`);
    expect(said(nodes(5), wanting, { allowMove: true })).toBeUndefined();
  });
});
