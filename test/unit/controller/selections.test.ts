import { expect, it } from "vitest";
import { Selections } from "../../../controller/cache/selections.ts";

function begin() {
  const there = new Set<string>();
  const told: string[] = [];
  const selections = new Selections(2, {
    replace: (all) => {
      told.push("replace");
      there.clear();
      for (const { metadata } of all) there.add(metadata.name);
    },
    set: ({ metadata }) => void there.add(metadata.name),
    delete: (key) => void there.delete(key.replace("Pod/", "")),
  });
  const pods = (...names: string[]) =>
    names.map((name) => ({ apiVersion: "v1", kind: "Pod", metadata: { name, uid: name, resourceVersion: "1" } }));
  return { selections, pods, told, now: () => [...there].sort() };
}

it("what is not listed by one watch yet is not gone", () => {
  const { selections, pods, told, now } = begin();
  selections.replace(0, pods("a", "both"));
  expect(told).toEqual([]);
  selections.replace(1, pods("b", "both"));
  expect(now()).toEqual(["a", "b", "both"]);
});

it("an object is there as long as one of the watches shows it", () => {
  const { selections, pods, now } = begin();
  selections.replace(0, pods("a", "both"));
  selections.replace(1, pods("b", "both"));
  selections.delete(0, "Pod/both");
  selections.delete(0, "Pod/a");
  expect(now()).toEqual(["b", "both"]);
  for (const pod of pods("c")) selections.set(0, pod);
  selections.replace(1, pods("b"));
  expect(now()).toEqual(["b", "c"]);
  selections.delete(1, "Pod/b");
  expect(now()).toEqual(["c"]);
});
