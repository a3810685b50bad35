import { expect, it } from "vitest";
import { givenAway } from "../../../cli/given-away.ts";
import type { Snapshot } from "../../../core/allocation.ts";
import type { LockStep } from "../../../state/lock-history.ts";
import { tableOf } from "../../support/core/table.ts";
import { recordOf, spelt } from "../../support/core/text.ts";

// n/a had .2 in an earlier version. `next` is what followed it; where that is empty, the lock as it is now followed.
const ofCommit = tableOf(`
next                              | now                               | older        | given away
----------------------------------+-----------------------------------+--------------+-----------
                                  | .2 Node/n/a                       |              |
                                  | .2 Node/n/b ; .3 Node/n/a         |              |
                                  | .3 Node/n/a                       |              |
                                  | .2 Node/m/a                       |              |
                                  | .2 Node/m/a ; .3 Node/n/a         |              | yes
                                  | .2 Node/m/a ; .3 Node/n/a         | .2 Node/m/a  |
                                  | .2 Node/m/a ; .3 Node/n/b         |              |
                                  | .2 Node/m/a ; .3 Node/n/a pool=q  |              |
                                  | .2 Node/n/a releasing ; .3 Node/n/a |            |
.2 Node/m/a ; .3 Node/n/a         | .2 Node/m/a ; .3 Node/n/a         |              | yes
.2 Node/m/a ; .3 Node/n/a         | .2 Node/k/a ; .3 Node/n/a         |              | yes
.2 Node/m/a ; .3 Node/n/a         | .2 Node/n/a ; .3 Node/m/a         |              |
.2 Node/m/a ; .3 Node/n/a         | .3 Node/n/a                       |              |
.2 Node/m/a                       | .2 Node/m/a ; .3 Node/n/a         |              |
.2 Node/n/a releasing ; .3 Node/n/a | .2 Node/m/a ; .3 Node/n/a       |              |
`);

// The same of a merge, whose side on the main branch had the line. `other` is what the other side had.
const ofMerge = tableOf(`
base          | other                      | next                       | now                        | given away
--------------+----------------------------+----------------------------+----------------------------+-----------
              | .2 Node/m/a                | .2 Node/m/a                | .2 Node/m/a                | yes
              | .2 Node/m/a                |                            |                            | yes
              | .2 Node/m/a                | .2 Node/m/a                | .2 Node/m/a ; .3 Node/n/a  |
              | .2 Node/m/a                | .2 Node/m/a                | .2 Node/m/a ; .3 Node/n/a releasing |
              | .2 Node/m/a                | .2 Node/m/a                | .2 Node/n/a                |
              | .2 Node/m/a                | .2 Node/n/a ; .3 Node/m/a  | .2 Node/n/a ; .3 Node/m/a  |
              | .2 Node/m/a ; .3 Node/n/a  | .2 Node/m/a ; .3 Node/n/a  | .2 Node/m/a ; .3 Node/n/a  | yes
              | .4 Node/m/a                | .2 Node/k/a ; .4 Node/m/a  | .2 Node/k/a ; .4 Node/m/a  |
.2 Node/n/a   | .2 Node/m/a                | .2 Node/m/a                | .2 Node/m/a                |
.2 Node/k/a   | .2 Node/m/a                | .2 Node/m/a                | .2 Node/m/a                | yes
`);

const read = (lines: readonly string[]) => recordOf(lines.map(spelt), []);
const record = read([".2 Node/n/a"]);

it.each(ofCommit.map((row) => [row.title, row] as const))("an edit or a commit: %s", (_, { cell }) => {
  const from = { revision: "c^", before: record };
  const commit = { kind: "commit", commit: "c", ...from, after: read(cell("next")) } as const;
  const steps: LockStep[] = [
    cell("next").length === 0 ? { kind: "edit", ...from } : commit,
    { kind: "side", revision: "old", before: read(cell("older")) },
  ];
  expect(givenAway(read(cell("now")), steps)).toHaveLength(cell("given away").length);
});

it.each(ofMerge.map((row) => [row.title, row] as const))("a merge: %s", (_, { cell }) => {
  const given = (hadLanded: boolean) => {
    const [after, base, other] = ["next", "base", "other"].map((name) => read(cell(name))) as [
      Snapshot,
      Snapshot,
      Snapshot,
    ];
    const from = { revision: "m^1", before: record, commit: "m", after };
    return givenAway(read(cell("now")), [{ kind: "merge", ...from, base, others: [other], hadLanded }]);
  };
  expect(given(true)).toHaveLength(cell("given away").length);
  expect(given(false)).toEqual([]);
});
