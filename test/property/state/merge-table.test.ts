import { describe, expect, it } from "vitest";
import { encode } from "../../../state/codec.ts";
import { mergeRecords } from "../../../state/merge.ts";
import { salvage } from "../../../state/salvage.ts";
import { tableOf } from "../../support/core/table.ts";
import { poolOf, recordOf, spelt, textOf } from "../../support/core/text.ts";
import { outcome } from "../../support/git/forks.ts";
import { mergeTexts } from "../../support/git/merge.ts";
import { recordTexts } from "../../support/state/record.ts";

const pools = [
  poolOf("p", "10.0.0.0/24"),
  poolOf("q", "10.0.0.0/24 10.0.0.100 10.0.0.120"),
  poolOf("r", "10.0.0.0/24", { network: "blue" }),
];
const record = (lines: readonly string[]) => recordOf(lines.map(spelt), pools);

// Node/n/a is written n, Node/m/lan/b is m/lan/b, and so on. `either`: nobody is in force, so any one of the two may win.
const table = tableOf(`
base              | ours              | theirs            | landed | want                        | losers
------------------+-------------------+-------------------+--------+-----------------------------+-------
# changes at other places go together
.1 n              | .1 n ; .2 m       | .1 n ; .3 o       |        | .1 n ; .2 m ; .3 o          |
.1 n              | .1 n releasing    | .1 n ; .3 o       |        | .3 o ; .1 n releasing       |
.1 n releasing    |                   | .1 n releasing ; .2 m |    | .2 m                        |
.1 n              | .1 m              | .1 n ; .2 o       |        | .1 m ; .2 o                 |
.1 n              | .1 n if=eth1      | .1 n ; .2 o       |        | .1 n if=eth1 ; .2 o         |
                  | .1 n              | .1 m pool=r       |        | .1 n ; .1 m pool=r          |

# the same change on both sides is one change
                  | .1 n              | .1 n              |        | .1 n                        |
.1 n              | .1 n releasing    | .1 n releasing    |        | .1 n releasing              |
.1 n releasing    |                   |                   |        |                             |

# one claim at one address: what landed; else the live line, or either
.1 n              | .1 n releasing    | .1 n if=eth1      |        | .1 n if=eth1                |
.1 n              | .1 n if=eth1      | .1 n if=eth2      |        | .1 n if=eth1                |
.1 n              | .1 n if=eth1      | .1 n if=eth2      | theirs | .1 n if=eth2                |
.1 n releasing    | .1 n              | .1 n if=eth1      |        | .1 n if=eth1                |
.1 n releasing    | .1 n              |                   |        | .1 n                        |
                  | .1 n if=eth1      | .1 n if=eth2      | ours   | .1 n if=eth1                |
                  | .1 n if=eth1      | .1 n if=eth2      | theirs | .1 n if=eth2                |

# one address, two claims
                  | .1 n              | .1 m              |        | conflict                    |
                  | .1 n              | .1 m              | ours   | .1 n                        | .1 m
                  | .1 n              | .1 m              | theirs | .1 m                        | .1 n
                  | .101 n            | .101 m pool=q     | theirs | .101 m pool=q               | .101 n
.1 n              | .1 m              | .1 o              |        | conflict                    |
.1 n              | .1 m              | .1 o              | theirs | .1 o                        | .1 m

# one claim, two addresses
                  | .1 n              | .2 n              |        | conflict                    |
                  | .1 n              | .2 n              | ours   | .1 n                        | .2 n
                  | .1 n              | .2 n              | theirs | .2 n                        | .1 n
                  | .1 n              | .2 n pool=r       |        | .1 n ; .2 n pool=r          |
                  | .1 n              | .2 n ; .1 m       | theirs | .1 m ; .2 n                 | .1 n

# n is m now, as ours says, and theirs changed its line: nobody composes one of both
.1 n              | .1 m              | .1 n releasing    |        | conflict                    |
.1 n              | .1 m              | .1 n releasing    | ours   | .1 m                        | .1 n
.1 n              | .1 m              | .1 n releasing    | theirs | .1 n releasing              | .1 m
.1 n              | .1 m              | .1 n if=eth1      |        | conflict                    |
.1 n              | .1 m if=eth2      | .1 n if=eth1      | ours   | conflict                    |
.1 n              | .1 m if=eth2      | .1 n if=eth1      | theirs | conflict                    |

# n is still there, or m was: ours freed and gave away what theirs still has. Never silently, and never from under the landed side
.1 n              | .1 m ; .5 n       | .1 n if=eth1      |        | conflict                    |
.1 n              | .1 m ; .5 n       | .1 n if=eth1      | ours   | conflict                    |
.1 n              | .1 m ; .5 n       | .1 n if=eth1      | theirs | conflict                    |
.1 n              | .1 m ; .5 n releasing | .1 n if=eth1  |        | conflict                    |
.1 n ; .5 m       | .1 m ; .5 m releasing | .1 n if=eth1 ; .5 m |  | conflict                    |
.1 n ; .5 m/b     | .1 m ; .5 m/b     | .1 n if=eth1 ; .5 m/b |    | conflict                    |

# two names of one line
.1 n/nic/a        | .1 m/nic/a        | .1 n/lan/a        |        | conflict                    |
.1 n/nic/a        | .1 m/nic/a        | .1 n/lan/a        | ours   | conflict                    |
.1 n/nic/a        | .1 m/nic/a        | .1 n/lan/a        | theirs | conflict                    |
.1 n/nic/a        | .1 n/lan/a        | .1 n/nic/b        |        | conflict                    |
.1 n/nic/a        | .1 n/lan/a        | .1 n/nic/b        | ours   | .1 n/lan/a                  | .1 n/nic/b
.1 n/nic/a        | .1 n/lan/a        | .1 n/wan/a        |        | conflict                    |
.1 n/nic/a        | .1 n/lan/a        | .1 n/wan/a        | theirs | .1 n/wan/a                  | .1 n/lan/a
.1 n/nic/a        | .1 m/nic/a        | .1 o/lan/a        |        | conflict                    |
.1 n/nic/a        | .1 n/nic/b        | .1 n/nic/c        |        | conflict                    |
.1 n/nic/a set=imported | .1 n/nic/a  | .1 n/nic/a set=imported if=eth1 | | conflict               |
.1 n/nic/a set=imported | .1 n/nic/a  | .1 n/nic/a set=other |     | conflict                    |
.1 n/nic/a set=imported | .1 n/nic/a  | .1 n/nic/a set=other | theirs | .1 n/nic/a set=other     |

# renamed and given up
.3 n/nic/a        | .3 n/nic/a releasing | .3 n/lan/a     |        | conflict                    |
.3 n/nic/a        | .3 n/nic/a releasing | .3 n/lan/a     | theirs | .3 n/lan/a                  | .3 n/nic/a
.3 n/nic/a        | .3 n/nic/a releasing | .3 n/lan/a     | ours   | .3 n/nic/a releasing        | .3 n/lan/a
.3 n/nic/a        | .3 n/nic/a releasing | .3 n/lan/a releasing |  | conflict                    |
.3 n/nic/a        |                   | .3 n/lan/a        |        | .3 n/lan/a                  |
.3 n/nic/a releasing | .3 n/nic/a     | .3 n/lan/a releasing |     | conflict                    |
.3 n/nic/a releasing | .3 n/lan/a releasing |             |        | .3 n/lan/a releasing        |
.3 n/nic/a        | .3 n/nic/a releasing ; .5 n/nic/a | .3 n/lan/a | | conflict                   |
.3 n/nic/a        | .3 n/nic/a releasing ; .5 n/nic/a | .3 n/lan/a | ours | .5 n/nic/a ; .3 n/nic/a releasing | .3 n/lan/a

# it was releasing, and somebody has it again: that one keeps its name
.3 n/nic/a releasing | .3 n/nic/a     | .3 n/lan/a        |        | conflict                    |
.3 n/nic/a releasing | .3 n/nic/a     | .3 m/nic/a releasing |     | conflict                    |
.3 n/nic/a releasing | .3 n/nic/a     | .3 m/nic/a        |        | conflict                    |

# names that are another line's
.1 n/nic/a ; .2 n/lan/b | .1 n/lan/a ; .2 n/lan/b | .1 n/nic/b ; .2 n/lan/b | | conflict         |
.1 n/nic/a ; .2 n/lan/b | .1 n/lan/a ; .2 n/lan/b | .1 n/nic/b ; .2 n/lan/b | ours | .1 n/lan/a ; .2 n/lan/b | .1 n/nic/b
.1 n/nic/a        | .1 n/lan/a        | .1 n/nic/b ; .7 n/lan/b |  | conflict                    |

# one node was renamed on both sides; on one of them it was planned anew instead
.2 n              | .2 w              | .2 n releasing ; .4 w |    | conflict                    |
.2 n              | .2 w              | .2 n releasing ; .4 w | ours | .2 w                      | .2 n ; .4 w
.2 n              | .2 w              | .2 n releasing ; .4 w | theirs | .4 w ; .2 n releasing   | .2 w
.2 n/nic/a        | .2 n/lan/a        | .2 n/nic/a releasing ; .4 n/lan/a | ours | .2 n/lan/a   | .2 n/nic/a ; .4 n/lan/a

# ours renamed n to a name that theirs gave to another one: what theirs left as it was stands
.2 n              | .2 w ; .4 o       | .2 n ; .4 w       |        | conflict                    |
.2 n              | .2 w ; .4 o       | .2 n ; .4 w       | theirs | .2 n ; .4 w                 | .2 w ; .4 o
.1 n/p/a          | .1 n/q/a          | .1 n/p/a ; .3 n/q/a | theirs | .1 n/p/a ; .3 n/q/a       | .1 n/q/a

# ours moved n; theirs rewrote its line
.1 n              | .1 n releasing ; .2 n | .1 n if=eth1  |        | conflict                    |
.1 n              | .1 n releasing ; .2 n | .1 n if=eth1  | ours   | .2 n ; .1 n releasing       |

# ours gave n another address; theirs gave n back the one that was releasing
.1 n releasing    | .1 n releasing ; .2 n | .1 n          |        | conflict                    |
.1 n releasing    | .1 n releasing ; .2 n | .1 n          | ours   | .2 n ; .1 n releasing       | .1 n
.1 n releasing    | .1 n releasing ; .2 n | .1 n          | theirs | .1 n                        | .2 n
`);

