import {
  type Address,
  bitsOf,
  familyOf,
  formatAddress,
  type Prefix,
  parseAddress,
  parsePrefix,
  prefixAt,
} from "./address.ts";
import type { Parsed } from "./errors.ts";
import { type Interval, indexAt, type Range } from "./range.ts";

/** A prefix by its first address. A length of 32 (IPv4) or 128 (IPv6) is one address. */
export interface Block {
  readonly address: Address;
  readonly length: number;
}

/** A block, or one address where no length is given. */
export type MaybeBlock = Pick<Block, "address"> & Partial<Block>;

/** The block of this length that an address lies in; of a length that its family does not have, the address alone. */
export function blockAt(address: Address, length: number): Block {
  const bits = bitsOf(familyOf(address));
  return length >= bits ? { address, length: bits } : { address: prefixAt(address, length).first, length };
}

/** The prefix length of a block; 32 or 128 where it is one address. */
export function lengthOf({ address, length }: MaybeBlock): number {
  return length ?? bitsOf(familyOf(address));
}

/** Returns whether a block is a single address. */
export function isSingle(block: MaybeBlock): boolean {
  return block.length === undefined || block.length === bitsOf(familyOf(block.address));
}

/** The last address of a block. */
export function lastOf(block: MaybeBlock): Address {
  return isSingle(block) ? block.address : prefixAt(block.address, lengthOf(block)).last;
}

/** All addresses of a block. */
export function intervalOf(block: MaybeBlock): Interval {
  return { first: block.address, last: lastOf(block) };
}

/** `10.4.0.0/22`, or `10.4.0.1` for a single address. */
export function formatBlock(block: MaybeBlock): string {
  const text = formatAddress(block.address);
  return isSingle(block) ? text : `${text}/${block.length}`;
}

/** Reads what `formatBlock` writes. Host bits are dropped, as `parsePrefix` does. */
export function parseBlock(text: unknown): Parsed<Block> {
  if (typeof text !== "string" || !text.includes("/")) {
    const parsed = parseAddress(text);
    return parsed.issues ? parsed : { value: { address: parsed.value, length: bitsOf(familyOf(parsed.value)) } };
  }
  const parsed = parsePrefix(text);
  return parsed.issues ? parsed : { value: blockOfPrefix(parsed.value) };
}

function blockOfPrefix({ first, length }: Prefix): Block {
  return { address: first, length };
}

/** Returns whether two blocks share an address. One of them then holds the other. */
export function blocksOverlap(a: MaybeBlock, b: MaybeBlock): boolean {
  return a.address <= lastOf(b) && b.address <= lastOf(a);
}

/** Returns whether every address of the block is in the set. */
export function holds(range: Range, block: MaybeBlock): boolean {
  const interval = range[indexAt(range, block.address)];
  return interval !== undefined && block.address >= interval.first && lastOf(block) <= interval.last;
}

/**
 * Blocks, found by overlap. Two blocks are apart or one holds the other, so a lookup asks for each wider length once, and
 * takes a run of the sorted blocks: single addresses among single addresses cost one lookup in a Map.
 */
export class BlockIndex<T extends MaybeBlock> {
  private readonly byAddress: ReadonlyMap<Address, readonly T[]>;
  private readonly lengths: readonly number[];
  private readonly all: readonly T[];
  private sorted: readonly T[] | undefined;

  constructor(all: readonly T[]) {
    this.all = all;
    this.byAddress = Map.groupBy(all, ({ address }) => address);
    this.lengths = [...new Set(all.map(lengthOf))];
  }

  /** All that share an address with this block, the wider ones first. */
  at(block: MaybeBlock): readonly T[] {
    const wider = this.around(block);
    const others = isSingle(block) ? (this.byAddress.get(block.address) ?? []) : this.run(block);
    if (wider.length === 0) return others;
    return [...wider, ...others.filter((one) => lengthOf(one) >= lengthOf(block))];
  }

  /** Those that hold this block and more. */
  around(block: MaybeBlock): readonly T[] {
    const length = lengthOf(block);
    const wider = this.lengths.filter((one) => one < length).sort((a, b) => a - b);
    return wider.flatMap((one) => {
      const first = prefixAt(block.address, one).first;
      return this.byAddress.get(first)?.filter((item) => lengthOf(item) === one) ?? [];
    });
  }

  /** Those that begin inside of this block. */
  private run(block: MaybeBlock): readonly T[] {
    this.sorted ??= this.all.toSorted((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0));
    let [low, high] = [0, this.sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.sorted[middle] as T).address < block.address) low = middle + 1;
      else high = middle;
    }
    const last = lastOf(block);
    let end = low;
    while (end < this.sorted.length && (this.sorted[end] as T).address <= last) end++;
    return this.sorted.slice(low, end);
  }
}
