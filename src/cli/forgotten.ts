import { type Allocation, identityOf, ownerOfKey, type Plan, type Snapshot } from "../core/index.ts";

/**
 * Is a line of another version of the record forgotten by the present one: would its owner get an address of the pool by
 * this plan, and not have that of the line any more, or get it for another NIC? The claim may be called otherwise by now. What was given
 * up in good order (`isGivenUp`) is forgotten only where its claim or its NIC gets another address.
 */
export function forgetting(
  { assign }: Plan,
  present: Snapshot,
  isGivenUp: (line: Allocation) => boolean,
): (line: Allocation) => boolean {
  const owners = new Set(assign.map(ownerIn));
  const nics = new Set(assign.map(nicOf));
  const fresh = new Set(assign.map(claimOf));
  const given = new Map(assign.map((line) => [placeOfOwner(line), line]));
  const now = [...present.allocations, ...present.releasing].filter((line) => owners.has(ownerIn(line)));
  const held = new Set(now.map(placeOfOwner));
  const known = new Set(now.map(claimOf));
  return (line) => {
    if (!owners.has(ownerIn(line)) || held.has(placeOfOwner(line))) return false;
    const [claim, nic] = [claimOf(line), nicOf(line)];
    const again = given.get(placeOfOwner(line));
    if (again !== undefined && (claimOf(again) === claim || nicOf(again) === nic)) return false;
    if (fresh.has(claim)) return true;
    return !known.has(claim) && (nics.has(nic) || !isGivenUp(line));
  };
}

function claimOf(line: Allocation): string {
  return `${line.set} ${identityOf(line)}`;
}

function ownerIn({ pool, claim }: Allocation): string {
  return `${pool} ${ownerOfKey(claim)}`;
}

function nicOf(line: Allocation): string {
  return `${ownerIn(line)} ${line.interface}`;
}

/** Who has an address, whatever the claim is called. */
export function placeOfOwner(line: Allocation): string {
  return `${line.address} ${ownerIn(line)}`;
}
