import { describe, expect, it } from "vitest";
import { isNoop, plan } from "../../../core/plan/plan.ts";
import { apply } from "../../support/core/apply.ts";
import { tableOf } from "../../support/core/table.ts";
import { claimOf, poolOf, recordOf, shown, spelt } from "../../support/core/text.ts";

const full = poolOf("p", "10.0.0.0/29"); // .1 to .6
const small = poolOf("p", "10.0.0.0/29 10.0.0.1 10.0.0.2");

// The truth table at the head of core/plan-pool.ts, row by row. `with`: move = allowMove, small = the small pool.
const table = tableOf(`
record                           | claims                   | with  | want
---------------------------------+--------------------------+-------+---------------------------------------------
# live, other set
.2 Node/n/a set=b                | Node/n/a                 |       | in-use Node/n/a
.2 Node/n/a set=b                | Node/n/a                 | move  | in-use Node/n/a
.2 Node/n/a set=b                | Node/n/a                 | set=b | keep .2 Node/n/a set=b
.4 Node/n/a set=b ; .2 Node/n/a releasing | Node/n/a wanted=.2 | move | in-use Node/n/a
.1 Node/n/a set=b                | Node/m/a                 |       | assign .2 Node/m/a
.1 Node/n/a set=b releasing      | Node/m/a                 |       | assign .2 Node/m/a

# live, other uid
.2 VM/ns:v/a uid=1               | VM/ns:v/a uid=2          |       | in-use VM/ns:v/a
.2 VM/ns:v/a uid=1               | VM/ns:v/a uid=2          | move  | in-use VM/ns:v/a
.4 VM/ns:v/a uid=1 ; .2 VM/ns:v/a uid=2 releasing | VM/ns:v/a uid=2 wanted=.2 | move | in-use VM/ns:v/a
.2 VM/ns:v/a uid=1               | VM/ns:v/a uid=1          |       | keep .2 VM/ns:v/a uid=1
.2 VM/ns:v/a                     | VM/ns:v/a uid=2          |       | keep .2 VM/ns:v/a uid=2, was .2 VM/ns:v/a
.2 Node/n/a uid=1                | Node/n/a uid=2           |       | keep .2 Node/n/a uid=2, was .2 Node/n/a uid=1

# live, as wanted, assignable
.2 Node/n/a                      | Node/n/a                 |       | keep .2 Node/n/a
.2 Node/n/a                      | Node/n/a wanted=.2       |       | keep .2 Node/n/a
.2 Node/n/a                      | Node/n/a                 | move  | keep .2 Node/n/a
.2 Node/n/a if=eth1              | Node/n/a if=eth2         |       | keep .2 Node/n/a if=eth2, was .2 Node/n/a if=eth1
.5 Node/n/a                      | Node/m/a ; Node/n/a      |       | assign .1 Node/m/a ; keep .5 Node/n/a

# live, other
.2 Node/n/a                      | Node/n/a wanted=.3       |       | in-use Node/n/a
.2 Node/n/a                      | Node/n/a wanted=.3       | move  | assign .3 Node/n/a ; releasing .2 Node/n/a
.3 Node/n/a                      | Node/n/a                 | small | in-use Node/n/a
.3 Node/n/a                      | Node/n/a                 | small ; move | assign .1 Node/n/a ; releasing .3 Node/n/a

# releasing, as wanted, assignable
.2 Node/n/a releasing            | Node/n/a                 |       | keep .2 Node/n/a, was .2 Node/n/a
.2 Node/n/a releasing            | Node/n/a wanted=.2       |       | keep .2 Node/n/a, was .2 Node/n/a
.2 Node/n/a releasing ; .4 Node/n/a releasing | Node/n/a wanted=.2 | | keep .2 Node/n/a, was .2 Node/n/a
.2 Node/n/a releasing ; .4 Node/n/a releasing | Node/n/a wanted=.4 | | keep .4 Node/n/a, was .4 Node/n/a
.2 Node/n/a releasing ; .4 Node/n/a releasing | Node/n/a | small    | keep .2 Node/n/a, was .2 Node/n/a
.2 Node/n/a releasing ; .4 Node/n/a | Node/n/a wanted=.2 | move  | keep .2 Node/n/a, was .2 Node/n/a ; releasing .4 Node/n/a

# releasing, other
.2 Node/n/a releasing            | Node/n/a wanted=.3       |       | assign .3 Node/n/a
.3 Node/n/a releasing            | Node/n/a                 | small | assign .1 Node/n/a
.1 Node/n/a set=b releasing      | Node/n/a                 |       | in-use Node/n/a
.1 Node/n/a set=b releasing      | Node/n/a                 | move  | in-use Node/n/a
.1 Node/n/a set=b releasing      | Node/n/a                 | set=b | keep .1 Node/n/a set=b, was .1 Node/n/a set=b
.1 Node/n/a set=b releasing      | Node/n/a wanted=.3       |       | in-use Node/n/a
.1 Node/n/a set=b releasing ; .2 Node/n/a releasing | Node/n/a | | keep .2 Node/n/a, was .2 Node/n/a
.1 Node/n/a set=b releasing ; .2 Node/n/a | Node/n/a           |       | keep .2 Node/n/a
.1 VM/ns:v/a set=b uid=1 releasing | VM/ns:v/a uid=2           |       | assign .2 VM/ns:v/a uid=2
.2 Node/n/imported/x set=imported if=eth1 | Node/n/a if=eth1     |       | keep .2 Node/n/a if=eth1, was .2 Node/n/imported/x set=imported if=eth1
.2 Node/n/imported/x set=imported if=eth1 | Node/n/a if=eth2     |       | assign .1 Node/n/a if=eth2
.2 Node/n/imported/x set=imported if=eth1 ; .3 Node/n/imported/y set=imported if=eth1 | Node/n/a if=eth1 | | in-use Node/n/a
.2 Node/n/imported/x set=imported if=eth1 ; .3 Node/n/imported/y set=imported if=eth1 | Node/n/a if=eth1 wanted=.3 | | keep .3 Node/n/a if=eth1, was .3 Node/n/imported/y set=imported if=eth1
.2 Node/n/imported/x set=imported if=eth1 ; .3 Node/n/imported/y set=imported if=eth1 | Node/n/a if=eth1 ; Node/n/b if=eth1 | | keep .2 Node/n/a if=eth1, was .2 Node/n/imported/x set=imported if=eth1 ; keep .3 Node/n/b if=eth1, was .3 Node/n/imported/y set=imported if=eth1

# imported: which of several claims is meant
.3 Node/n/lan set=imported | Node/n/a if=eth1 ; Node/m/a if=eth2 | | assign .1 Node/m/a if=eth2 ; keep .3 Node/n/a if=eth1, was .3 Node/n/lan set=imported
.3 Node/n/lan set=imported | Node/n/a if=eth1 ; Node/n/b if=eth1 | | assign .1 Node/n/b if=eth1 ; keep .3 Node/n/a if=eth1, was .3 Node/n/lan set=imported
.3 Node/n/lan set=imported | Node/n/a if=eth1 ; Node/n/b if=eth2 | | in-use Node/n/a ; in-use Node/n/b
.3 Node/n/lan set=imported | Node/n/a if=eth1 ; Node/n/b if=eth2 | move | in-use Node/n/a ; in-use Node/n/b
.3 Node/n/lan set=imported | Node/n/a if=eth1 ; Node/n/b if=eth2 wanted=.3 | | assign .1 Node/n/a if=eth1 ; keep .3 Node/n/b if=eth2, was .3 Node/n/lan set=imported
.3 Node/n/lan set=imported | Node/n/a if=eth1 ; Node/n/b if=eth2 wanted=.4 | | assign .4 Node/n/b if=eth2 ; in-use Node/n/a
.3 Node/n/lan set=imported | Node/n/a ; Node/n/b wanted=.3 | | assign .1 Node/n/a ; keep .3 Node/n/b, was .3 Node/n/lan set=imported
.3 Node/n/lan set=imported | Node/n/a wanted=.3 ; Node/n/b wanted=.3 | | in-use Node/n/b ; keep .3 Node/n/a, was .3 Node/n/lan set=imported
.3 Node/n/lan set=imported ; .2 Node/n/a if=eth1 | Node/n/a if=eth1 ; Node/n/b if=eth2 | | in-use Node/n/b ; keep .2 Node/n/a if=eth1
.3 Node/n/lan set=imported ; .1 Node/n/a if=eth1 ; .2 Node/n/b if=eth2 | Node/n/c if=eth1 ; Node/n/d if=eth2 | | in-use Node/n/c ; in-use Node/n/d ; keep .1 Node/n/a if=eth1 ; keep .2 Node/n/b if=eth2
.2 Node/n/imported/x set=imported if=eth0 | Node/n/a if=eth1 wanted=.2 | | in-use Node/n/a
.2 Node/n/imported/x set=imported if=eth0 | Node/n/a wanted=.2 | | keep .2 Node/n/a, was .2 Node/n/imported/x set=imported if=eth0
.3 Node/n/lan set=imported ; .2 Node/n/imported/x set=imported if=eth2 | Node/n/a if=eth1 ; Node/n/b if=eth2 | | in-use Node/n/a ; keep .2 Node/n/b if=eth2, was .2 Node/n/imported/x set=imported if=eth2
.2 Node/n/imported/x set=imported if=eth1 | Node/n/a if=eth1 ; Node/n/b if=eth1 wanted=.2 | | assign .1 Node/n/a if=eth1 ; keep .2 Node/n/b if=eth1, was .2 Node/n/imported/x set=imported if=eth1
.2 Node/n/imported/x set=imported if=eth2 | Node/n/a if=eth1 wanted=.2 ; Node/n/b if=eth2 | | assign .1 Node/n/b if=eth2 ; in-use Node/n/a
# imported, its own, other
.3 Node/n/imported/x set=imported if=eth1 | Node/n/a if=eth1 | small | in-use Node/n/a
.3 Node/n/imported/x set=imported if=eth1 | Node/n/a if=eth1 | small ; move | assign .1 Node/n/a if=eth1
.3 Node/n/imported/x set=imported if=eth1 | Node/n/a if=eth1 wanted=.1 | small | in-use Node/n/a
.3 Node/n/imported/x set=imported if=eth2 | Node/n/a if=eth1 | small | assign .1 Node/n/a if=eth1
.3 Node/n/imported/x set=imported if=eth1 | Node/m/a if=eth1 | small | assign .1 Node/m/a if=eth1
.3 Node/n/lan set=imported | Node/n/a if=eth1 | small | in-use Node/n/a
.3 Node/n/lan set=imported | Node/n/a if=eth1 ; Node/n/b if=eth2 | small | in-use Node/n/a ; in-use Node/n/b
.3 Node/n/lan set=imported | Node/n/a if=eth1 ; Node/n/b if=eth2 | small ; move | assign .1 Node/n/a if=eth1 ; assign .2 Node/n/b if=eth2
.3 Node/n/lan set=imported | Node/n/a if=eth1 ; Node/n/b if=eth2 wanted=.1 | small | assign .1 Node/n/b if=eth2 ; in-use Node/n/a
.3 Node/n/imported/x set=imported if=eth1 ; .4 Node/n/imported/y set=imported if=eth1 | Node/n/a | small | in-use Node/n/a
.3 Node/n/imported/x set=imported if=eth1 | Node/n/a ; Node/n/b | small | in-use Node/n/a ; in-use Node/n/b
.3 Node/n/imported/x set=imported if=eth1 ; .2 Node/n/a if=eth1 | Node/n/b if=eth1 | small | in-use Node/n/b ; keep .2 Node/n/a if=eth1
.2 Node/n/imported/x set=imported if=eth2 | Node/n/a if=eth1 wanted=.2 ; Node/n/b if=eth2 wanted=.2 | | in-use Node/n/a ; keep .2 Node/n/b if=eth2, was .2 Node/n/imported/x set=imported if=eth2
.2 Node/n/imported/x set=imported if=eth1 | Node/n/a if=eth1 wanted=.4 | | in-use Node/n/a
.2 Node/n/imported/x set=imported if=eth1 | Node/n/a if=eth1 wanted=.4 | move | assign .4 Node/n/a if=eth1
.2 Node/n/imported/x set=imported if=eth1 | Node/n/a wanted=.4 | | in-use Node/n/a
.2 Node/n/imported/x set=imported if=eth1 | Node/n/a if=eth1 ; Node/n/b if=eth1 wanted=.4 | | assign .4 Node/n/b if=eth1 ; keep .2 Node/n/a if=eth1, was .2 Node/n/imported/x set=imported if=eth1
.2 Node/n/imported/x set=imported if=eth1 ; .3 Node/n/imported/y set=imported if=eth1 | Node/n/a if=eth1 | small | keep .2 Node/n/a if=eth1, was .2 Node/n/imported/x set=imported if=eth1
.2 Node/n/imported/x set=imported if=eth1 ; .3 Node/n/imported/y set=imported if=eth1 | Node/n/a if=eth1 ; Node/n/b if=eth1 | small | in-use Node/n/b ; keep .2 Node/n/a if=eth1, was .2 Node/n/imported/x set=imported if=eth1
.2 Node/n/imported/x set=imported if=eth1 ; .3 Node/n/imported/y set=imported if=eth2 | Node/n/a | small | keep .2 Node/n/a, was .2 Node/n/imported/x set=imported if=eth1

# imported: claims whose NIC is not known
.2 Node/n/imported/x set=imported if=eth1 | Node/n/a | | keep .2 Node/n/a, was .2 Node/n/imported/x set=imported if=eth1
.3 Node/n/lan set=imported                | Node/n/a | | keep .3 Node/n/a, was .3 Node/n/lan set=imported
.3 Node/n/imported/x set=imported if=eth1 | Node/n/a | small | in-use Node/n/a
.2 Node/n/imported/x set=imported if=eth1 | Node/n/a ; Node/n/b if=eth1 | | assign .1 Node/n/a ; keep .2 Node/n/b if=eth1, was .2 Node/n/imported/x set=imported if=eth1
.2 Node/n/imported/x set=imported if=eth2 | Node/n/a ; Node/n/b if=eth1 | | assign .1 Node/n/b if=eth1 ; keep .2 Node/n/a, was .2 Node/n/imported/x set=imported if=eth2
.3 Node/n/lan set=imported                | Node/n/a ; Node/n/b if=eth1 | | in-use Node/n/a ; in-use Node/n/b
.2 Node/n/imported/x set=imported if=eth1 | Node/n/a ; Node/n/b | | in-use Node/n/a ; in-use Node/n/b
.2 Node/n/imported/x set=imported if=eth1 ; .3 Node/n/imported/y set=imported if=eth2 | Node/n/a | | in-use Node/n/a
.2 Node/n/imported/x set=imported if=eth1 ; .3 Node/n/imported/y set=imported if=eth2 | Node/n/a wanted=.3 | | keep .3 Node/n/a, was .3 Node/n/imported/y set=imported if=eth2
# neither
.2 VM/ns:v/a uid=1 releasing     | VM/ns:v/a uid=2          |       | assign .1 VM/ns:v/a uid=2
.2 VM/ns:v/a uid=1 releasing     | VM/ns:v/a uid=2 wanted=.2 |      | in-use VM/ns:v/a
.1 Node/n/a releasing            | Node/m/a                 |       | assign .2 Node/m/a

# none
                                 |                          |       |
                                 | Node/n/b ; Node/n/B ; Node/m/c ; Node/n/a | | assign .1 Node/m/c ; assign .2 Node/n/B ; assign .3 Node/n/a ; assign .4 Node/n/b
                                 | VM/ns:v/a if=eth1 uid=7  |       | assign .1 VM/ns:v/a if=eth1 uid=7

# asks anew: its owner loses a line of this pool in this plan
.2 Node/n/a                      | Node/n/b                 |       | in-use Node/n/b ; keep .2 Node/n/a
.2 Node/n/a                      | Node/n/b wanted=.4       |       | in-use Node/n/b ; keep .2 Node/n/a
.2 Node/n/a                      | Node/n/b ; Node/n/c      |       | assign .1 Node/n/c ; in-use Node/n/b ; keep .2 Node/n/a
.2 Node/n/a                      | Node/n/b if=eth2 ; Node/n/c |    | assign .1 Node/n/b if=eth2 ; in-use Node/n/c ; keep .2 Node/n/a
.2 Node/n/a ; .4 Node/n/b        | Node/n/c                 |       | in-use Node/n/c ; keep .2 Node/n/a ; releasing .4 Node/n/b
.2 Node/n/a                      | Node/n/b                 | move  | assign .1 Node/n/b ; releasing .2 Node/n/a
.1 Node/n/a                      | Node/m/a                 |       | assign .2 Node/m/a ; releasing .1 Node/n/a
.1 VM/x:n/a                      | VM/y:n/a                 |       | assign .2 VM/y:n/a ; releasing .1 VM/x:n/a

# ... wanted
                                 | Node/n/a wanted=.4       |       | assign .4 Node/n/a
                                 | Node/n/a wanted=.3       | small | out-of-range Node/n/a
                                 | Node/n/a wanted=.7       |       | out-of-range Node/n/a
                                 | Node/n/a wanted=::1      |       | out-of-range Node/n/a
.4 Node/m/a                      | Node/m/a ; Node/n/a wanted=.4 |  | in-use Node/n/a ; keep .4 Node/m/a
.4 Node/m/a                      | Node/n/a wanted=.4       |       | in-use Node/n/a ; releasing .4 Node/m/a
.4 Node/m/a                      | Node/n/a wanted=.4       | move  | in-use Node/n/a ; releasing .4 Node/m/a
.4 Node/m/a releasing            | Node/n/a wanted=.4       |       | in-use Node/n/a
.4 Node/m/a set=b                | Node/n/a wanted=.4       |       | in-use Node/n/a
                                 | Node/n/b wanted=.4 ; Node/n/a wanted=.4 | | assign .4 Node/n/a ; in-use Node/n/b
                                 | Node/a/a ; Node/z/z wanted=.1 |  | assign .1 Node/z/z ; assign .2 Node/a/a

# ... any
.1 Node/m/a ; .3 Node/m/b set=b  | Node/m/a ; Node/n/a ; Node/n/b | | assign .2 Node/n/a ; assign .4 Node/n/b ; keep .1 Node/m/a
                                 | Node/n/a ; Node/n/b ; Node/n/c | small | assign .1 Node/n/a ; assign .2 Node/n/b ; exhausted Node/n/c
.1 Node/m/a releasing ; .2 Node/m/b | Node/n/a              | small | exhausted Node/n/a ; releasing .2 Node/m/b

# a line that no claim kept
.2 Node/n/a if=eth1 uid=7        |                          |       | releasing .2 Node/n/a if=eth1 uid=7
.2 Node/n/a releasing            |                          |       |
`);

const writes = (line: string) => /^(assign|releasing|free) |, was /.test(line);

describe("plan", () => {
  it.each(table.map((row) => [row.title, row] as const))("%s", (_, { cell }) => {
    const flags = cell("with");
    const pools = [flags.includes("small") ? small : full];
    const claims = cell("claims").map((text) => claimOf(spelt(text)));
    const set = flags.includes("set=b") ? { set: "b" } : {};
    const snapshot = recordOf(cell("record").map(spelt), pools);
    const want = cell("want").map(spelt);

    const made = plan({ pools, claims, snapshot, allowMove: flags.includes("move"), ...set });
    expect(shown(made)).toEqual(want);
    expect(isNoop(made)).toBe(!want.some(writes));

    const again = plan({ pools, claims, snapshot: apply(made, snapshot), allowMove: flags.includes("move"), ...set });
    expect(shown(again).filter(writes)).toEqual([]);
  });
});
