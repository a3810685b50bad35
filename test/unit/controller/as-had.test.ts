import { expect, it } from "vitest";
import { asHad } from "../../../controller/allocate/contested-lines.ts";
import { type Allocation, emptySnapshot, formatBlock, ownerOfKey, parseBlock, unwrap } from "../../../core/index.ts";

function line(node: string, block: string): Allocation {
  return { ...unwrap(parseBlock(block)), pool: "net", claim: `Node/${node}/net`, set: "cluster" };
}

/** What is listed of a record with the slice of node `old`, which node `new` has by now. */
function listed(old: string, has: string, others: readonly Allocation[]) {
  const contested = { use: { ...unwrap(parseBlock(has)), owner: "Node/new", at: { file: "", line: 0, column: 0 } } };
  const releasing = line("old", old);
  const record = { ...emptySnapshot, allocations: others, releasing: [releasing] };
  const { allocations, releasing: left } = asHad(record, [{ ...contested, line: releasing }]);
  return [...allocations, ...left].map((one) => `${ownerOfKey(one.claim)} ${formatBlock(one)}`);
}

// Seen in seed 90111 of the slices' simulator: two nodes were listed with one slice.
it.each([
  ["of the same size", "10.5.0.128/26", "10.5.0.128/26", [], ["Node/new 10.5.0.128/26"]],
  ["of another size", "10.5.0.128/26", "10.5.0.128/27", [], ["Node/new 10.5.0.128/27"]],
  [
    "beside another one's",
    "10.5.0.128/26",
    "10.5.0.128/27",
    ["10.5.0.192/26"],
    ["Node/new 10.5.0.128/27", "Node/n0 10.5.0.192/26"],
  ],
  [
    "that another one has a part of",
    "10.5.0.128/27",
    "10.5.0.128/26",
    ["10.5.0.160/27"],
    ["Node/n0 10.5.0.160/27", "Node/old 10.5.0.128/27"],
  ],
])("a block that a node has by now, %s, is listed as it has it, or not at all", (_, old, has, others, expected) => {
  expect(
    listed(
      old,
      has,
      others.map((block, i) => line(`n${i}`, block)),
    ),
  ).toEqual(expected);
});
