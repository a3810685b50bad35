import { describe, expect, it } from "vitest";
import { plan } from "../../../core/plan/plan.ts";
import { apply } from "../../support/core/apply.ts";
import { tableOf } from "../../support/core/table.ts";
import { claimOf, poolOf, recordOf, shown, spelt } from "../../support/core/text.ts";

const pools = [poolOf("p", "10.0.0.0/29"), poolOf("q", "10.0.1.0/29")];

// A live owner never gets another address silently. Two ways out: a declared rename, and allowMove.
const table = tableOf(`
record                                | claims                | moved                     | with | want
--------------------------------------+-----------------------+---------------------------+------+--------------------------------------
# a rename: refused until it is declared, then the address stays
.5 Node/n/a                           | Node/n/b              |                           |      | in-use Node/n/b ; keep .5 Node/n/a
.5 Node/n/a                           | Node/n/b              | Node/n/a > Node/n/b       |      | keep .5 Node/n/b, was .5 Node/n/a
.5 Node/n/a                           | Node/n/b              |                           | move | assign .1 Node/n/b ; releasing .5 Node/n/a
.5 Node/n/a                           | Node/m/a              | Node/n/a > Node/m/a       |      | keep .5 Node/m/a, was .5 Node/n/a
.5 Node/n/a releasing                 | Node/n/b              | Node/n/a > Node/n/b       |      | keep .5 Node/n/b, was .5 Node/n/a
.5 Node/n/a if=eth1 uid=7             | Node/n/b              | Node/n/a > Node/n/b       |      | keep .5 Node/n/b uid=7, was .5 Node/n/a if=eth1 uid=7
.2 Node/n/a ; .5 Node/n/b releasing   | Node/n/b              |                           |      | in-use Node/n/b ; keep .2 Node/n/a
.2 Node/n/a ; .5 Node/n/b releasing   | Node/n/b              |                           | move | keep .5 Node/n/b, was .5 Node/n/b ; releasing .2 Node/n/a
.5 Node/n/a                           | Node/n/b wanted=.5    | Node/n/a > Node/n/b       |      | keep .5 Node/n/b, was .5 Node/n/a
.5 Node/n/a                           | Node/n/b wanted=.6    | Node/n/a > Node/n/b       |      | in-use Node/n/b
.5 Node/n/a set=b                     | Node/n/b              | Node/n/a > Node/n/b       |      | in-use Node/n/b

# a declaration that has done its work, or that fits nothing, does nothing
.5 Node/n/b                           | Node/n/b              | Node/n/a > Node/n/b       |      | keep .5 Node/n/b
.5 Node/n/b                           | Node/n/b              | Node/n/b > Node/n/a       |      | keep .5 Node/n/b
                                      | Node/n/b              | Node/n/a > Node/n/b       |      | assign .1 Node/n/b
.5 Node/n/a                           |                       | Node/n/a > Node/n/b       |      | releasing .5 Node/n/a
.4 Node/n/b ; .5 Node/n/a releasing   | Node/n/b              | Node/n/a > Node/n/b       |      | keep .4 Node/n/b
.4 Node/n/b ; .5 Node/n/a set=b       | Node/n/b              | Node/n/a > Node/n/b       |      | keep .4 Node/n/b

# a declaration that would make two live addresses one claim's
.4 Node/n/b ; .5 Node/n/a             | Node/n/b              | Node/n/a > Node/n/b       |      | in-use Node/n/b
.4 Node/n/b ; .5 Node/n/a             | Node/n/b              | Node/n/a > Node/n/b       | move | keep .4 Node/n/b ; releasing .5 Node/n/a

# one rename after the other, in any order of the list, wherever the record is on the way; the nearest name counts
.5 Node/n/a                           | Node/n/c              | Node/n/b > Node/n/c ; Node/n/a > Node/n/b |  | keep .5 Node/n/c, was .5 Node/n/a
.5 Node/n/b                           | Node/n/c              | Node/n/a > Node/n/b ; Node/n/b > Node/n/c |  | keep .5 Node/n/c, was .5 Node/n/b
.5 Node/n/a releasing                 | Node/n/c              | Node/n/a > Node/n/b ; Node/n/b > Node/n/c |  | keep .5 Node/n/c, was .5 Node/n/a
.4 Node/n/a releasing ; .5 Node/n/b releasing | Node/n/c      | Node/n/a > Node/n/b ; Node/n/b > Node/n/c |  | keep .5 Node/n/c, was .5 Node/n/b
.4 Node/n/a ; .5 Node/n/b             | Node/n/c              | Node/n/a > Node/n/b ; Node/n/b > Node/n/c |  | in-use Node/n/c
.4 Node/n/a ; .5 Node/n/c             | Node/n/c              | Node/n/a > Node/n/b ; Node/n/b > Node/n/c |  | in-use Node/n/c
.5 Node/n/c                           | Node/n/a              | Node/n/a > Node/n/b ; Node/n/b > Node/n/c ; Node/n/c > Node/n/a |  | keep .5 Node/n/a, was .5 Node/n/c

# a rename is one in each pool by itself: the old name may go on in another one
.5 Node/n/a ; 10.0.1.5 Node/n/a pool=q | Node/n/b ; Node/n/a pool=q | Node/n/a > Node/n/b |  | keep .5 Node/n/b, was .5 Node/n/a ; keep 10.0.1.5 Node/n/a pool=q

# what another set has under a former name comes after all that is of this one
.5 Node/n/a set=b ; .6 Node/n/b releasing | Node/n/b          | Node/n/a > Node/n/b       |      | keep .6 Node/n/b, was .6 Node/n/b
.4 Node/n/a ; .5 Node/n/b set=b       | Node/n/c              | Node/n/a > Node/n/b ; Node/n/b > Node/n/c |  | keep .4 Node/n/c, was .4 Node/n/a
.4 Node/n/a ; .5 Node/n/b set=b ; .6 Node/n/c | Node/n/c      | Node/n/a > Node/n/b ; Node/n/b > Node/n/c |  | in-use Node/n/c
.5 Node/n/a set=b releasing           | Node/n/b              | Node/n/a > Node/n/b       |      | in-use Node/n/b
.5 Node/n/a ; .6 Node/n/b set=imported | Node/n/b             | Node/n/a > Node/n/b       |      | in-use Node/n/b

# a rename that was taken back, and goes on elsewhere
.5 Node/n/a                           | Node/n/c              | Node/n/a > Node/n/b ; Node/n/b > Node/n/a ; Node/n/a > Node/n/c |  | keep .5 Node/n/c, was .5 Node/n/a
.5 Node/n/c                           | Node/n/b              | Node/n/a > Node/n/b ; Node/n/b > Node/n/c ; Node/n/c > Node/n/b |  | keep .5 Node/n/b, was .5 Node/n/c
.5 Node/n/a                           | Node/n/b              | Node/n/a > Node/n/b ; Node/n/b > Node/n/c ; Node/n/c > Node/n/b |  | keep .5 Node/n/b, was .5 Node/n/a
.4 Node/n/a ; .5 Node/n/c             | Node/n/b              | Node/n/a > Node/n/b ; Node/n/b > Node/n/c ; Node/n/c > Node/n/b |  | in-use Node/n/b

# the renamed claim is live: it keeps its address, though the new name once had another one
.5 Node/n/a ; .2 Node/n/b releasing   | Node/n/b              | Node/n/a > Node/n/b       |      | keep .5 Node/n/b, was .5 Node/n/a

# an address that an import found on the NIC is adopted, but not in place of one that its owner holds
.6 Node/n/imported/.6 set=imported if=eth1 | Node/n/b if=eth1 |  |  | keep .6 Node/n/b if=eth1, was .6 Node/n/imported/.6 set=imported if=eth1
.5 Node/n/a if=eth1 ; .6 Node/n/imported/.6 set=imported if=eth1 | Node/n/b if=eth1 |  |  | in-use Node/n/b ; keep .5 Node/n/a if=eth1
.5 Node/n/a if=eth1 ; .6 Node/n/imported/.6 set=imported if=eth1 | Node/n/b if=eth1 | Node/n/a > Node/n/b |  | keep .5 Node/n/b if=eth1, was .5 Node/n/a if=eth1
.6 Node/n/imported/.6 set=imported if=eth1 | Node/n/b if=eth1 ; Node/n/c if=eth1 |  |  | assign .1 Node/n/c if=eth1 ; keep .6 Node/n/b if=eth1, was .6 Node/n/imported/.6 set=imported if=eth1
.6 Node/n/c set=imported if=eth1 | Node/n/b if=eth1 ; Node/n/c if=eth1 |  |  | assign .1 Node/n/b if=eth1 ; keep .6 Node/n/c if=eth1, was .6 Node/n/c set=imported if=eth1
.6 Node/n/a set=imported if=eth1 | Node/n/b if=eth1 ; Node/n/c if=eth1 | Node/n/a > Node/n/c |  | assign .1 Node/n/b if=eth1 ; keep .6 Node/n/c if=eth1, was .6 Node/n/a set=imported if=eth1

.6 Node/n/a set=imported              | Node/n/a wanted=.5    |                           |      | in-use Node/n/a
.6 Node/n/a set=imported              | Node/n/a wanted=.5    |                           | move | assign .5 Node/n/a ; releasing .6 Node/n/a set=imported

# another pool is no move
.5 Node/n/a                           | Node/n/a pool=q       |                           |      | assign 10.0.1.1 Node/n/a pool=q ; releasing .5 Node/n/a
.5 Node/n/a                           | Node/n/b pool=q       | Node/n/a > Node/n/b       |      | assign 10.0.1.1 Node/n/b pool=q ; releasing .5 Node/n/a
10.0.1.5 Node/n/a pool=q ; .5 Node/n/a | Node/n/b ; Node/n/b pool=q | Node/n/a > Node/n/b |      | keep .5 Node/n/b, was .5 Node/n/a ; keep 10.0.1.5 Node/n/b pool=q, was 10.0.1.5 Node/n/a pool=q
`);