const long = (lines: readonly string[]) =>
  lines.map((line) =>
    line.replace(/^(\S+) (\w+)((?:\/\w+)*)/, (_, at, node, name) => `${at} Node/${node}${name || "/a"}`),
  );

describe("mergeRecords", () => {
  it.each(table.map((row) => [row.title, row] as const))("%s", (_, { cell }) => {
    const [base, ours, theirs] = ["base", "ours", "theirs"].map((side) => record(long(cell(side))));
    if (base === undefined || ours === undefined || theirs === undefined) throw new Error("a column is missing");
    const landed = { ours, theirs }[cell("landed")[0] ?? ""];
    const { value, code } = outcome(() => mergeRecords(base, ours, theirs, landed));
    if (cell("want")[0] === "conflict") return expect(code ?? value).toBe("conflict");
    expect(code).toBeUndefined();
    expect(recordTexts(value?.snapshot as typeof base)).toEqual(long(cell("want").map(spelt)));
    expect(value?.losers.map(({ line }) => textOf(line))).toEqual(long(cell("losers").map(spelt)));
  });

  it("asks nobody again where the named revision holds neither of two lines, but is part of one side", () => {
    // The second commit of a rebase: `ours` is main and the first commit, replanned; main itself is `--landed`.
    const landed = record(long([".1 n"]));
    const ours = record(long([".1 n", ".2 m"]));
    const theirs = record(long([".1 m", ".2 o"]));
    const { value, code } = outcome(() => mergeRecords(record(long([".1 m"])), ours, theirs, landed, "ours"));
    expect(code).toBeUndefined();
    expect(value?.losers.map(({ line }) => textOf(line))).toEqual(long([".2 o"].map(spelt)));
    // A branch that is not up to date is part of both, and knows neither line: nothing says which is in force.
    expect(outcome(() => mergeRecords(record(long([".1 m"])), ours, theirs, landed)).code).toBe("conflict");
  });
});

