import { describe, expect, it } from "vitest";
import { lostLines } from "../../../cli/lost-lines.ts";
import { noChanges } from "../../../core/plan/changes.ts";
import { tableOf } from "../../support/core/table.ts";
import { lineOf, recordOf, spelt } from "../../support/core/text.ts";

// n/a has .2 on eth1 in another version of the record. Is that line lost, where this is the record and that is given now?
const table = tableOf(`
record                         | given                                      | lost
-------------------------------+--------------------------------------------+-----------
                               | .3 Node/n/a if=eth1                        | yes
                               | .2 Node/n/a if=eth1                        |
                               | .3 Node/m/a if=eth1                        |
                               | .2 Node/m/a if=eth1                        |
                               | .3 Node/n/a if=eth1 pool=q                 |
.2 Node/m/a if=eth1            | .3 Node/n/a if=eth1                        | yes
.2 Node/m/a if=eth1 releasing  | .3 Node/n/a if=eth1                        | yes

# the claim is called otherwise
                               | .3 Node/n/b if=eth1                        | yes
                               | .3 Node/n/b if=eth2                        |
                               | .3 Node/n/a if=eth1 set=b                  | yes
                               | .2 Node/n/b if=eth1 ; .3 Node/n/c if=eth2  |
                               | .2 Node/n/b if=eth1 ; .3 Node/n/c if=eth1  |
.2 Node/n/b if=eth1            | .3 Node/n/c if=eth2                        |
.2 Node/n/b if=eth1 releasing  | .3 Node/n/b if=eth1                        |

# another NIC gets the address
                               | .2 Node/n/b if=eth2 ; .3 Node/n/a if=eth1  | yes
                               | .2 Node/n/b if=eth2 ; .3 Node/n/c if=eth1  | yes
                               | .2 Node/n/a if=eth2 ; .3 Node/n/b if=eth1  |
.2 Node/n/b if=eth2            | .3 Node/n/a if=eth1                        | yes
.2 Node/n/b if=eth2            | .3 Node/n/c if=eth3                        |

# two captures of one NIC
.2 Node/n/b if=eth1            | .3 Node/n/a if=eth1                        |
.2 Node/n/a if=eth1            | .3 Node/n/b if=eth1                        |

# the claim has an address
.4 Node/n/a if=eth1            | .3 Node/n/b if=eth1                        |
.4 Node/n/a if=eth1 releasing  | .3 Node/n/a if=eth1                        | yes
`);

describe("lostLines", () => {
  const version = recordOf(["10.0.0.2 Node/n/a if=eth1"], []);
  const planOf = (...lines: string[]) => ({
    ...noChanges,
    assign: lines.map((line) => lineOf(line)),
    set: "default",
    pools: [],
    base: new Map(),
  });

  it.each(table.map((row) => [row.title, row] as const))("%s", (_, { cell }) => {
    const lost = lostLines(planOf(...cell("given").map(spelt)), recordOf(cell("record").map(spelt), []), version);
    expect(lost.length > 0).toBe(cell("lost").includes("yes"));
  });

  it("tells NICs that a template names by their claims alone", () => {
    const unnamed = recordOf(["10.0.0.2 Node/n/a"], []);
    expect(lostLines(planOf("10.0.0.2 Node/n/b", "10.0.0.3 Node/n/a"), recordOf([], []), unnamed)).toHaveLength(1);
    expect(lostLines(planOf("10.0.0.3 Node/n/b"), recordOf([], []), unnamed)).toEqual([]);
  });
});