const movesOf = (texts: readonly string[]) =>
  texts.map((text) => {
    const [from = "", to = ""] = text.split(" > ");
    return { from, to };
  });
const writes = (line: string) => /^(assign|releasing|free) |, was /.test(line);

describe("plan with moved and allowMove", () => {
  it.each(table.map((row) => [row.title, row] as const))("%s", (_, { cell }) => {
    const snapshot = recordOf(cell("record").map(spelt), pools);
    const claims = cell("claims").map((text) => claimOf(spelt(text)));
    const input = { pools, claims, moved: movesOf(cell("moved")), allowMove: cell("with").includes("move") };
    const made = plan({ ...input, snapshot });
    expect(shown(made)).toEqual(cell("want").map(spelt));
    expect(shown(plan({ ...input, snapshot: apply(made, snapshot) })).filter(writes)).toEqual([]);
  });
});

const a = "10.0.0.4 Node/n/a";
const b = "10.0.0.5 Node/n/b";

describe("moved that leads two claims to one address, or one claim to two, is refused", () => {
  it.each([
    {
      name: "the old name is still claimed",
      record: [a],
      claims: ["Node/n/a", "Node/n/b"],
      moved: ["Node/n/a > Node/n/b"],
    },
    {
      name: "one old name, two new ones",
      record: [a],
      claims: ["Node/n/b", "Node/n/c"],
      moved: ["Node/n/a > Node/n/b", "Node/n/a > Node/n/c"],
    },
    {
      name: "two old names, one new one",
      record: [a, b],
      claims: ["Node/n/c"],
      moved: ["Node/n/a > Node/n/c", "Node/n/b > Node/n/c"],
    },
    {
      name: "the old name is still claimed, further back",
      record: [a],
      claims: ["Node/n/a", "Node/n/c"],
      moved: ["Node/n/a > Node/n/b", "Node/n/b > Node/n/c"],
    },
    {
      name: "two old names, one new one, further back",
      record: [a, b],
      claims: ["Node/n/d"],
      moved: ["Node/n/c > Node/n/d", "Node/n/a > Node/n/c", "Node/n/b > Node/n/c"],
    },
    {
      name: "one old name, two new ones, further on",
      record: [a],
      claims: ["Node/n/c", "Node/n/d"],
      moved: ["Node/n/a > Node/n/b", "Node/n/b > Node/n/c", "Node/n/a > Node/n/d"],
    },
  ])("$name", ({ record, claims, moved }) => {
    const made = () =>
      plan({ pools, claims: claims.map(claimOf), moved: movesOf(moved), snapshot: recordOf(record, pools) });
    expect(made).toThrow(expect.objectContaining({ name: "IpamError", code: "invalid" }));
  });
});

