import fc from "fast-check";
import { expect, it } from "vitest";
import { Bitmap } from "../../../core/bitmap.ts";

const numberArb = fc.oneof(
  fc.nat({ max: 70 }),
  fc.nat({ max: 2100 }),
  fc.constantFrom(2 ** 31, 2 ** 32, 2 ** 32 + 5, 2 ** 53),
);
const stepArb = fc.oneof(
  fc.record({ op: fc.constant("add" as const), n: numberArb, to: numberArb }),
  fc.record({ op: fc.constant("delete" as const), n: numberArb, to: fc.constant(0) }),
  fc.record({ op: fc.constant("fill" as const), n: fc.nat({ max: 1100 }), to: fc.constant(0) }),
);

it("a Bitmap is a set of numbers that knows its lowest absent one, also from a number on", () => {
  fc.assert(
    fc.property(fc.array(stepArb, { maxLength: 40 }), (steps) => {
      const bitmap = new Bitmap();
      const set = new Set<number>();
      for (const { op, n } of steps) {
        if (op === "add") {
          bitmap.add(n);
          set.add(n);
        } else if (op === "delete") {
          bitmap.delete(n);
          set.delete(n);
        } else
          for (let i = 0; i < n; i++) {
            const lowest = bitmap.lowestAbsent();
            bitmap.add(lowest);
            set.add(lowest);
          }
        let want = 0;
        while (set.has(want)) want++;
        expect(bitmap.lowestAbsent()).toBe(want);
        if (n > Number.MAX_SAFE_INTEGER) continue;
        let next = n;
        while (set.has(next)) next++;
        expect(bitmap.lowestAbsentFrom(n)).toBe(next);
        expect(bitmap.has(n)).toBe(set.has(n));
      }
      for (let n = 0; n < 2200; n++) if (bitmap.has(n) !== set.has(n)) expect(n).toBe("agreed");
    }),
    { numRuns: 150 },
  );
});
