import { describe, expect, it } from "vitest";
import { plan } from "../../../core/plan/plan.ts";
import type { ReservationSpec } from "../../../core/pool-spec.ts";
import { tableOf } from "../../support/core/table.ts";
import { claimOf, poolOf, recordOf, shown, spelt } from "../../support/core/text.ts";

// A reservation is an address, then its owner, then the name of the owner's claim.
const table = tableOf(`
reservations        | record        | claims                       | want
--------------------+---------------+------------------------------+--------------------------------------------------
.3 Node/n           |               | Node/n/a                     | assign .3 Node/n/a
.3 Node/n a         |               | Node/n/a ; Node/n/b          | assign .1 Node/n/b ; assign .3 Node/n/a
.3 Node/n a ; .5 Node/n b |         | Node/n/a ; Node/n/b          | assign .3 Node/n/a ; assign .5 Node/n/b
.3 VM/ns:v          |               | VM/ns:v/a ; VM/other:v/a     | assign .1 VM/other:v/a ; assign .3 VM/ns:v/a
.3                  |               | Node/n/a wanted=.3           | out-of-range Node/n/a

# the claim's own wish comes first
.3 Node/n           |               | Node/n/a wanted=.4           | assign .4 Node/n/a

# the one that names the claim comes before the one that names the owner alone, in either order
.3 Node/n a ; .5 Node/n |           | Node/n/a ; Node/n/b          | assign .3 Node/n/a ; assign .5 Node/n/b
.5 Node/n ; .3 Node/n a |           | Node/n/a ; Node/n/b          | assign .3 Node/n/a ; assign .5 Node/n/b

# nobody else gets it: not by chance, not by asking for it
.1 Node/n ; .2      |               | Node/m/a ; Node/m/b          | assign .3 Node/m/a ; assign .4 Node/m/b
.3 Node/n           |               | Node/m/a wanted=.3           | out-of-range Node/m/a
.3 Node/n           |               | Node/m/a wanted=.3 ; Node/n/a | assign .3 Node/n/a ; out-of-range Node/m/a

# who holds an address when it becomes reserved for another one keeps it
.3 Node/n           | .3 Node/m/a   | Node/m/a ; Node/n/a          | in-use Node/n/a ; keep .3 Node/m/a
.3                  | .3 Node/m/a   | Node/m/a                     | in-use Node/m/a
.3 Node/n           | .5 Node/n/a   | Node/n/a                     | in-use Node/n/a
.3 Node/n           | .3 Node/n/a   | Node/n/a                     | keep .3 Node/n/a

# who comes back to an address that was reserved for another one meanwhile gets another one
.3 VM/ns:v          | .3 Node/m/a releasing | Node/m/a             | assign .1 Node/m/a
.3 Node/n           | .3 Node/m/a releasing | Node/m/a ; Node/n/a  | assign .1 Node/m/a ; in-use Node/n/a
.3 Node/n           | .3 Node/m/a releasing | Node/m/a wanted=.3   | out-of-range Node/m/a
.3 Node/m           | .3 Node/m/a releasing | Node/m/a             | keep .3 Node/m/a, was .3 Node/m/a
.3 Node/m b         | .3 Node/m/a releasing | Node/m/a             | keep .3 Node/m/a, was .3 Node/m/a

# who has an address stays there until what is reserved for its owner is free: another claim of the owner had that one
.3 Node/n           | .3 Node/n/b ; .5 Node/n/a | Node/n/a         | keep .5 Node/n/a ; releasing .3 Node/n/b
.3 Node/n           | .3 Node/n/b releasing ; .5 Node/n/a | Node/n/a | keep .5 Node/n/a

# what was imported, and is reserved for another claim, is adopted by that one alone
.3 Node/n b         | .3 Node/n/imported/x set=imported if=eth0 | Node/n/a | assign .1 Node/n/a
.3 Node/n b         | .3 Node/n/imported/x set=imported | Node/n/a ; Node/n/b | assign .1 Node/n/a ; keep .3 Node/n/b, was .3 Node/n/imported/x set=imported
`);

it("a reservation for an owner serves one of its claims; the next is told how to say which", () => {
  const reservations = [{ address: "10.0.0.3", owner: "Node/n" }];
  const pools = [poolOf("p", "10.0.0.0/29", { reservations })];
  const claims = [claimOf("Node/n/a"), claimOf("Node/n/b")];
  const { assign, pending } = plan({ pools, claims, snapshot: recordOf([], pools) });
  expect(assign.map(({ claim }) => claim)).toEqual(["Node/n/a"]);
  expect(pending).toMatchObject([
    { code: "in-use", hint: expect.stringContaining("a reservation may say for which claim") },
  ]);
});

describe("plan of a pool with reservations", () => {
  it.each(table.map((row) => [row.title, row] as const))("%s", (_, { cell }) => {
    const reservations = cell("reservations").map((text): ReservationSpec => {
      const [address = "", owner, claim] = spelt(text).split(" ");
      return { address, ...(owner === undefined ? {} : { owner }), ...(claim === undefined ? {} : { claim }) };
    });
    const pools = [poolOf("p", "10.0.0.0/29", { reservations })];
    const snapshot = recordOf(cell("record").map(spelt), pools);
    const claims = cell("claims").map((text) => claimOf(spelt(text)));
    expect(shown(plan({ pools, claims, snapshot }))).toEqual(cell("want").map(spelt));
  });
});
