import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Address, address } from "../../../core/address.ts";
import {
  contains,
  covers,
  indexAt,
  intersect,
  minus,
  overlaps,
  type Range,
  rangeOf,
  sizeOf,
  union,
} from "../../../core/range.ts";
import { baseArb, intervalsArb, rangeArb } from "../../support/core/arbitrary.ts";
import { malformed, membersOf } from "../../support/core/model.ts";
import { plus } from "../../support/core/text.ts";

const size = 256;

const only = (set: ReadonlySet<number>, keep: (n: number) => boolean) => new Set([...set].filter(keep));

/** The range with exactly these members, built without the code under test. */
function rangeFrom(members: ReadonlySet<number>, base: Address): Range {
  const starts = [...members].filter((n) => !members.has(n - 1)).sort((a, b) => a - b);
  return starts.map((start) => {
    let end = start;
    while (members.has(end + 1)) end++;
    return { first: plus(base, start), last: plus(base, end) };
  });
}

describe("over 256 addresses, at both ends of both families", () => {
  it("rangeOf holds all members of its intervals, in its one form", () => {
    fc.assert(
      fc.property(baseArb, intervalsArb(size), (base, make) => {
        const range = rangeOf(...make(base));
        expect(range).toEqual(rangeFrom(membersOf(make(base), base), base));
        expect(malformed(range)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it("union, minus and intersect are those of sets", () => {
    fc.assert(
      fc.property(baseArb, rangeArb(size), rangeArb(size), (base, makeA, makeB) => {
        const [a, b] = [makeA(base), makeB(base)];
        const [x, y] = [membersOf(a, base), membersOf(b, base)];
        expect(union(a, b)).toEqual(rangeFrom(new Set([...x, ...y]), base));
        expect(minus(a, b)).toEqual(
          rangeFrom(
            only(x, (n) => !y.has(n)),
            base,
          ),
        );
        expect(intersect(a, b)).toEqual(
          rangeFrom(
            only(x, (n) => y.has(n)),
            base,
          ),
        );
      }),
      { numRuns: 300 },
    );
  });

  it("overlaps, covers and sizeOf are those of sets", () => {
    fc.assert(
      fc.property(baseArb, rangeArb(size), rangeArb(size), (base, makeA, makeB) => {
        const [a, b] = [makeA(base), makeB(base)];
        const [x, y] = [membersOf(a, base), membersOf(b, base)];
        expect(overlaps(a, b)).toBe([...x].some((n) => y.has(n)));
        expect(covers(a, b)).toBe([...y].every((n) => x.has(n)));
        expect(sizeOf(a)).toBe(BigInt(x.size));
      }),
      { numRuns: 300 },
    );
  });

  it("contains and indexAt find every address", () => {
    fc.assert(
      fc.property(baseArb, rangeArb(size), (base, make) => {
        const range = make(base);
        const members = membersOf(range, base);
        for (let n = 0; n < size; n++) {
          const at = plus(base, n);
          expect(contains(range, at)).toBe(members.has(n));
          expect(indexAt(range, at)).toBe(range.filter(({ last }) => last < at).length);
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe("all 65,536 pairs of subsets of 8 addresses", () => {
  it.each(["255.255.255.248", "::"])("from %s on", (text) => {
    const base = address(text);
    const ranges = Array.from({ length: 256 }, (_, mask) => {
      return rangeFrom(new Set([...Array(8).keys()].filter((bit) => (mask >> bit) & 1)), base);
    });
    const same = (a: Range, mask: number) => {
      const b = ranges[mask] ?? [];
      return a.length === b.length && a.every((x, i) => x.first === b[i]?.first && x.last === b[i]?.last);
    };
    const wrong: string[] = [];
    ranges.forEach((a, x) => {
      ranges.forEach((b, y) => {
        const ok =
          same(union(a, b), x | y) &&
          same(minus(a, b), x & ~y) &&
          same(intersect(a, b), x & y) &&
          overlaps(a, b) === ((x & y) !== 0) &&
          covers(a, b) === ((y & ~x) === 0);
        if (!ok) wrong.push(`${x.toString(2)} and ${y.toString(2)}`);
      });
    });
    expect(wrong).toEqual([]);
  });
});