it("a refused move names the owner, the address, both claims and both ways out", () => {
  const snapshot = recordOf(["10.0.0.5 Node/n/old"], pools);
  expect(plan({ pools, claims: [claimOf("Node/n/new")], snapshot }).pending).toEqual([
    {
      claim: "Node/n/new",
      pool: "p",
      code: "in-use",
      message: expect.stringMatching(/^Node\/n .*10\.0\.0\.5.*\(old\)/),
      hint: "Declare the rename, or allow the move.",
      remedy: ["rename", "old", "new"],
    },
  ]);
});

it("a refused move is paired by the NIC first", () => {
  const snapshot = recordOf(["10.0.0.4 Node/n/old/a if=eth1", "10.0.0.5 Node/n/old/b if=eth2"], pools);
  const claims = ["Node/n/new/a if=eth2", "Node/n/new/b if=eth1"].map(claimOf);
  expect(plan({ pools, claims, snapshot }).pending.map(({ remedy }) => remedy)).toEqual([
    ["rename", "old/b", "new/a"],
    ["rename", "old/a", "new/b"],
  ]);
});

it("a refused move names the owner where others still ask for the old name", () => {
  const snapshot = recordOf(["10.0.0.5 Node/n/old", "10.0.0.6 Node/m/old"], pools);
  const claims = ["Node/n/new", "Node/m/old"].map(claimOf);
  expect(plan({ pools, claims, snapshot }).pending.map(({ remedy }) => remedy)).toEqual([
    ["rename", "old", "new", "Node/n"],
  ]);
});

