import { type Address, type Allocation, formatAddress, ownerName } from "../../core/index.ts";

/** An address is reserved for one owner, and another one has it. */
export function reservedNote(pool: string, address: Address, owner: string, holder: Allocation): string {
  return `${reservedWords(pool, address, owner)}, but ${ownerName(holder.claim)} has it, and keeps it until it leaves`;
}

/** `Note: 10.0.0.1 of pool p is reserved for Switch/s` */
export function reservedWords(pool: string, address: Address, owner: string | undefined): string {
  return `Note: ${formatAddress(address)} of pool ${pool} is reserved${owner === undefined ? "" : ` for ${owner}`}`;
}
