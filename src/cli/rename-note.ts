import { type Allocation, ownerOfKey, type Plan, parseOwner, type Snapshot } from "../core/index.ts";

const most = 3;

/** Asks whether nodes that come are those that go, where there are as many of both: a rename that nobody declared. */
export function renameNote(made: Plan, { allocations }: Snapshot, before: string): string[] {
  const kept = made.keep.flatMap(({ allocation, releasing }) => (releasing ? [] : [allocation]));
  const stays = nodesOf([...kept, ...made.assign]);
  const gone = [...nodesOf(made.release.map(({ allocation }) => allocation))].filter((node) => !stays.has(node));
  const known = nodesOf(allocations);
  const fresh = [...nodesOf(made.assign)].filter((node) => !known.has(node) && !nodesOf(kept).has(node));
  if (gone.length === 0 || gone.length !== fresh.length || gone.length > most) return [];
  const isOne = gone.length === 1;
  const command = isOne ? `nodeippool mv Node/${gone} Node/${fresh}` : "nodeippool mv Node/OLD Node/NEW for each";
  return [
    `Note: if ${gone.join(", ")} ${isOne ? "was" : "were"} renamed to ${fresh.join(", ")}, ${before}: ${command}`,
  ];
}

function nodesOf(lines: readonly Allocation[]): Set<string> {
  const owners = lines.map(({ claim }) => parseOwner(ownerOfKey(claim)).value);
  return new Set(owners.flatMap((owner) => (owner?.kind === "Node" ? owner.name : [])));
}