describe("a revision that is older than both sides", () => {
  it.each([
    ["", ".1 m"],
    [".1 m", ".1 m"],
    [".1 m", ".1 m ; .5 x"],
  ])("%s, of a base %s, does not say which of two lines is in force", (landed, base) => {
    const [old, from] = [landed, base].map((text) => record(long(text === "" ? [] : text.split(" ; "))));
    const sides = [".2 o", ".2 p"].map((line) => record(long([...base.split(" ; "), line].sort())));
    const { code } = outcome(() => mergeRecords(from as never, sides[0] as never, sides[1] as never, old));
    expect(code).toBe("conflict");
  });
});

describe("salvage", () => {
  // The line that main moved (--allow-move) stands in the text twice: live as theirs has it, releasing as main has it.
  it("settles a claim that the landed side moved to another address", () => {
    const versions = {
      base: record([]),
      ours: record(long([".7 n", ".1 n releasing"])),
      theirs: record(long([".1 n"])),
    };
    const [merged] = mergeTexts([{ base: "", ours: encode(versions.ours), theirs: encode(versions.theirs) }]);
    const { value, code } = outcome(() => salvage(merged?.text ?? "", "nodeippool.lock", versions.ours));
    expect(code).toBeUndefined();
    expect(recordTexts(value?.snapshot as typeof versions.ours)).toEqual(recordTexts(versions.ours));
  });

  it.each([undefined, record([])])("does not choose between two lines for one pool", (landed) => {
    const text = ["24", "25"].map((length) => `- {"pool":"p","cidr":"10.0.0.0/${length}"}\n`).join("");
    const { code } = outcome(() => salvage(text, "nodeippool.lock", landed));
    expect(code).toBe("conflict");
  });

  it("knows a pool whose line git took out from the side that landed", () => {
    const versions = {
      base: record(long([".22 n", ".4 m pool=r"])),
      ours: record(long([".22 o", ".4 o pool=r"])),
      theirs: record(long([".4 m pool=r"])),
    };
    const [merged] = mergeTexts([
      { base: encode(versions.base), ours: encode(versions.ours), theirs: encode(versions.theirs) },
    ]);
    const { value, code } = outcome(() => salvage(merged?.text ?? "", "nodeippool.lock", versions.ours));
    expect(code).toBeUndefined();
    expect(recordTexts(value?.snapshot as typeof versions.ours)).toEqual(
      expect.arrayContaining(recordTexts(versions.ours)),
    );
  });
});
