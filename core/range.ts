import { type Address, compareAddresses, familyOf } from "./address.ts";
import { IpamError } from "./errors.ts";

/** All addresses from `first` to `last`, both included. */
export interface Interval {
  readonly first: Address;
  readonly last: Address;
}

/**
 * A set of addresses of one family. Invariant: sorted, disjoint, never adjacent, so equal sets have equal
 * intervals. Immutable. Made by `rangeOf` and the algebra below; one interval in a list is a range as well.
 */
export type Range = readonly Interval[];

/** The set that holds all addresses of these intervals. Throws `invalid` for a reversed interval or two families. */
export function rangeOf(...intervals: readonly Interval[]): Range {
  return normalised(intervals);
}

/** The same for intervals in any number: a call cannot take a hundred thousand arguments. */
export function normalised(intervals: readonly Interval[]): Range {
  const sorted = [...intervals].sort((a, b) => compareAddresses(a.first, b.first));
  const merged: Interval[] = [];
  for (const { first, last } of sorted) {
    if (first > last) throw new IpamError("invalid", "a range ends before it starts");
    if (familyOf((sorted[0] as Interval).first) !== familyOf(last))
      throw new IpamError("invalid", "a range mixes IPv4 and IPv6");
    const previous = merged.at(-1);
    if (previous === undefined || previous.last + 1n < first) merged.push({ first, last });
    else if (last > previous.last) merged[merged.length - 1] = { first: previous.first, last };
  }
  return merged;
}

/** Everything in either. */
export function union(a: Range, b: Range): Range {
  return normalised([...a, ...b]);
}

/**
 * Everything in `a` that is not in `b`: the gaps that cuts leave in an interval.
 *
 *     a      |------------------------|
 *     b   |-----|     |----|        |-----|
 *     gaps       |---|      |------|
 */
export function minus(a: Range, b: Range): Range {
  const gaps: Interval[] = [];
  for (const { first, last } of a) {
    let open: bigint = first;
    for (let i = indexAt(b, first); i < b.length && open <= last; i++) {
      const cut = b[i] as Interval;
      if (cut.first > last) break;
      if (cut.first > open) gaps.push({ first: open as Address, last: (cut.first - 1n) as Address });
      open = cut.last + 1n;
    }
    if (open <= last) gaps.push({ first: open as Address, last });
  }
  return gaps;
}

/** Everything in both. */
export function intersect(a: Range, b: Range): Range {
  return minus(a, minus(a, b));
}

/** Returns whether two sets share an address. */
export function overlaps(a: Range, b: Range): boolean {
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const left = a[i] as Interval;
    const right = b[j] as Interval;
    if (left.last < right.first) i++;
    else if (right.last < left.first) j++;
    else return true;
  }
  return false;
}

/** Returns whether an address is in the set, in time of the logarithm of the intervals. */
export function contains(range: Range, address: Address): boolean {
  const interval = range[indexAt(range, address)];
  return interval !== undefined && address >= interval.first;
}

/** The first interval that does not end before the address; `range.length` if all do. */
export function indexAt(range: Range, address: Address): number {
  let low = 0;
  let high = range.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((range[middle] as Interval).last < address) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns whether every address of `part` is in `whole`. */
export function covers(whole: Range, part: Range): boolean {
  return minus(part, whole).length === 0;
}

/** How many addresses the set holds. */
export function sizeOf(range: Range): bigint {
  return range.reduce((sum, interval) => sum + interval.last - interval.first + 1n, 0n);
}
