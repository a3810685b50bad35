import { describe, expect, it } from "vitest";
import { planRelease } from "../../../core/plan/release.ts";
import { isNamedBy, planRename } from "../../../core/plan/rename.ts";
import { apply } from "../../support/core/apply.ts";
import { lineOf, poolOf, recordOf, shown, textOf } from "../../support/core/text.ts";

const pools = [poolOf("p", "10.0.0.0/28"), poolOf("q", "10.0.1.0/28")];
const record = recordOf(
  [
    "10.0.0.1 Node/n/static-ip/eth1 if=eth1",
    "10.0.0.2 Node/m/static-ip/eth1 set=b",
    "10.0.0.3 Node/m/other",
    "10.0.0.4 Node/n/static-ip/eth2 releasing",
    "10.0.1.1 VM/ns:n/net0 pool=q uid=7",
  ],
  pools,
);

it("planRelease frees the lines it is given, live or releasing, and no other", () => {
  const lines = [...record.releasing, ...record.allocations.slice(2, 3)];
  const made = planRelease(record, lines);
  expect(shown(made)).toEqual(["free 10.0.0.3 Node/m/other", "free 10.0.0.4 Node/n/static-ip/eth2"]);
  expect(made.base).toBe(record.base);
  expect(apply(made, record).releasing).toEqual([]);
});

describe("isNamedBy", () => {
  it.each([
    ["10.0.0.1 Node/n/static-ip/eth1", "Node/n/static-ip/eth1", true],
    ["10.0.0.1 Node/n/static-ip/eth1", "Node/n", true],
    ["10.0.0.1 Node/n/static-ip/eth1", "n", true],
    ["10.0.0.1 Node/n/static-ip/eth1", "static-ip/eth1", true],
    ["10.0.0.1 Node/n/static-ip/eth1", "static-ip", true],
    ["10.0.0.1 Node/n/static-ip/eth1", "10.0.0.1", true],
    ["10.0.0.1 VM/ns:n/net0", "VM/ns:n", true],
    ["10.0.0.1 Node/n/static-ip/eth1", "static", false],
    ["10.0.0.1 Node/n/static-ip/eth1", "eth1", false],
    ["10.0.0.1 Node/n/static-ip/eth1", "Node", false],
    ["10.0.0.1 Node/n/static-ip/eth1", "Node/n/", false],
    ["10.0.0.1 Node/n/static-ip/eth1", "10.0.0.10", false],
    ["10.0.0.1 Node/n/static-ip/eth1", "", false],
    ["10.0.0.1 VM/ns:n/net0", "ns", false],
  ])("isNamedBy(%s, %j) is %s", (line, word, want) => {
    expect(isNamedBy(lineOf(line), word)).toBe(want);
  });
});

