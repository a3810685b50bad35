import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import type { Around } from "../../support/kube-memory.ts";
import { scratchFolder } from "../../support/state-folder.ts";
import { type Move, type PlaceName, Places } from "../../support/state-places.ts";

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

describe("a source that has let go of its record, where the target got another one meanwhile", () => {
  it("takes it back, and moves it then", async () => {
    const places = await placesWith({ file1: "one", file2: "two" });
    await places.moveUntil(there, "file1", "leaves");
    expect(await places.move(["file2", "cluster1"])).toBe("done");
    expect(await places.move(there)).toBe("done");
    expect(places.usable("cluster1")).toHaveLength(2);
  });

  it("takes it back, and is as it was, if it does not fit there any more", async () => {
    const places = await placesWith({ file1: "default", file2: "default" });
    const before = readFileSync(places.path("file1"), "utf8");
    await places.moveUntil(there, "file1", "leaves");
    expect(await places.move(["file2", "cluster1"])).toBe("done");
    expect(await places.move(there)).toBe("in-use");
    expect(readFileSync(places.path("file1"), "utf8")).toBe(before);
    expect(await places.move(there, undefined, "named")).toBe("done");
  });

  it("takes it back where somebody has taken the target's mark off", async () => {
    const places = await placesWith({ cluster1: "there", file1: "one" });
    await places.moveUntil(there, "file1", "leaves");
    expect(await places.move(["file2", "cluster1"])).toBe("invalid"); // takes the mark off: nothing is there to move
    await places.allocate("cluster1", "late", "file2");
    expect(await places.move(there)).toBe("done");
    expect(places.usable("cluster1")).toHaveLength(3);
  });

  it.each([
    ["stays closed where a copy of it has gone there instead", undefined, []],
    ["as another set", "named", []],
    ["and on from there", undefined, [["cluster1", "file2"]]],
  ] as const)("%s", async (_, set, more) => {
    const places = await placesWith({ file1: "default" });
    copyFileSync(places.path("file1"), places.path("file2"));
    await places.moveUntil(there, "file1", "leaves");
    expect(await places.move(["file2", "cluster1"], undefined, set)).toBe("done");
    for (const move of more) expect(await places.move(move)).toBe("done");
    expect(await places.move(there)).toBe("in-use");
    expect(places.usable("file1")).toEqual([]);
  });

  it("moves as the set that it has begun with", async () => {
    const places = await placesWith({ file1: "default", file2: "two" });
    await places.moveUntil(there, "file1", "leaves", "named");
    expect(await places.move(["file2", "cluster1"])).toBe("done");
    expect(await places.move(there)).toBe("done");
    expect(places.usable("cluster1").join()).toContain("Node/file1/a pool=file1 set=named");
  });
});

it("a lockfile that expects the record of one cluster takes no other one", async () => {
  const places = await placesWith({ cluster1: "one", cluster2: "two", file1: "mine" });
  await places.moveUntil(back, "cluster1", "leaves");
  expect(await places.move(["cluster2", "file1"])).toBe("in-use");
  expect(await places.move(back)).toBe("done");
  expect(await places.move(["cluster2", "file1"])).toBe("done");
  expect(places.usable("file1")).toHaveLength(3);
});

it("a record that went elsewhere is expected no longer, once that is tried again", async () => {
  for (const [first, second] of [
    [there, ["file1", "cluster2"]],
    [back, ["cluster1", "file2"]],
  ] as const) {
    const places = await placesWith({ file1: "one", cluster1: "two" });
    await places.moveUntil(first, first[1], "expects");
    expect(await places.move(second)).toBe("done");
    expect(places.usable(first[1])).toEqual([]);
    expect(await places.move(first)).toBe("stale");
    expect(places.usable(first[1])).toHaveLength(1);
  }
});

it("a lockfile that has got its record is told so, whatever has come to the cluster since", async () => {
  const places = await placesWith({ cluster1: "one", file2: "two" });
  await places.moveUntil(back, "cluster1", "left");
  expect(await places.move(["file2", "cluster1"])).toBe("done");
  expect(places.usable("file1")).toEqual([]);
  expect(await places.move(back)).toBe("done");
  expect([places.usable("file1"), places.usable("cluster1")]).toMatchObject([{ length: 1 }, { length: 1 }]);
});

it.each([there, back])("of a move that is refused half-way nothing is left: %s to %s", async (from, to) => {
  let refused = 0;
  for (let number = 1; number < 30; number++)
    for (const who of [from, to]) {
      const places = await placesWith({ [from]: "default", [to]: "there" });
      let calls = 0;
      const meeting: Around = async (_, run) => {
        // An address of a pool that the other side has: with it, the two records cannot be one.
        if (++calls === number) await places.allocate(who, "late", who === from ? to : from, "late").catch(() => {});
        return run();
      };
      const outcome = await places.move([from, to], meeting, "named");
      expect(["done", "in-use"]).toContain(outcome);
      places.checkOnce();
      if (outcome === "done") continue;
      refused++;
      expect([places.usable(from).length, places.usable(to).length]).toEqual(who === from ? [2, 1] : [1, 2]);
      expect(places.usable(from).join()).not.toContain("named");
    }
  expect(refused).toBeGreaterThan(6);
});

it("a move whose target was put back on the way says so, and that it has not ended", async () => {
  const places = await placesWith({ cluster1: "one", file1: "two" });
  const before = readFileSync(places.path("file1"), "utf8");
  await places.moveUntil(back, "cluster1", "leaves");
  writeFileSync(places.path("file1"), before);
  expect(await places.move(back)).toBe("in-use");
  expect(await places.reasonOf(back)).toMatch(/ what it was to come to is not there any more/);
});

