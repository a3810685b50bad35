import type { Address } from "./address.ts";
import type { Pool } from "./pool.ts";
import { contains, rangeOf } from "./range.ts";

/** Only the parts of a Pool that number its addresses. */
type Numbered = Pick<Pool, "start" | "prefix" | "skipsZeroAnd255">;

/**
 * The offset people see: how many numbered addresses lie between the pool's start and this one.
 * IPv6, and pools that allow them, number every address; others pass over last octets 0 and 255, which makes
 * the /24 and /16 tables of the proposal (ADR 1) exact. An offset never changes when `end` grows or `exclude` changes.
 * Undefined for addresses without one: before start, outside the prefix, or passed over.
 */
export function offsetOf(pool: Numbered, address: Address): bigint | undefined {
  if (address < pool.start || !contains(rangeOf(pool.prefix), address)) return undefined;
  if (!isNumbered(address, pool.skipsZeroAnd255)) return undefined;
  return distance(pool.start, address, pool.skipsZeroAnd255);
}

/** The address with this offset, if the prefix reaches that far. */
export function addressAt(pool: Numbered, offset: bigint): Address | undefined {
  if (offset < 0n || offset > pool.prefix.last - pool.start) return undefined;
  const address = advance(pool.start, offset, pool.skipsZeroAnd255);
  return address <= pool.prefix.last ? address : undefined;
}

/** Is this address one that is counted? Skipping is for IPv4 alone. */
export function isNumbered(address: Address, skips: boolean): boolean {
  if (!skips) return true;
  const octet = Number(address) & 255;
  return octet !== 0 && octet !== 255;
}

/** How many numbered addresses there are from `from` up to, not including, `to`. */
export function distance(from: Address, to: Address, skips: boolean): bigint {
  return skips ? BigInt(rank(Number(to)) - rank(Number(from))) : to - from;
}

/** The same as a number, which is rounded above 2^53. */
export function roughDistance(from: Address, to: Address, skips: boolean): number {
  return skips ? rank(Number(to)) - rank(Number(from)) : Number(to - from);
}

/** The address that is `count` numbered addresses after `from` (after the first numbered one, if `from` is none). */
export function advance(from: Address, count: bigint | number, skips: boolean): Address {
  return (skips ? BigInt(unrank(rank(Number(from)) + Number(count))) : from + BigInt(count)) as Address;
}

/** How many IPv4 addresses below this one end in 1 to 254. */
function rank(value: number): number {
  return Math.floor(value / 256) * 254 + Math.max((value % 256) - 1, 0);
}

/** The IPv4 address with this many such addresses below it. */
function unrank(rank: number): number {
  return Math.floor(rank / 254) * 256 + (rank % 254) + 1;
}