describe("the rename that a refused move may be", () => {
  const renames = (record: readonly string[], claims: readonly string[]) =>
    plan({ pools, claims: claims.map(claimOf), snapshot: recordOf(record.map(spelt), pools) }).pending.map(
      ({ remedy }) => remedy?.slice(1, 3).join(" > "),
    );

  it.each([
    [
      "stays on its NIC",
      [".5 Node/n/pa/a if=eth1", ".6 Node/n/pb/b if=eth2"],
      ["pa/b if=eth1", "pc/b if=eth2"],
      ["pa/a > pa/b", "pb/b > pc/b"],
    ],
    [
      "stays on its NIC, where another comes",
      [".6 Node/n/pb/b if=eth2"],
      ["pc/b if=eth3", "pd/b if=eth2"],
      ["pb/b > pd/b"],
    ],
    ["stays on a NIC that a template names", [".5 Node/n/pa/a"], ["pb/a if=eth2", "pc/a"], ["pa/a > pc/a"]],
    [
      "comes before what was imported, be it unclear",
      [".5 Node/n/pa/a if=e", ".2 Node/n/x set=imported if=e", ".3 Node/n/y set=imported if=e"],
      ["pb/a if=e"],
      ["pa/a > pb/a"],
    ],
    [
      "comes before what was imported, and the pool does not hand out",
      [".5 Node/n/pa/a if=e", ".7 Node/n/x set=imported if=e"],
      ["pb/a if=e"],
      ["pa/a > pb/a"],
    ],
  ])("%s", (_, record, claims, want) => {
    const found = renames(
      record,
      claims.map((claim) => `Node/n/${claim}`),
    );
    expect(found.sort()).toEqual(want);
  });
});

it("of what another set has releasing, the lowest is named, in whatever order the record is", () => {
  const sorted = recordOf(["10.0.0.5 Node/n/a set=b releasing", "10.0.0.6 Node/n/a set=b releasing"], pools);
  for (const snapshot of [sorted, { ...sorted, releasing: sorted.releasing.toReversed() }]) {
    const { pending } = plan({ pools, claims: [claimOf("Node/n/a")], snapshot });
    expect(pending).toMatchObject([{ message: "10.0.0.5 is releasing, as the same claim of set b" }]);
  }
});

it("what was imported for a claim, and is releasing, is to be freed: it cannot come over", () => {
  const snapshot = recordOf(["10.0.0.6 Node/n/b set=imported releasing"], pools);
  expect(plan({ pools, claims: [claimOf("Node/n/b")], snapshot }).pending).toMatchObject([
    { code: "in-use", message: "10.0.0.6 is releasing, and was imported", remedy: ["release"] },
  ]);
});
