import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatOwner, ownerOfKey } from "../../../core/claim.ts";
import { isNoop, type Plan, plan } from "../../../core/plan/plan.ts";
import { apply } from "../../support/core/apply.ts";
import { historyArb, walk } from "../../support/core/history.ts";
import { claimOf, poolOf, recordOf, shown, textOf } from "../../support/core/text.ts";

const pool = poolOf("p", "10.0.0.0/24 10.0.0.1 10.0.0.4");
const record = ["10.0.0.1 Node/a/x", "10.0.0.2 Node/b/x", "10.0.0.3 Node/c/x releasing"];

describe("a plan for some owners", () => {
  const cases: { name: string; owners: string[]; claims: string[]; rest?: object; want: string[] }[] = [
    { name: "of nobody does nothing", owners: [], claims: ["Node/d/x"], want: [] },
    { name: "releases what they gave up alone", owners: ["Node/a"], claims: [], want: ["releasing 10.0.0.1 Node/a/x"] },
    {
      name: "passes over the claims of others",
      owners: ["Node/d"],
      claims: ["Node/d/x", "Node/e/x"],
      want: ["assign 10.0.0.4 Node/d/x"],
    },
    {
      name: "gives nothing that others hold",
      owners: ["Node/d"],
      claims: ["Node/d/x wanted=10.0.0.3"],
      want: ["in-use Node/d/x"],
    },
    {
      name: "keeps and restores",
      owners: ["Node/a", "Node/c"],
      claims: ["Node/a/x", "Node/c/x"],
      want: ["keep 10.0.0.1 Node/a/x", "keep 10.0.0.3 Node/c/x, was 10.0.0.3 Node/c/x"],
    },
    {
      name: "takes a line by a declared rename",
      owners: ["Node/d"],
      claims: ["Node/d/x"],
      rest: { moved: [{ from: "Node/b/x", to: "Node/d/x" }] },
      want: ["keep 10.0.0.2 Node/d/x, was 10.0.0.2 Node/b/x"],
    },
    {
      name: "leaves a line to the owner that a declared rename gives it to",
      owners: ["Node/b"],
      claims: ["Node/d/x"],
      rest: { moved: [{ from: "Node/b/x", to: "Node/d/x" }] },
      want: [],
    },
    {
      name: "moves only them, where moves are allowed",
      owners: ["Node/a"],
      claims: ["Node/a/x wanted=10.0.0.4", "Node/b/x wanted=10.0.0.1"],
      rest: { allowMove: true },
      want: ["assign 10.0.0.4 Node/a/x", "releasing 10.0.0.1 Node/a/x"],
    },
  ];
  it.each(cases)("$name", ({ owners, claims, rest = {}, want }) => {
    const input = { pools: [pool], claims: claims.map(claimOf), snapshot: recordOf(record, [pool]), ...rest };
    expect(shown(plan({ ...input, owners: new Set(owners) }))).toEqual(want.sort());
  });

  it("of all owners is the plan", () => {
    fc.assert(
      fc.property(historyArb({ handOver: false }), (history) => {
        walk(history, ({ before, input, made }) => {
          const lines = [...before.allocations, ...before.releasing].map((line) => ownerOfKey(line.claim));
          const owners = new Set([...lines, ...input.claims.map(({ owner }) => formatOwner(owner))]);
          expect(shown(plan({ ...input, owners }))).toEqual(shown(made));
        });
      }),
      { numRuns: 100 },
    );
  });

  it("one after the other, comes to the same as the whole plan, where nothing is pending and nobody is renamed", () => {
    let compared = 0;
    fc.assert(
      fc.property(historyArb({ handOver: false }), (history) => {
        walk(history, ({ before, input, made, after }) => {
          // What two owners want of each other, or leave to each other, depends on who comes first. So does what
          // Hashed gives: the name of the first new owner decides for all that come with it.
          const isChosen = input.claims.some(({ wanted }) => wanted !== undefined);
          const isReserved = input.pools.some(({ reservations }) => reservations.all.length > 0);
          const isHashed = input.pools.some(({ allocationOrder }) => allocationOrder === "Hashed");
          const isContended = made.assign.length > 1 && (isChosen || isReserved || isHashed);
          if (isContended || made.pending.length > 0 || input.moved?.length !== 0) return;
          compared++;
          const owners = [...before.allocations, ...before.releasing].map((line) => ownerOfKey(line.claim));
          const all = new Set([...owners, ...input.claims.map(({ owner }) => formatOwner(owner))]);
          const last = [...all].sort().reduce((snapshot, owner) => {
            const part: Plan = plan({ ...input, snapshot, owners: new Set([owner]) });
            return apply(part, snapshot);
          }, before);
          expect([last.allocations, last.releasing].map((list) => list.map(textOf))).toEqual(
            [after.allocations, after.releasing].map((list) => list.map(textOf)),
          );
          expect(isNoop(plan({ ...input, snapshot: last }))).toBe(true);
        });
      }),
      { numRuns: 500 },
    );
    expect(compared).toBeGreaterThan(30);
  });

  it("never releases, moves or rewrites what others have", () => {
    fc.assert(
      fc.property(historyArb({ handOver: false }), fc.nat(), (history, seed) => {
        walk(history, ({ before, input }) => {
          const named = [
            ...before.allocations.map(({ claim }) => ownerOfKey(claim)),
            ...input.claims.map((c) => formatOwner(c.owner)),
          ];
          const owner = named[seed % Math.max(named.length, 1)] ?? "Node/n1";
          const after = apply(plan({ ...input, moved: [], owners: new Set([owner]) }), before);
          const others = (list: typeof before.allocations) =>
            list.filter((line) => ownerOfKey(line.claim) !== owner).map(textOf);
          expect(others(after.allocations)).toEqual(others(before.allocations));
          expect(others(after.releasing)).toEqual(others(before.releasing));
        });
      }),
      { numRuns: 200 },
    );
  });
});
