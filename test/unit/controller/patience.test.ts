import { expect, it } from "vitest";
import { Patience } from "../../../controller/write/patience.ts";
import type { TendStep } from "../../../integrations/tending.ts";

const change = (uid: string, after?: number): TendStep => {
  const object = { metadata: { name: "same", uid } };
  return { verb: "change", object, fields: {}, ...(after !== undefined && { after }) };
};
/** What is due of these steps, by uid, and when to look again. */
const due = (patience: Patience, name: string, now: number, ...steps: readonly TendStep[]) => {
  const found = patience.due(name, steps, now);
  return [
    found.steps.map((step) => (step.verb === "change" ? (step.object.metadata as { uid: string }).uid : "")).join(),
    found.again,
  ];
};

it("a step is taken once it was right at each look for so long, whatever becomes of others", () => {
  const patience = new Patience();
  const [a, b] = [change("a", 1000), change("b", 400)];
  expect(due(patience, "n", 0, a, change("now"))).toEqual(["now", 1000]);
  // The first of them is looked at next.
  expect(due(patience, "n", 500, a, b)).toEqual(["", 400]);
  // Other names have their own steps.
  expect(due(patience, "other", 800, a)).toEqual(["", 1000]);
  expect(due(patience, "n", 899, a, b)).toEqual(["", 1]);
  expect(due(patience, "n", 900, a, b)).toEqual(["b", 100]);
  // One that was made again under the name of another one begins anew.
  expect(due(patience, "n", 1000, a, change("c", 1000))).toEqual(["a", 1000]);
  // So does one that was not right in between, also where nothing was.
  expect(due(patience, "n", 1100)).toEqual(["", undefined]);
  expect(due(patience, "n", 2000, a, change("c", 1000))).toEqual(["", 1000]);
  expect(due(patience, "n", 3000, a)).toEqual(["a", undefined]);
});
