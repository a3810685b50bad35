import { describe, expect, it } from "vitest";
import { type PoolFacts, poolStatus } from "../../../controller/reconcile/pool-status.ts";
import type { Pending } from "../../../core/index.ts";
import { poolConflictsOf } from "../../../schema/pool-conflicts.ts";
import { lineOf, poolOf } from "../../support/core/text.ts";

const pool = poolOf("p", "10.0.0.0/24 10.0.0.1 10.0.0.9");
const facts: PoolFacts = {
  pool,
  problem: undefined,
  live: ["10.0.0.3 Node/a/x", "10.0.0.1 Node/b/x"].map(lineOf),
  releasing: [lineOf("10.0.0.2 Node/c/x")],
  pending: [],
  collisions: [],
  conflicts: new Map(),
};
const problem = (reason: string) => ({ problem: { reason, message: "why" } as PoolFacts["problem"] });
const pending = (code: string, ...nodes: string[]) => ({
  pending: nodes.map((node) => ({ claim: `Node/${node}/x`, pool: "p", code, message: "" }) as Pending),
});

const said = (text: string) => ({
  conflicts: poolConflictsOf({ metadata: { annotations: { "nodeippool.nmstate.io/conflicts": text } } }),
});

describe("poolStatus", () => {
  it.each<[string, Partial<PoolFacts>, string, RegExp]>([
    ["as it should be", {}, "True ReconciledPool True False False", /up to date/],
    ["cannot be read", { ...problem("InvalidSpec"), pool: undefined }, "False InvalidSpec False False True", /^why$/],
    [
      "is being deleted",
      problem("Terminating"),
      "False Terminating False True False",
      /^why It is in use by 2: a, b\./,
    ],
    ["overlaps", problem("OverlappingIPPool"), "False OverlappingIPPool False False True", /^why$/],
    ["is not as recorded", problem("UnsynchronizedIPPool"), "False UnsynchronizedIPPool False False True", /^why$/],
    ["is being reset", { rebuilding: "being rebuilt" }, "Unknown ReconcilingPool False True False", /rebuilt/],
    ["collides", { collisions: ["c1", "c2", "c3", "c4"] }, "False IPCollision False False True", /^c1 c2 c3$/],
    [
      "has addresses that others have, and that nobody has here",
      said("10.0.0.4 m4, 10.0.0.6, 10.0.0.5, 10.0.0.7, 10.0.0.3 m3, 10.0.0.99"),
      "False IPCollision False False True",
      /^Other hosts answer for 10.0.0.4 \(MAC address m4\), 10.0.0.5 \(MAC address unknown\), 10.0.0.6 .* and 1 more, so /,
    ],
    ["says that of addresses that it does not give", said("10.0.0.99"), "True ReconciledPool True False False", /up/],
    [
      "is full",
      pending("exhausted", "n1", "n2", "n3", "n4"),
      "False ExhaustedIPPool False False True",
      /exhausted: 4 more needed, for n1, n2, n3 and 1 more\./,
    ],
    [
      "refuses what somebody asks for",
      pending("out-of-range", "n1"),
      "True ReconciledPool True False False",
      /up to date/,
    ],
    [
      "has for another one what somebody wants",
      pending("in-use", "n1"),
      "True ReconciledPool True False False",
      /up to date/,
    ],
    ["gives no more what somebody holds", pending("in-use", "a"), "False UnsynchronizedIPPool False False True", /^$/],
    [
      "first a problem, then a reset",
      { ...problem("InvalidSpec"), rebuilding: "being rebuilt" },
      "False InvalidSpec False False True",
      /why/,
    ],
    [
      "first a collision, then room",
      { collisions: ["c"], ...pending("exhausted", "n") },
      "False IPCollision False False True",
      /^c$/,
    ],
  ])("%s", (_, change, expected, message) => {
    const { conditions } = poolStatus({ ...facts, ...change });
    const [available, ...flags] = conditions;
    expect(conditions.map(({ type }) => type)).toEqual(["Available", "Ready", "Reconciling", "Stalled"]);
    expect([available?.status, available?.reason, ...flags.map(({ status }) => status)].join(" ")).toBe(expected);
    for (const one of conditions) expect(one.message).toMatch(message);
  });

  it("counts, and says nothing of a pool that cannot be read", () => {
    const counts = { capacity: "9", allocated: 2, releasing: 1, free: "6" };
    expect(poolStatus(facts).fields).toEqual({ ...counts, "allocated-offsets": [0, 2] });
    expect(poolStatus({ ...facts, ...said("10.0.0.3, 10.0.0.4, 10.0.0.99") }).fields.free).toBe("5");
    expect(poolStatus({ ...facts, pool: undefined, ...problem("InvalidSpec") }).fields).toEqual({});
  });

  it("shows a thousand offsets", () => {
    const wide = poolOf("p", "10.0.0.0/16");
    const live = Array.from({ length: 1100 }, (_, i) =>
      lineOf(`10.0.${100 + Math.floor(i / 200)}.${(i % 200) + 1} Node/n${i}/x`),
    );
    const { fields } = poolStatus({ ...facts, pool: wide, live });
    expect([fields.allocated, (fields["allocated-offsets"] as unknown[]).length]).toEqual([1100, 1000]);
  });
});
