import { type Allocation, identityOf, ownerOfKey, type Plan, type Snapshot } from "../core/index.ts";

/**
 * Is a line of another version of the record forgotten by the present one: would its owner get another address of the pool
 * by this plan, and not have that one any more, or have it elsewhere? The claim that gets one may be called otherwise by now;
 * then a line is not forgotten whose own claim has an address all the same, nor one that was given up in good order.
 */
export function forgetting(
  { assign }: Plan,
  present: Snapshot,
  isGivenUp: (line: Allocation) => boolean,
): (line: Allocation) => boolean {
  const owners = new Set(assign.map(ownerIn));
  const now = [...present.allocations, ...present.releasing].filter((line) => owners.has(ownerIn(line)));
  const held = new Map([...now, ...assign].map((line) => [placeOfOwner(line), line]));
  const fresh = new Set(assign.map(claimOf));
  const kept = new Set(now.map(claimOf));
  return (line) => {
    if (!owners.has(ownerIn(line))) return false;
    const claim = claimOf(line);
    const holder = held.get(placeOfOwner(line));
    if (holder !== undefined && (holder.interface === line.interface || claimOf(holder) === claim)) return false;
    if (fresh.has(claim)) return true;
    const isRenamed = holder !== undefined && !fresh.has(claimOf(holder));
    return !(isRenamed || kept.has(claim) || isGivenUp(line));
  };
}

function claimOf(line: Allocation): string {
  return `${line.set} ${identityOf(line)}`;
}

function ownerIn({ pool, claim }: Allocation): string {
  return `${pool} ${ownerOfKey(claim)}`;
}

/** Who has an address, whatever the claim is called. */
export function placeOfOwner(line: Allocation): string {
  return `${line.address} ${ownerIn(line)}`;
}
