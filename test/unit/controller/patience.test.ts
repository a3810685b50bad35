import { expect, it } from "vitest";
import { Debounce } from "../../../controller/write/debounce.ts";
import type { Step } from "../../../integrations/contract/step.ts";

const change = (uid: string, after?: number): Step => {
  const object = { metadata: { name: "same", uid } };
  return { verb: "change", object, fields: {}, ...(after !== undefined && { after }) };
};
/** What is due of these steps, by uid, and when to look again. */
const due = (debounce: Debounce, name: string, now: number, ...steps: readonly Step[]) => {
  const found = debounce.due(name, steps, now);
  return [
    found.steps.map((step) => (step.verb === "change" ? (step.object.metadata as { uid: string }).uid : "")).join(),
    found.again,
  ];
};

it("a step is taken once it was right at each look for so long, whatever becomes of others", () => {
  const debounce = new Debounce();
  const [a, b] = [change("a", 1000), change("b", 400)];
  expect(due(debounce, "n", 0, a, change("now"))).toEqual(["now", 1000]);
  // The first of them is looked at next.
  expect(due(debounce, "n", 500, a, b)).toEqual(["", 400]);
  // Other names have their own steps.
  expect(due(debounce, "other", 800, a)).toEqual(["", 1000]);
  expect(due(debounce, "n", 899, a, b)).toEqual(["", 1]);
  expect(due(debounce, "n", 900, a, b)).toEqual(["b", 100]);
  // One that was made again under the name of another one begins anew.
  expect(due(debounce, "n", 1000, a, change("c", 1000))).toEqual(["a", 1000]);
  // So does one that was not right in between, also where nothing was.
  expect(due(debounce, "n", 1100)).toEqual(["", undefined]);
  expect(due(debounce, "n", 2000, a, change("c", 1000))).toEqual(["", 1000]);
  expect(due(debounce, "n", 3000, a)).toEqual(["a", undefined]);
});