it("a target whose own record is elsewhere says how to bring that back, not to delete it", async () => {
  const places = await placesWith({ file1: "one", cluster2: "two" });
  expect(await places.move(there)).toBe("done");
  expect(await places.reasonOf(["cluster2", "file1"])).toMatch(
    /^the target's own record has moved to .*, and that is not the source\n.* is lost, its addresses are in use still: .* how to bring it back\.$/,
  );
});

it("a source whose record has gone on from the target is told where to", async () => {
  const places = await placesWith({ file1: "one" });
  expect(await places.move(there)).toBe("done");
  copyFileSync(places.path("file1"), places.path("file2"));
  expect(await places.move(back)).toBe("done");
  expect(await places.move(["file2", "cluster1"])).toBe("stale");
  expect(await places.reasonOf(["file2", "cluster1"])).toMatch(
    /, and on from there; what was there last went to \S*file1\n/,
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
  expect(await places.reasonOf(back)).toMatch(/ has moved to .*, and on from there\n/);
  expect(places.usable("cluster1")).toHaveLength(1);
});

describe("a source that was lost when the record had gone", () => {
  it.each(["carried", "done"])("a copy of it says where that is, and nothing is in two places: %s", async (when) => {
    const places = await placesWith({ file1: "one", cluster1: "two" });
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
    expect(places.usable("cluster1")).toHaveLength(2);
    places.checkOnce();
    expect(await places.move(["file2", "cluster1"])).toBe("done");
    expect(await places.move(["cluster1", "file2"])).toBe("done");
    expect(places.usable("file2")).toHaveLength(2);
  });

  it.each([
    ["where more was recorded of its set since, it is no copy of what is there", "cluster1", 1],
    ["one that has more is a record of its own, and stays as it is", "file2", 2],
  ] as const)("%s", async (_, grown, lines) => {
    const places = await placesWith({ file1: "one" });
    copyFileSync(places.path("file1"), places.path("file2"));
    expect(await places.move(there)).toBe("done");
    await places.allocate(grown, "one", "file1", "late");
    expect(await places.move(["file2", "cluster1"])).toBe("in-use");
    expect(places.usable("file2")).toHaveLength(lines);
  });

  it("where another set has recorded in its pool since, it is a copy still", async () => {
    const places = await placesWith({ file1: "one" });
    copyFileSync(places.path("file1"), places.path("file2"));
    expect(await places.move(there)).toBe("done");
    await places.allocate("cluster1", "two", "file1", "late");
    expect(await places.move(["file2", "cluster1"])).toBe("done");
    expect([places.usable("file2"), places.usable("cluster1").length]).toEqual([[], 2]);
  });
});

it("a copy that lacks lines of what is to come says so", async () => {
  const places = await placesWith({ file1: "one" });
  copyFileSync(places.path("file1"), places.path("file2"));
  await places.allocate("file1", "two", "file2");
  await places.moveUntil(there, "cluster1", "takes");
  const refused = await places.errorOf(["file2", "cluster1"]);
  expect(refused?.issues[1]).toMatchObject({
    message: "this record has other lines than the one that is to come",
    hint: expect.stringMatching(/plan that again, from the same manifests/),
  });
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

describe("the lines of set default go as another set", () => {
  it.each([there, back])("not as one that the record has lines of itself: %s to %s", async (from, to) => {
    const places = await placesWith({ [from]: "default" });
    await places.allocate(from, "b", "file2");
    const before = places.usable(from);
    expect(await places.move([from, to], undefined, "b")).toBe("in-use");
    expect(await places.reasonOf([from, to], "b")).toMatch(/^the record has lines of claim set b itself\n/);
    expect(places.usable(from)).toEqual(before);
    expect(await places.move([from, to], undefined, "c")).toBe("done");
  });

  it("nor where lines of it are recorded on the way; what has got past that goes on", async () => {
    const places = await placesWith({ file1: "default" });
    await places.moveUntil(there, "cluster1", "expects", "b");
    await places.allocate("file1", "b", "file2");
    expect(await places.move(there, undefined, "b")).toBe("in-use");
    expect(places.usable("file1")).toHaveLength(2);
    await places.moveUntil(there, "cluster1", "takes", "c");
    expect(await places.move(there)).toBe("done");
    expect(places.usable("cluster1").join()).toMatch(/set=c.*set=b|set=b.*set=c/);
  });
});

it("from a copy of a source that was lost on the way, a move goes on as the set that it was begun with, and says so", async () => {
  const places = await placesWith({ file1: "default" });
  copyFileSync(places.path("file1"), places.path("file2"));
  await places.moveUntil(there, "cluster1", "takes", "q");
  const again: Move = ["file2", "cluster1"];
  expect(await places.move(again)).toBe("in-use");
  expect(await places.issueOf(again)).toMatchObject({
    hint: expect.stringContaining("It was begun as set q, and goes on as that, also from a copy of its source"),
  });
  expect(await places.move(again, undefined, "q")).toBe("done");
});

it("another name for the set is advised where that helps: for lines of `default`", async () => {
  const places = await placesWith({ file1: "default", cluster1: "b" });
  expect(await places.issueOf(there, "b")).toMatchObject({ hint: expect.stringMatching(/as another set\.$/) });
  await places.allocate("file1", "b", "file2");
  for (const set of [undefined, "c"])
    expect(await places.issueOf(there, set)).toEqual({
      message: expect.stringMatching(/ has lines of claim set b, too$/),
      hint: expect.stringContaining('in the lockfile of the two write another name after "set": in the lines of b'),
    });
});
