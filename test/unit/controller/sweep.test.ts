import { expect, it } from "vitest";
import { keep } from "../../../controller/cache/seen.ts";
import { World, type WorldKind } from "../../../controller/cache/world.ts";
import { sweep } from "../../../controller/run/sweep.ts";

/** A world that watches pods with a label. */
function worldOf(label: string, mayHaveAny: boolean) {
  const kind: WorldKind = {
    ...{ apiVersion: "v1", kind: "Pod", plural: "pods", where: { labels: label }, mayHaveAny },
    keep: () => ({}),
    concerns: () => ({ owners: ["all"], sources: [] }),
  };
  const world = new World([kind], () => {});
  const set = (name: string, resourceVersion = "1") =>
    world.set(
      keep(kind, { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "a", uid: name, resourceVersion } }),
    );
  const names = () => world.all("Pod").map(({ metadata }) => metadata.name);
  return { world, set, names };
}

it("of two worlds that select other pods, each forgets those that the server has no more, and no other ones", async () => {
  const [one, other] = [worldOf("one", true), worldOf("other", false)];
  for (const { world } of [one, other]) world.replace("Pod", []);
  for (const { set } of [one, other]) for (const name of ["of-one", "of-other", "gone", "changed"]) set(name);
  const asked: unknown[] = [];
  await sweep([one.world, other.world], async (_, where) => {
    asked.push(where);
    if (where.labels === "one") return new Set(["Pod/a:of-one"]);
    for (const { set } of [one, other]) {
      set("changed", "2");
      set("new");
    }
    return new Set(["Pod/a:of-other"]);
  });
  expect(asked).toEqual([{ labels: "one" }, { labels: "other" }]);
  for (const { names } of [one, other]) expect(names().sort()).toEqual(["changed", "new", "of-one", "of-other"]);
});

it("what was never listed, or may not have any address, is not asked for", async () => {
  const [one, other] = [worldOf("one", true), worldOf("other", false)];
  const never = async () => {
    throw new Error("asked");
  };
  await sweep([one.world], never);
  other.world.replace("Pod", []);
  await sweep([other.world], never);
  // Of the pods of that one, the other one may not be told yet.
  await sweep([one.world, other.world], never);
  one.world.replace("Pod", []);
  await expect(sweep([one.world], never)).rejects.toThrow("asked");
  await expect(sweep([one.world, new World([], () => {})], never)).rejects.toThrow("asked");
});
