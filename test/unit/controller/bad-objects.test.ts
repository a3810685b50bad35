import { describe, expect, it } from "vitest";
import { partition } from "../../../core/partition.ts";
import { tries } from "../../support/long.ts";
import type { BadObject } from "../../support/objects/bad-object.ts";
import { badIn, type History, historyOf, play, slower } from "../../support/sim/bad-history.ts";
import { everyFlag } from "../../support/sim/every-system.ts";

const first = Number(process.env.SEED ?? 1);
const count = Number(process.env.COUNT ?? tries(3, 1000));

/** What is wrong beside bad objects: who waits, or waits longer, and what is not told. */
async function wrongIn(history: History): Promise<readonly string[]> {
  const [without, beside] = [await play({ ...history, bad: [] }), await play(history)];
  return [...without.wrong, ...beside.wrong, ...slower(history, beside, without)];
}

function beside(bad: readonly BadObject[]): History {
  return { flags: everyFlag, pauses: [1000, 1000, 1000], bad, at: 1, after: 500, isMended: true };
}

describe("bad objects: all others are served as if they were not there, and each says why it waits", () => {
  const all = badIn(everyFlag);
  const [needed, single] = partition(all, ({ stops }) => stops !== undefined);

  it.each([
    ["of every kind at once", single],
    ["that others need", needed],
  ])("%s", async (_, some) => {
    expect(await wrongIn(beside(some))).toEqual([]);
  });

  it.each(tries([], all).map((one) => [one.what, one] as const))("%s", async (_, one) => {
    expect(await wrongIn(beside([one]))).toEqual([]);
  });

  it("of some kinds, at any moment, with any flags", { timeout: 20_000 + count * 3000 }, async () => {
    for (let seed = first; seed < first + count; seed++) {
      const history = historyOf(seed);
      const wrong = await wrongIn(history).catch((error) => [`${error.stack}`]);
      expect(wrong, `seed ${seed}: ${history.bad.map(({ what }) => what).join(", ")}`).toEqual([]);
    }
  });
});
