import { type Allocation, familyOf, ownerOfKey } from "../../core/index.ts";

/** What nmstate replaces as a whole: no two policies may set it. */
export function addressList(family: number | undefined, nic: string | undefined, owner: string): string {
  return `IPv${family} addresses of ${nic} on ${owner}`;
}

/** The list that the address of a line stands in. */
export function listOf(line: Allocation): string {
  return addressList(familyOf(line.address), line.interface, ownerOfKey(line.claim));
}
