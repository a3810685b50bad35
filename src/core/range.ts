import { type Address, familyOf } from "./address.ts";
import { IpamError } from "./errors.ts";

/** All addresses from `first` to `last`, both included. */
export interface Interval {
  readonly first: Address;
  readonly last: Address;
}

/**
 * A set of addresses of one family. Invariant: sorted, disjoint, never adjacent, so equal sets have equal
 * intervals. Immutable. Made by `rangeOf` and the algebra below, never by hand.
 */
export type Range = readonly Interval[];

export const emptyRange: Range = [];

/** The set that holds all addresses of these intervals. Throws `invalid` for a reversed interval or two families. */
export function rangeOf(...intervals: readonly Interval[]): Range {
  const sorted = [...intervals].sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const merged: Interval[] = [];
  for (const next of sorted) {
    if (next.first > next.last) throw new IpamError("invalid", "a range ends before it starts");
    if (
      familyOf(next.first) !== familyOf((sorted[0] as Interval).first) ||
      familyOf(next.first) !== familyOf(next.last)
    )
      throw new IpamError("invalid", "a range mixes IPv4 and IPv6");
    const previous = merged.at(-1);
    if (previous === undefined || previous.last + 1n < next.first) merged.push({ first: next.first, last: next.last });
    else if (next.last > previous.last) merged[merged.length - 1] = { first: previous.first, last: next.last };
  }
  return merged;
}

export function union(a: Range, b: Range): Range {
  return rangeOf(...a, ...b);
}

/** Everything in `a` that is not in `b`. */
export function minus(a: Range, b: Range): Range {
  const left: Interval[] = [];
  let j = 0;
  for (const whole of a) {
    let rest: Interval | undefined = whole;
    while (rest !== undefined && j < b.length) {
      const cut = b[j] as Interval;
      switch (relation(cut, rest)) {
        //  rest      |-----|
        //  cut  |--|
        case "before":
          j++;
          continue;
        //  rest |-----|
        //  cut          |--|
        case "after":
          break;
        //  rest   |-----|
        //  cut  |---------|
        case "covers":
          rest = undefined;
          continue;
        //  rest   |-----|
        //  cut  |----|
        case "start":
          rest = { first: (cut.last + 1n) as Address, last: rest.last };
          j++;
          continue;
        //  rest |-----|
        //  cut     |----|
        case "end":
          left.push({ first: rest.first, last: (cut.first - 1n) as Address });
          rest = undefined;
          continue;
        //  rest |---------|
        //  cut     |---|
        case "inside":
          left.push({ first: rest.first, last: (cut.first - 1n) as Address });
          rest = { first: (cut.last + 1n) as Address, last: rest.last };
          j++;
          continue;
      }
      break;
    }
    if (rest !== undefined) left.push(rest);
  }
  return left;
}

/** How `cut` lies to `rest`: every pair is exactly one of these. */
function relation(cut: Interval, rest: Interval): "before" | "after" | "covers" | "start" | "end" | "inside" {
  if (cut.last < rest.first) return "before";
  if (cut.first > rest.last) return "after";
  if (cut.first <= rest.first) return cut.last >= rest.last ? "covers" : "start";
  return cut.last >= rest.last ? "end" : "inside";
}

export function intersect(a: Range, b: Range): Range {
  return minus(a, minus(a, b));
}

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

/** Is every address of `part` in `whole`? */
export function covers(whole: Range, part: Range): boolean {
  return minus(part, whole).length === 0;
}

/** How many addresses the set holds. */
export function sizeOf(range: Range): bigint {
  return range.reduce((sum, interval) => sum + interval.last - interval.first + 1n, 0n);
}

export function sameRange(a: Range, b: Range): boolean {
  return a.length === b.length && a.every((x, i) => x.first === b[i]?.first && x.last === b[i]?.last);
}