describe("planRename", () => {
  it.each([
    {
      from: "Node/n",
      to: "Node/z",
      want: [
        "keep 10.0.0.1 Node/z/static-ip/eth1 if=eth1, was 10.0.0.1 Node/n/static-ip/eth1 if=eth1",
        "keep 10.0.0.4 Node/z/static-ip/eth2, was 10.0.0.4 Node/n/static-ip/eth2",
      ],
    },
    { from: "Node/m/other", to: "Node/m/new", want: ["keep 10.0.0.3 Node/m/new, was 10.0.0.3 Node/m/other"] },
    { from: "other", to: "a/b", want: ["keep 10.0.0.3 Node/m/a/b, was 10.0.0.3 Node/m/other"] },
    {
      from: "static-ip",
      to: "fixed",
      want: [
        "keep 10.0.0.1 Node/n/fixed/eth1 if=eth1, was 10.0.0.1 Node/n/static-ip/eth1 if=eth1",
        "keep 10.0.0.4 Node/n/fixed/eth2, was 10.0.0.4 Node/n/static-ip/eth2",
      ],
    },
    {
      from: "VM/ns:n",
      to: "VM/ns:z",
      want: ["keep 10.0.1.1 VM/ns:z/net0 pool=q uid=7, was 10.0.1.1 VM/ns:n/net0 pool=q uid=7"],
    },
  ])("planRename($from, $to)", ({ from, to, want }) => {
    expect(shown(planRename(record, from, to))).toEqual(want);
  });

  it("renames what is releasing, and leaves it releasing", () => {
    const made = planRename(record, "Node/n/static-ip/eth2", "Node/n/static-ip/eth9");
    expect(made.keep.map(({ allocation, releasing }) => ({ text: textOf(allocation), releasing }))).toEqual([
      { text: "10.0.0.4 Node/n/static-ip/eth9", releasing: true },
    ]);
    const live = planRename(record, "other", "new").keep.map(({ releasing }) => releasing);
    expect(live).toEqual([undefined]);
  });

  it("leaves what is releasing where its new name is taken, and renames the others", () => {
    const lines = ["10.0.0.1 Node/a/new/x", "10.0.0.2 Node/a/old/x releasing", "10.0.0.3 Node/b/old/x"];
    const before = recordOf(lines, pools);
    const made = planRename(before, "old", "new");
    expect(shown(made)).toEqual(["keep 10.0.0.3 Node/b/new/x, was 10.0.0.3 Node/b/old/x"]);
    expect(apply(made, before).releasing.map(textOf)).toEqual(["10.0.0.2 Node/a/old/x"]);
    const alone = recordOf(lines.slice(0, 2), pools);
    expect(() => planRename(alone, "old", "new")).toThrow(/Node\/a\/new\/x already holds an address of pool p/);
  });

  it("renames the claims of the set it is given", () => {
    const made = planRename(record, "static-ip", "fixed", "b");
    expect(made.set).toBe("b");
    expect(shown(made)).toEqual(["keep 10.0.0.2 Node/m/fixed/eth1 set=b, was 10.0.0.2 Node/m/static-ip/eth1 set=b"]);
  });

  it("renames what was imported for an owner, whatever set adopts it, but not as a policy", () => {
    const lines = ["10.0.0.1 Node/a/uplink/x set=b", "10.0.0.2 Node/a/imported/y set=imported"];
    const before = recordOf(lines, pools);
    const imported = "keep 10.0.0.2 Node/z/imported/y set=imported, was 10.0.0.2 Node/a/imported/y set=imported";
    expect(shown(planRename(before, "Node/a", "Node/z"))).toEqual([imported]);
    const own = "keep 10.0.0.1 Node/z/uplink/x set=b, was 10.0.0.1 Node/a/uplink/x set=b";
    expect(shown(planRename(before, "Node/a", "Node/z", "b"))).toEqual([own, imported]);
    expect(() => planRename(before, "imported", "z")).toThrow(
      "no allocation is named imported in claim set default; it is of imported",
    );
  });

  it("takes what is named so to another set, as it is or renamed", () => {
    const lines = ["10.0.0.1 Node/a/old/x if=eth1", "10.0.0.2 Node/a/old/x releasing", "10.0.0.3 Node/b/new/x set=c"];
    const before = recordOf([...lines, "10.0.0.4 Node/a/imported/y set=imported"], pools);
    const made = planRename(before, "old", "old", "default", "b");
    expect(shown(made)).toEqual([
      "keep 10.0.0.1 Node/a/old/x set=b if=eth1, was 10.0.0.1 Node/a/old/x if=eth1",
      "keep 10.0.0.2 Node/a/old/x set=b, was 10.0.0.2 Node/a/old/x",
    ]);
    const { allocations, releasing } = apply(made, before);
    expect([allocations, releasing].map((list) => list.filter(({ set }) => set === "b").map(textOf))).toEqual([
      ["10.0.0.1 Node/a/old/x set=b if=eth1"],
      ["10.0.0.2 Node/a/old/x set=b"],
    ]);
    expect(shown(planRename(before, "Node/a", "Node/a", "default", "b"))).toEqual(shown(made));
    expect(shown(planRename(before, "old", "new", "default", "b"))[0]).toMatch(
      /^keep 10\.0\.0\.1 Node\/a\/new\/x set=b /,
    );
    expect(shown(planRename(before, "new", "new", "c", "default"))).toHaveLength(1);
    for (const sets of [
      ["default", "imported"],
      ["imported", "default"],
      ["default", ""],
    ] as const)
      expect(() => planRename(before, "Node/a", "Node/a", ...sets)).toThrow(/claim set/);
    expect(() => planRename(before, "Node/a", "Node/b", "default", "c")).not.toThrow();
    expect(() => planRename(before, "Node/a/old/x", "Node/b/new/x", "default", "c")).toThrow(
      "already holds an address",
    );
  });

  it("says of which claim set a name is", () => {
    expect(() => planRename(recordOf(["10.0.0.1 Node/a/x set=b"], pools), "Node/a", "Node/z")).toThrow(
      /no allocation is named Node\/a in claim set default; it is of b$/m,
    );
    expect(() => planRename(recordOf(["10.0.0.1 Node/a/x"], pools), "a", "z")).toThrow("did you mean Node/a?");
  });

  it.each([
    { from: "nobody", to: "z", code: "invalid" },
    { from: "other", to: "", code: "invalid" },
    { from: "Node/n", to: "z", code: "invalid" },
    { from: "Node/n", to: "Node/a b", code: "invalid" },
    { from: "Node/m/other", to: "other", code: "invalid" },
    { from: "other", to: "new\n", code: "invalid" },
    { from: "other", to: "Node/m/new", code: "invalid" },
    { from: "static-ip", to: "Node/n/fixed", code: "invalid" },
    { from: "other", to: "static-ip/eth1", code: "in-use" },
    { from: "Node/m/other", to: "Node/m/static-ip/eth1", code: "in-use" },
    { from: "Node/n/static-ip/eth2", to: "Node/n/static-ip/eth1", code: "in-use" },
  ])("planRename($from, $to) is refused: $code", ({ from, to, code }) => {
    expect(() => planRename(record, from, to)).toThrow(expect.objectContaining({ name: "IpamError", code }));
  });
});
