import { describe, expect, it } from "vitest";
import { forgetting } from "../../../cli/notes/forgotten.ts";
import { noChanges } from "../../../core/plan/changes.ts";
import { tableOf } from "../../support/core-table.ts";
import { lineOf, recordOf, spelt } from "../../support/core-text.ts";

// n/a has .2 on eth1 in another version of the record. Is that forgotten, where this is the record and that is given now?
const table = tableOf(`
record                         | given                                      | forgotten
-------------------------------+--------------------------------------------+-----------
                               | .3 Node/n/a if=eth1                        | yes
                               | .3 Node/m/a if=eth1                        |
                               | .2 Node/m/a if=eth1                        | yes
                               | .2 Node/m/a if=eth1 pool=q                 |
                               | .3 Node/n/a if=eth1 pool=q                 |
.2 Node/m/a if=eth1            | .3 Node/n/a if=eth1                        | yes

# the claim is called otherwise
                               | .3 Node/n/b if=eth1                        | yes
                               | .3 Node/n/b if=eth2                        | yes
                               | .3 Node/n/a if=eth1 set=b                  | yes
                               | .2 Node/n/b if=eth1 ; .3 Node/n/c if=eth2  |
.2 Node/n/b if=eth1            | .3 Node/n/c if=eth2                        |
.2 Node/n/b if=eth1 releasing  | .3 Node/n/b if=eth1                        |

# another NIC has the address
                               | .2 Node/n/b if=eth2 ; .3 Node/n/a if=eth1  | yes
                               | .2 Node/n/b if=eth2 ; .3 Node/n/c if=eth1  | yes
.2 Node/n/b if=eth2            | .3 Node/n/a if=eth1                        | yes
.2 Node/n/b if=eth2            | .3 Node/n/c if=eth3                        |
                               | .2 Node/n/a if=eth2 ; .3 Node/n/b if=eth1  |

# two captures of one NIC
.2 Node/n/b if=eth1            | .3 Node/n/a if=eth1                        |

# the claim has an address
.4 Node/n/a if=eth1            | .3 Node/n/b if=eth2                        |
.2 Node/n/a if=eth2            | .3 Node/n/b if=eth1                        |
.4 Node/n/a if=eth1 releasing  | .3 Node/n/a if=eth1                        | yes
`);

describe("forgetting", () => {
  const line = lineOf("10.0.0.2 Node/n/a if=eth1");
  it.each(table.map((row) => [row.title, row] as const))("%s", (_, { cell }) => {
    const assign = cell("given").map((text) => lineOf(spelt(text)));
    const plan = { ...noChanges, assign, set: "default", pools: [], base: new Map() };
    const record = recordOf(cell("record").map(spelt), []);
    expect(forgetting(plan, record, () => false)(line)).toBe(cell("forgotten").includes("yes"));
  });

  it("an address that another claim gets, where a template names the NICs, is forgotten", () => {
    const assign = [lineOf("10.0.0.2 Node/n/b"), lineOf("10.0.0.3 Node/n/a")];
    const plan = { ...noChanges, assign, set: "default", pools: [], base: new Map() };
    expect(forgetting(plan, recordOf([], []), () => false)(lineOf("10.0.0.2 Node/n/a"))).toBe(true);
  });

  it("what was given up in good order is forgotten where the claim itself or its NIC gets another address", () => {
    const gets = (text: string) => {
      const plan = { ...noChanges, assign: [lineOf(text)], set: "default", pools: [], base: new Map() };
      return forgetting(plan, recordOf([], []), () => true)(line);
    };
    expect(gets("10.0.0.3 Node/n/a if=eth1")).toBe(true);
    expect(gets("10.0.0.3 Node/n/b if=eth1")).toBe(true);
    expect(gets("10.0.0.3 Node/n/b if=eth2")).toBe(false);
    expect(gets("10.0.0.2 Node/m/a if=eth1")).toBe(false);
  });
});
