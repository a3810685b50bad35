import { describe, expect, it } from "vitest";
import { Rollout } from "../../../controller/write/rollout.ts";
import type { RolloutHealth } from "../../../integrations/contract/made-objects.ts";
import { tableOf } from "../../support/core/table.ts";

const words: Readonly<Record<string, RolloutHealth>> = { a: "available", f: "failing", p: "progressing" };

describe("Rollout", () => {
  // `before`: how objects 1, 2, 3 fare; `start`: which one is to be changed.
  it.each(
    tableOf(`
      before | limit | start | may
             | 1     | 1     | yes
      a;a    | 1     | 1     | yes
      p      | 1     | 2     | no
      p      | 2     | 2     | yes
      p      | 1     | 1     | yes
      f      | 2     | 2     | no
      f      | 2     | 1     | yes
      f;f    | 3     | 1     | no
      f;p    | 3     | 3     | no
      f      | Infinity | 2  | yes
      f;p;f  | Infinity | 4  | yes
    `),
  )("$title", ({ cell }) => {
    const rollout = new Rollout();
    for (const [i, word] of cell("before").entries()) rollout.set(`${i + 1}`, words[word]);
    const limit = Number(cell("limit")[0]);
    expect(rollout.start(`${cell("start")[0]}`, limit)).toBe(cell("may")[0] === "yes");
  });

  it("calls who waits, as many as there is room for, in their order", () => {
    const rollout = new Rollout();
    expect(["1", "2", "3", "4"].map((key) => rollout.start(key, 1))).toEqual([true, false, false, false]);
    expect(rollout.next(1)).toEqual([]);
    rollout.set("1", "available");
    expect(rollout.next(1)).toEqual(["2"]);
    expect(rollout.next(2)).toEqual(["2", "3"]);
    rollout.leave("2");
    expect(rollout.next(2)).toEqual(["3", "4"]);
    rollout.set("1", "failing");
    expect(rollout.next(2)).toEqual([]);
    expect(rollout.next(Number.POSITIVE_INFINITY)).toEqual(["3", "4"]);
    rollout.set("1", undefined);
    expect(rollout.next(2)).toEqual(["3", "4"]);
  });
});
