import { type Allocation, holdingOf, identityOf, ownerOfKey, type Plan, type Snapshot } from "../core/index.ts";

/**
 * Would this plan give the claim of a line, which another version of the record has, another address, and does the present
 * one forget that? The claim may be called otherwise by now: then its NIC tells, which gets an address, and lacks this one.
 */
export function forgetting({ assign }: Plan, present: Snapshot): (line: Allocation) => boolean {
  const now = [...present.allocations, ...present.releasing];
  const known = new Set(now.map(holdingOf));
  const claims = new Set(now.map(claimOf));
  const fresh = new Map(assign.map((line) => [claimOf(line), line.address]));
  const nics = new Set(assign.map(nicOf));
  const onNics = new Set([...now, ...assign].filter((line) => nics.has(nicOf(line))).map(placeOnNic));
  return (line) => {
    if (known.has(holdingOf(line))) return false;
    const address = fresh.get(claimOf(line));
    if (address !== undefined) return address !== line.address;
    if (claims.has(claimOf(line)) || line.interface === undefined) return false;
    return nics.has(nicOf(line)) && !onNics.has(placeOnNic(line));
  };
}

function claimOf(line: Allocation): string {
  return `${line.set} ${identityOf(line)}`;
}

function nicOf({ pool, claim, interface: nic }: Allocation): string {
  return `${pool} ${ownerOfKey(claim)} ${nic}`;
}

/** Where an address is: on which NIC, whatever the claim is called. */
export function placeOnNic(line: Allocation): string {
  return `${line.address} ${nicOf(line)}`;
}
