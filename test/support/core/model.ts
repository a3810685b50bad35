import { type Address, address, familyOf, formatAddress } from "../../../core/address.ts";
import { formatBlock, type MaybeBlock } from "../../../core/block.ts";
import type { Pool } from "../../../core/pool.ts";
import type { Interval, Range } from "../../../core/range.ts";
import { plus } from "./text.ts";

/** `10.0.0.1 10.0.0.4-10.0.0.6` as intervals, unsorted and unchecked. */
export function intervals(text: string): Interval[] {
  return text
    .split(" ")
    .filter(Boolean)
    .map((part) => {
      const [first = "", last = first] = part.split("-");
      return { first: address(first), last: address(last) };
    });
}

/** The text that `intervals` reads. */
export function rangeText(range: Range): string {
  const text = ({ first, last }: Interval) =>
    first === last ? formatAddress(first) : `${formatAddress(first)}-${formatAddress(last)}`;
  return range.map(text).join(" ");
}

/** The members of a range as distances from a base, one by one. */
export function membersOf(range: readonly Interval[], base: Address): Set<number> {
  const members = new Set<number>();
  for (const { first, last } of range) for (let n = Number(first - base); n <= Number(last - base); n++) members.add(n);
  return members;
}

/** What is wrong with a range's form: its invariant is sorted, disjoint, never adjacent. */
export function malformed(range: Range): string[] {
  return range.flatMap(({ first, last }, i) => {
    const before = range[i - 1];
    if (first > last) return [`interval ${i} is reversed`];
    if (before !== undefined && before.last + 1n >= first) return [`interval ${i} touches the one before`];
    return [];
  });
}

/** Do people number this address? Read off its text: last octets 0 and 255 are passed over where a pool skips. */
export function isCounted(at: Address, skips: boolean): boolean {
  return !skips || familyOf(at) === 6 || !/\.(0|255)$/.test(formatAddress(at));
}

/** First and last address of a block, by arithmetic alone. */
export function endsOf({ address: first, length }: MaybeBlock): Interval {
  const bits = familyOf(first) === 4 ? 32 : 128;
  return { first, last: plus(first, 2n ** BigInt(bits - (length ?? bits)) - 1n) };
}

/** Pairs of blocks that share an address. */
export function sharing(blocks: readonly MaybeBlock[]): string[] {
  const sorted = [...blocks].sort((a, b) => (a.address < b.address ? -1 : 1));
  return sorted.flatMap((one, i) => {
    const pairs: string[] = [];
    const { last } = endsOf(one);
    for (let j = i + 1; j < sorted.length; j++) {
      const other = sorted[j] as MaybeBlock;
      if (other.address > last) break;
      pairs.push(`${formatBlock(one)} and ${formatBlock(other)}`);
    }
    return pairs;
  });
}

/** The first addresses of the blocks of a pool that lie wholly in a range and share no address with what is held, by a walk. */
export function* freeBlocks(pool: Pool, range: Range, held: readonly MaybeBlock[]): Generator<Address> {
  const { first: start, last } = endsOf({ address: pool.prefix.first, length: pool.blockLength });
  const size = last - start + 1n;
  const after = (at: bigint) => plus(start, ((at - start + size - 1n) / size) * size);
  const ends = held.map(endsOf);
  for (const { first, last } of range)
    for (let at = after(first); at + size - 1n <= last; ) {
      const hit = ends.find((end) => end.first <= at + size - 1n && at <= end.last);
      if (hit === undefined && isCounted(at, pool.skipsZeroAnd255)) yield at;
      at = after((hit !== undefined && hit.last > at ? hit.last : at) + 1n);
    }
}

/** The free space of a range, found by walking over it address by address. */
export class WalkedSpace {
  private readonly taken = new Set<Address>();
  private last: Address | undefined;
  private readonly range: Range;
  private readonly skips: boolean;

  constructor(range: Range, skips: boolean) {
    this.range = range;
    this.skips = skips;
  }

  /** Counted one by one where addresses are skipped, so keep such ranges small. */
  get capacity(): bigint {
    let size = 0n;
    for (const { first, last } of this.range) {
      if (!this.skips) size += last - first + 1n;
      else for (let at = first; at <= last; at++) size += isCounted(at, true) ? 1n : 0n;
    }
    return size;
  }

  get free(): bigint {
    return this.capacity - BigInt(this.taken.size);
  }

  take(at: Address): void {
    if (this.range.some(({ first, last }) => first <= at && at <= last) && isCounted(at, this.skips))
      this.taken.add(at);
  }

  release(at: Address): void {
    this.taken.delete(at);
  }

  takeLowest(): Address | undefined {
    return this.takeAbove(undefined);
  }

  takeNext(): Address | undefined {
    const next = this.takeAbove(this.last) ?? this.takeLowest();
    this.last = next ?? this.last;
    return next;
  }

  beginAfter(at: Address): void {
    this.last = at;
  }

  private takeAbove(from: Address | undefined): Address | undefined {
    for (const { first, last } of this.range)
      for (let at = from !== undefined && from >= first ? plus(from, 1) : first; at <= last; at++)
        if (isCounted(at, this.skips) && !this.taken.has(at)) {
          this.taken.add(at);
          return at;
        }
    return undefined;
  }
}
