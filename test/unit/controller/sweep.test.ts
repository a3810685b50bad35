import { expect, it } from "vitest";
import { Cache } from "../../../controller/cache/cache.ts";
import { keep } from "../../../controller/cache/seen.ts";
import type { WorldKind } from "../../../controller/cache/world-kind.ts";
import { sweep } from "../../../controller/run/sweep.ts";

/** Pods with a label, as one reader watches them. */
function podsWith(label: string, mayHaveAny: boolean): WorldKind {
  return {
    ...{ apiVersion: "v1", kind: "Pod", plural: "pods", where: { labels: label }, mayHaveAny },
    keep: () => ({}),
    concerns: () => ({ owners: ["all"], sources: [] }),
  };
}

function cacheOf(...kinds: WorldKind[]) {
  const cache = new Cache(kinds);
  const set = (name: string, resourceVersion = "1") =>
    cache.set(
      keep(cache.kind("Pod"), {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, namespace: "a", uid: name, resourceVersion },
      }),
    );
  const names = () => cache.all("Pod").map(({ metadata }) => metadata.name);
  return { cache, set, names };
}

it("what no selection of any reader has on the server any more is forgotten, and nothing else", async () => {
  const { cache, set, names } = cacheOf(podsWith("one", true), podsWith("other", false));
  cache.replace("Pod", []);
  for (const name of ["of-one", "of-other", "gone", "changed"]) set(name);
  const asked: unknown[] = [];
  await sweep(cache, async (_, where) => {
    asked.push(where);
    if (where.labels === "one") return new Set(["Pod/a:of-one"]);
    set("changed", "2");
    set("new");
    return new Set(["Pod/a:of-other"]);
  });
  expect(asked).toEqual([{ labels: "one" }, { labels: "other" }]);
  expect(names().sort()).toEqual(["changed", "new", "of-one", "of-other"]);
});

it("what was never listed, or may not have any address, is not asked for", async () => {
  const [one, other] = [cacheOf(podsWith("one", true)), cacheOf(podsWith("other", false))];
  const never = async () => {
    throw new Error("asked");
  };
  await sweep(one.cache, never);
  other.cache.replace("Pod", []);
  await sweep(other.cache, never);
  one.cache.replace("Pod", []);
  await expect(sweep(one.cache, never)).rejects.toThrow("asked");
});
