import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import type { Around } from "../../support/cluster/kube-memory.ts";
import { scratchFolder } from "../../support/state/folder.ts";
import { type Move, type PlaceName, Places } from "../../support/state/places.ts";

const root = scratchFolder();
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Places that have a record each, of sets of these names. */
async function placesWith(sets: Partial<Record<PlaceName, string>>): Promise<Places> {
  const places = new Places(root);
  for (const [name, set] of Object.entries(sets)) await places.allocate(name as PlaceName, set);
  return places;
}

const there: Move = ["file1", "cluster1"];
const back: Move = ["cluster1", "file1"];

it("a source that is closed, where the target got another record meanwhile, is as it was", async () => {
  const places = await placesWith({ file1: "default", file2: "default" });
  const before = readFileSync(places.path("file1"), "utf8");
  await places.moveUntil(there, "file1", "leaves");
  expect(await places.move(["file2", "cluster1"])).toBe("done");
  expect(await places.move(there)).toBe("in-use");
  expect(readFileSync(places.path("file1"), "utf8")).toBe(before);
  expect(await places.move(["file1", "cluster2"])).toBe("done");
});

it.each([
  ["there instead", []],
  ["there instead, and on from there", [["cluster1", "file2"]]],
] as const)("a source that is closed stays so where a copy of it has gone %s", async (_, more) => {
  const places = await placesWith({ file1: "default" });
  copyFileSync(places.path("file1"), places.path("file2"));
  await places.moveUntil(there, "file1", "leaves");
  expect(await places.move(["file2", "cluster1"])).toBe("done");
  for (const move of more) expect(await places.move(move as unknown as Move)).toBe("done");
  expect(await places.move(there)).toBe("in-use");
  expect(places.usable("file1")).toEqual([]);
});

it("a record that went elsewhere is expected no longer, once that is tried again", async () => {
  for (const [first, second] of [
    [there, ["file1", "cluster2"]],
    [back, ["cluster1", "file2"]],
  ] as const) {
    const places = await placesWith({ [first[0]]: "one" });
    await places.moveUntil(first, first[1], "expects");
    expect(await places.move(second)).toBe("done");
    expect(await places.move(first)).toBe("stale");
    await places.allocate(first[1], "two");
  }
});

it("a lockfile that has got its record opens, whatever has come to the cluster since", async () => {
  const places = await placesWith({ cluster1: "one", file2: "two" });
  await places.moveUntil(back, "cluster1", "left");
  expect(await places.move(["file2", "cluster1"])).toBe("done");
  expect(places.usable("file1")).toEqual([]);
  expect(await places.move(back)).toBe("done");
  expect([places.usable("file1"), places.usable("cluster1")]).toMatchObject([{ length: 1 }, { length: 1 }]);
});

it.each([there, back])("of a move that is refused half-way nothing is left: %s to %s", async (from, to) => {
  let refused = 0;
  for (let number = 1; number < 30; number++) {
    const places = await placesWith({ [from]: "default" });
    let calls = 0;
    const meeting: Around = async (_, run) => {
      if (++calls === number) await places.allocate(to, "late").catch(() => {});
      return run();
    };
    const outcome = await places.move([from, to], meeting);
    expect(["done", "in-use"]).toContain(outcome);
    places.checkOnce();
    if (outcome === "done") continue;
    refused++;
    expect([places.usable(from).length, places.usable(to).length]).toEqual([1, 1]);
  }
  expect(refused).toBeGreaterThan(0);
});

it("a target whose own record is elsewhere says how to bring that back, not to delete it", async () => {
  const places = await placesWith({ file1: "one", cluster2: "two" });
  expect(await places.move(there)).toBe("done");
  expect(await places.reasonOf(["cluster2", "file1"])).toMatch(
    /^the target's own record has moved to .*, and that is not the source\n.* is lost, its addresses are in use still: .* how to bring it back\.$/,
  );
});

it("a lock of before the record came home takes no other one from there", async () => {
  const places = await placesWith({ file1: "one" });
  expect(await places.move(there)).toBe("done");
  const stale = readFileSync(places.path("file1"), "utf8");
  expect(await places.move(back)).toBe("done");
  await places.allocate("file2", "two");
  expect(await places.move(["file2", "cluster1"])).toBe("done");
  writeFileSync(places.path("file1"), stale);
  expect(await places.move(back)).toBe("in-use");
  expect(places.usable("cluster1")).toHaveLength(1);
});

describe("a source that was lost when the record had gone", () => {
  it.each(["written", "done"])("a copy of it says where that is, and nothing is in two places: %s", async (when) => {
    const places = await placesWith({ file1: "one" });
    copyFileSync(places.path("file1"), places.path("file2"));
    if (when === "done") expect(await places.move(there)).toBe("done");
    else
      await places
        .move(there, async (call, run) => {
          if (call === "clear") throw new Error("killed");
          return run();
        })
        .catch(() => {});
    rmSync(places.path("file1"));
    expect(await places.move(["file2", "cluster1"])).toBe("done");
    expect(places.usable("file2")).toEqual([]);
    expect(places.usable("cluster1")).toHaveLength(1);
    expect(await places.move(["file2", "cluster1"])).toBe("done");
    expect(await places.move(["cluster1", "file2"])).toBe("done");
    expect(places.usable("file2")).toHaveLength(1);
  });

  it.each([
    ["where more was recorded since, it is no copy of what is there", "cluster1", 1],
    ["one that has more is a record of its own, and stays as it is", "file2", 2],
  ] as const)("%s", async (_, grown, lines) => {
    const places = await placesWith({ file1: "one" });
    copyFileSync(places.path("file1"), places.path("file2"));
    expect(await places.move(there)).toBe("done");
    await places.allocate(grown, "one", "file1", "late");
    expect(await places.move(["file2", "cluster1"])).toBe("in-use");
    expect(places.usable("file2")).toHaveLength(lines);
  });
});

it("a copy that lacks lines of what is to come goes on once it has them", async () => {
  const places = await placesWith({ file1: "one" });
  copyFileSync(places.path("file1"), places.path("file2"));
  await places.allocate("file1", "two", "file2");
  await places.moveUntil(there, "cluster1", "takes");
  expect(await places.reasonOf(["file2", "cluster1"])).toMatch(/^the target is taking another record, or the source/);
  await places.allocate("file2", "two", "file2", "file1");
  expect(await places.move(["file2", "cluster1"])).toBe("done");
});

it("a mark that names what nobody knows is none", async () => {
  const places = await placesWith({ file1: "one" });
  await places.moveUntil(there, "file1", "leaves");
  const text = readFileSync(places.path("file1"), "utf8");
  writeFileSync(places.path("file1"), text.replace('"leaves"', '"leans"'));
  expect(await places.move(there)).toBe("corrupt");
});
