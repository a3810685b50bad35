import { expect, it } from "vitest";
import { LinesByOwner } from "../../../controller/record/lines-by-owner.ts";
import { type Allocation, ownerOfKey, type Snapshot } from "../../../core/index.ts";
import { recordOf, textOf } from "../../support/core/text.ts";
import { seeded } from "../../support/seeded.ts";

const owners = ["Node/a", "Node/b", "Node/c"];
const random = seeded(1);
const oneOf = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T;

/** At each address of two pools nothing, or a live line, or a releasing one, of somebody. */
function anyRecord(): Snapshot {
  const lines = [1, 2, 3, 4].flatMap((last) =>
    ["p", "q"].flatMap((pool) =>
      random() < 0.4 ? [] : `10.0.0.${last} ${oneOf(owners)}/x pool=${pool}${oneOf(["", " releasing"])}`,
    ),
  );
  return recordOf(lines, []);
}

/** Some of its lines are other objects that say the same, as after a read. */
function readAgain({ allocations, ...rest }: Snapshot): Snapshot {
  return { ...rest, allocations: allocations.map((line) => (random() < 0.5 ? line : { ...line })) };
}

const texts = ({ allocations, releasing }: Pick<Snapshot, "allocations" | "releasing">, owner?: string) => {
  const isMeant = ({ claim }: Allocation) => owner === undefined || ownerOfKey(claim) === owner;
  const of = (lines: readonly Allocation[], word: string) => lines.filter(isMeant).map((line) => textOf(line) + word);
  return [...of(allocations, ""), ...of(releasing, " releasing")].sort();
};

it("has the lines of each owner, whatever the record becomes, and names those whose lines are not the same", () => {
  const lines = new LinesByOwner();
  for (let before = lines.record, i = 0; i < 500; i++) {
    const record = random() < 0.2 ? readAgain(before) : anyRecord();
    const changed = new Set([...lines.follow(record)].map(ownerOfKey));
    for (const owner of owners) {
      expect(texts(lines.of(owner))).toEqual(texts(record, owner));
      expect(changed.has(owner)).toBe(`${texts(before, owner)}` !== `${texts(record, owner)}`);
      for (const line of lines.of(owner).allocations) expect(record.allocations).toContain(line);
    }
    before = record;
  }
});
