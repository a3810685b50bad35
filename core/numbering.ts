import { type Address, bitsOf, familyOf } from "./address.ts";
import type { Pool } from "./pool.ts";
import type { Interval, Range } from "./range.ts";

/** Only the parts of a Pool that number its blocks. */
type Numbered = Pick<Pool, "start" | "prefix" | "blockLength" | "skipsZeroAnd255">;

/**
 * The offset people see: how many numbered addresses lie between the pool's start and this one. In a pool of blocks,
 * blocks are counted, from the first whole one on, and an address has the offset of its block. Single addresses of
 * IPv6, and pools that allow them, number every address; others pass over last octets 0 and 255, which makes
 * the /24 and /16 tables of the proposal (ADR 1) exact. An offset never changes when `end` grows or `exclude` changes.
 * Undefined for addresses without one: before start, outside the prefix, or passed over.
 */
export function offsetOf(pool: Numbered, address: Address): bigint | undefined {
  const [blocks] = wholeBlocks([{ first: pool.start, last: pool.prefix.last }], hostBitsOf(pool));
  const block = (address >> hostBitsOf(pool)) as Address;
  if (blocks === undefined || block < blocks.first || block > blocks.last) return undefined;
  if (!isNumbered(block, pool.skipsZeroAnd255)) return undefined;
  return distance(blocks.first, block, pool.skipsZeroAnd255);
}

/** The address with this offset, or the first one of the block with it, if the prefix reaches that far. */
export function addressAt(pool: Numbered, offset: bigint): Address | undefined {
  const [blocks] = wholeBlocks([{ first: pool.start, last: pool.prefix.last }], hostBitsOf(pool));
  if (blocks === undefined || offset < 0n || offset > blocks.last - blocks.first) return undefined;
  const block = advance(blocks.first, offset, pool.skipsZeroAnd255);
  return block <= blocks.last ? ((block << hostBitsOf(pool)) as Address) : undefined;
}

/** How many bits of an address are inside of a block of the pool: none where a block is one address. */
export function hostBitsOf({ prefix, blockLength }: Pick<Pool, "prefix" | "blockLength">): bigint {
  return BigInt(bitsOf(familyOf(prefix.first)) - blockLength);
}

/** The blocks that lie wholly in a range, each as its address without the host bits. */
export function wholeBlocks(range: Range, hostBits: bigint): Range {
  if (hostBits === 0n) return range;
  const inside = (1n << hostBits) - 1n;
  return range.flatMap(({ first, last }): Interval[] => {
    const blocks = { first: (first + inside) >> hostBits, last: ((last + 1n) >> hostBits) - 1n } as Interval;
    return blocks.first <= blocks.last ? [blocks] : [];
  });
}

/** Returns whether an address is counted. Only IPv4 addresses are skipped. */
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
