import { type Allocation, claimInSet, ownerInPool, type Plan, placeOf, type Snapshot } from "../../core/index.ts";

/**
 * Is a line of another version of the record forgotten by the present one: would its owner get an address of the pool by
 * this plan, and not have that of the line any more, or get it for another NIC? The claim may be called otherwise by now.
 * What was given up in good order (`isGivenUp`) is forgotten only where its claim or its NIC gets another address. And what
 * nobody gave up is where the plan gives it to another owner.
 */
export function forgetting(
  { assign }: Plan,
  present: Snapshot,
  isGivenUp: (line: Allocation) => boolean,
): (line: Allocation) => boolean {
  const owners = new Set(assign.map(ownerInPool));
  const taken = new Set(assign.map(placeOf));
  const nics = new Set(assign.map(nicOf));
  const fresh = new Set(assign.map(claimInSet));
  const now = [...present.allocations, ...present.releasing].filter((line) => owners.has(ownerInPool(line)));
  const held = new Map([...now, ...assign].map((line) => [placeOfOwner(line), line]));
  const known = new Set(now.map(claimInSet));
  return (line) => {
    if (!owners.has(ownerInPool(line))) return taken.has(placeOf(line)) && !isGivenUp(line);
    const holder = held.get(placeOfOwner(line));
    const claim = claimInSet(line);
    const other = holder && claimInSet(holder);
    if (other === claim) return false;
    const isOnNic = holder !== undefined && nicOf(holder) === nicOf(line);
    // NICs that a template names are not told apart.
    if (fresh.has(claim)) return !isOnNic || line.interface === undefined;
    const isRenamed = other !== undefined && !fresh.has(other);
    return !(isOnNic || isRenamed || known.has(claim)) && (nics.has(nicOf(line)) || !isGivenUp(line));
  };
}

function nicOf(line: Allocation): string {
  return `${ownerInPool(line)} ${line.interface}`;
}

/** Who has an address, whatever the claim is called. */
export function placeOfOwner(line: Allocation): string {
  return `${line.address} ${ownerInPool(line)}`;
}

/** The same, on which NIC. */
export function placeOfNic(line: Allocation): string {
  return `${line.address} ${nicOf(line)}`;
}
