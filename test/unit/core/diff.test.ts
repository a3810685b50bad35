import { describe, expect, it } from "vitest";
import { type Difference, diffRecords } from "../../../core/diff.ts";
import { tableOf } from "../../support/core/table.ts";
import { poolOf, recordOf, spelt, textOf } from "../../support/core/text.ts";

const pools = [poolOf("p", "10.0.0.0/24"), poolOf("r", "10.0.0.0/24", { network: "blue" })];

const table = tableOf(`
from                               | to                                 | want
-----------------------------------+------------------------------------+----------------------------------------------
                                   |                                    |
.1 Node/n/a if=eth0                | .1 Node/n/a if=eth0                |
.1 Node/n/a releasing              | .1 Node/n/a releasing              |

# lines that came and went
                                   | .1 Node/n/a                        | + .1 Node/n/a
                                   | .1 Node/n/a releasing              | + .1 Node/n/a releasing
.1 Node/n/a                        |                                    | - .1 Node/n/a
.1 Node/n/a releasing              |                                    | - .1 Node/n/a, was releasing

# lines that changed at their address
.1 Node/n/a                        | .1 Node/n/a releasing              | ~ .1 Node/n/a releasing, was .1 Node/n/a
.1 Node/n/a releasing              | .1 Node/n/a                        | ~ .1 Node/n/a, was .1 Node/n/a releasing
.1 Node/n/a                        | .1 Node/m/a                        | ~ .1 Node/m/a, was .1 Node/n/a
.1 Node/n/a releasing              | .1 Node/m/a                        | ~ .1 Node/m/a, was .1 Node/n/a releasing
.1 Node/n/a if=eth0                | .1 Node/n/a if=eth1                | ~ .1 Node/n/a if=eth1, was .1 Node/n/a if=eth0
.1 Node/n/a                        | .1 Node/n/a set=b                  | ~ .1 Node/n/a set=b, was .1 Node/n/a
.1 VM/ns:v/a uid=1                 | .1 VM/ns:v/a uid=2                 | ~ .1 VM/ns:v/a uid=2, was .1 VM/ns:v/a uid=1

# a claim that moved is two addresses; a pool is a place of its own
.1 Node/n/a                        | .2 Node/n/a ; .1 Node/n/a releasing | ~ .1 Node/n/a releasing, was .1 Node/n/a ; + .2 Node/n/a
.1 Node/n/a                        | .1 Node/n/a pool=r                 | - .1 Node/n/a ; + .1 Node/n/a pool=r
.1 Node/n/a ; .1 Node/m/a pool=r   | .1 Node/n/a ; .1 Node/o/a pool=r   | ~ .1 Node/o/a pool=r, was .1 Node/m/a pool=r

# in the order of the addresses, whatever happened to them
.2 Node/n/a ; .10 Node/m/a         | .1 Node/o/a ; .10 Node/m/a releasing | + .1 Node/o/a ; - .2 Node/n/a ; ~ .10 Node/m/a releasing, was .10 Node/m/a
`);

const marks = { added: "+", removed: "-", changed: "~" };
function shown({ kind, line, was, releasing, wasReleasing }: Difference): string {
  const before = was === undefined ? "" : ` ${textOf(was)}`;
  const tail = was === undefined && !wasReleasing ? "" : `, was${before}${wasReleasing ? " releasing" : ""}`;
  return `${marks[kind]} ${textOf(line)}${releasing ? " releasing" : ""}${tail}`;
}

describe("diffRecords", () => {
  it.each(table.map((row) => [row.title, row] as const))("%s", (_, { cell }) => {
    const [from, to] = ["from", "to"].map((column) => recordOf(cell(column).map(spelt), pools));
    if (from === undefined || to === undefined) throw new Error("a column is missing");
    expect(diffRecords(from, to).map(shown)).toEqual(cell("want").map(spelt));
  });
});
