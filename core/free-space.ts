import type { Address } from "./address.ts";
import { Bitmap } from "./bitmap.ts";
import { advance, distance, isNumbered, roughDistance } from "./numbering.ts";
import { type Interval, indexAt, type Range } from "./range.ts";

interface Segment extends Interval {
  /** Candidates in the segments before this one. */
  readonly before: number;
}

/**
 * The free addresses of a pool. Its candidates (the numbered addresses of a range, in order) are counted from 0,
 * and a bitmap holds the counts that are taken. The lowest free count is never above the number of taken ones,
 * so a /8 or a ::/32 costs what a /24 costs. Taken counts above 2^53 are only remembered: no lowest free one gets there.
 */
export class FreeSpace {
  readonly capacity: bigint;
  private readonly segments: readonly Segment[];
  private readonly skips: boolean;
  private readonly end: number;
  private readonly taken = new Bitmap();
  private readonly beyond = new Set<Address>();

  constructor(range: Range, skips: boolean) {
    let before = 0n;
    this.segments = range.map((interval) => {
      const segment = { ...interval, before: Number(before) };
      before += distance(interval.first, (interval.last + 1n) as Address, skips);
      return segment;
    });
    this.skips = skips;
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

  /** Takes an address. One that is taken, or no candidate (excluded, wanted x.x.x.0), changes nothing. */
  take(address: Address): void {
    const count = this.countOf(address);
    if (count > Number.MAX_SAFE_INTEGER) this.beyond.add(address);
    else if (count >= 0) this.taken.add(count);
  }

  /** Gives an address back, where one space is used for long; a plan begins a new one. One that is not taken changes nothing. */
  release(address: Address): void {
    const count = this.countOf(address);
    if (count > Number.MAX_SAFE_INTEGER) this.beyond.delete(address);
    else if (count >= 0) this.taken.delete(count);
  }

  private candidate(count: number): Address {
    let i = this.segments.length - 1;
    while ((this.segments[i] as Segment).before > count) i--;
    const segment = this.segments[i] as Segment;
    return advance(segment.first, count - segment.before, this.skips);
  }

  /** How many candidates come before this one; -1 if it is none. */
  private countOf(address: Address): number {
    const segment = this.segments[indexAt(this.segments, address)];
    if (segment === undefined || address < segment.first || !isNumbered(address, this.skips)) return -1;
    return segment.before + roughDistance(segment.first, address, this.skips);
  }
}
