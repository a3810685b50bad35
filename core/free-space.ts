import type { Address } from "./address.ts";
import { Bitmap } from "./bitmap.ts";
import { type Block, intervalOf } from "./block.ts";
import { hashOf } from "./hash.ts";
import { advance, distance, hostBitsOf, isNumbered, roughDistance, wholeBlocks } from "./numbering.ts";
import type { Pool } from "./pool.ts";
import { type Interval, indexAt, minus, normalised, type Range } from "./range.ts";

/** How many hashes of a text are tried: where 9 of 10 candidates are taken, they find a free one 97 times of 100. */
const hashes = 32;

interface Segment extends Interval {
  /** Candidates in the segments before this one. */
  readonly before: number;
}

/**
 * The free blocks of a pool, which are single addresses unless `hostBits` says how many bits of an address are inside of a
 * block. Its candidates (the numbered blocks that lie wholly in a range, in order) are counted from 0, and a bitmap holds the counts that are taken. The lowest free count is never above the number of taken ones,
 * so a /8 or a ::/32 costs what a /24 costs. Taken counts above 2^53 are only remembered: no lowest free one gets there.
 */
export class FreeSpace {
  readonly capacity: bigint;
  private readonly segments: readonly Segment[];
  private readonly skips: boolean;
  private readonly hostBits: bigint;
  private readonly end: number;
  private readonly taken = new Bitmap();
  private readonly beyond = new Set<Address>();
  /** The count from which `takeNext` looks on. */
  private next = 0;

  constructor(range: Range, skips: boolean, hostBits = 0n) {
    let before = 0n;
    this.segments = wholeBlocks(range, hostBits).map((interval) => {
      const segment = { ...interval, before: Number(before) };
      before += distance(interval.first, (interval.last + 1n) as Address, skips);
      return segment;
    });
    this.skips = skips;
    this.hostBits = hostBits;
    this.capacity = before;
    this.end = Number(before);
  }

  /** How many candidates are free. */
  get free(): bigint {
    return this.capacity - BigInt(this.taken.count + this.beyond.size);
  }

  /** Takes the lowest free candidate; undefined if there is none. */
  takeLowest(): Address | undefined {
    const count = this.taken.lowestAbsent();
    if (count >= this.end) return undefined;
    this.taken.add(count);
    return this.candidate(count);
  }

  /** Takes the first free candidate after the one that it took last, or else the lowest one; undefined if there is none. */
  takeNext(): Address | undefined {
    let count = this.taken.lowestAbsentFrom(this.next);
    if (count >= this.end) count = this.taken.lowestAbsent();
    if (count >= this.end) return undefined;
    this.taken.add(count);
    this.next = count + 1;
    return this.candidate(count);
  }

  /**
   * Makes `takeNext` begin at a free candidate that a text chooses among all (of more than 2^32, among the first 2^32).
   * If a hash finds a taken one, the next hash is tried: the candidate after a long run of taken ones is no likelier than others.
   */
  beginAtHashOf(text: string): void {
    for (let attempt = 0; attempt < hashes; attempt++) {
      this.next = Math.floor((hashOf(`${attempt} ${text}`) / 2 ** 32) * Math.min(this.end, 2 ** 32));
      if (!this.taken.has(this.next)) return;
    }
  }

  /** Makes `takeNext` begin at the first candidate after the block that an address is in, candidate or not; at the lowest one where that is more than 2^53 behind it. */
  beginAfter(address: Address): void {
    const block = this.blockOf(address);
    const segment = this.segments[indexAt(this.segments, block)];
    if (segment === undefined) this.next = 0;
    else if (block < segment.first) this.next = segment.before;
    else this.next = segment.before + roughDistance(segment.first, (block + 1n) as Address, this.skips);
    if (this.next > Number.MAX_SAFE_INTEGER) this.next = 0;
  }

  /** Takes the block that an address is in. One that is taken, or no candidate (excluded, wanted x.x.x.0), changes nothing. */
  take(address: Address): void {
    const block = this.blockOf(address);
    const count = this.countOf(block);
    if (count > Number.MAX_SAFE_INTEGER) this.beyond.add(block);
    else if (count >= 0) this.taken.add(count);
  }

  /** Gives a block back, where one space is used for long; a plan begins a new one. One that is not taken changes nothing. */
  release(address: Address): void {
    const block = this.blockOf(address);
    const count = this.countOf(block);
    if (count > Number.MAX_SAFE_INTEGER) this.beyond.delete(block);
    else if (count >= 0) this.taken.delete(count);
  }

  private candidate(count: number): Address {
    let i = this.segments.length - 1;
    while ((this.segments[i] as Segment).before > count) i--;
    const segment = this.segments[i] as Segment;
    const block = advance(segment.first, count - segment.before, this.skips);
    return this.hostBits === 0n ? block : ((block << this.hostBits) as Address);
  }

  /** The bits of an address before its host bits: blocks are counted as addresses are. */
  private blockOf(address: Address): Address {
    return this.hostBits === 0n ? address : ((address >> this.hostBits) as Address);
  }

  /** How many candidates come before this one; -1 if it is none. */
  private countOf(block: Address): number {
    const segment = this.segments[indexAt(this.segments, block)];
    if (segment === undefined || block < segment.first || !isNumbered(block, this.skips)) return -1;
    return segment.before + roughDistance(segment.first, block, this.skips);
  }
}

/**
 * What is free in a range of a pool beside these lines, whatever their lengths are. A line that is wider than the blocks
 * of the pool is cut out of the range: it may hold more of them than can be counted.
 */
export function freeSpaceOf(pool: Pool, range: Range, ...lists: readonly (readonly Block[])[]): FreeSpace {
  const wide = lists.flatMap((lines) => lines.filter(({ length }) => length < pool.blockLength));
  const left = wide.length === 0 ? range : minus(range, normalised(wide.map(intervalOf)));
  const space = new FreeSpace(left, pool.skipsZeroAnd255, hostBitsOf(pool));
  for (const lines of lists) for (const line of lines) space.take(line.address);
  return space;
}
