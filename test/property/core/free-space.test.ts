import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { address, familyOf } from "../../../core/address.ts";
import { FreeSpace } from "../../../core/free-space.ts";
import { type Range, rangeOf } from "../../../core/range.ts";
import { rangeArb } from "../../support/core/arbitrary.ts";
import { WalkedSpace } from "../../support/core/model.ts";
import { plus } from "../../support/core/text.ts";

interface Step {
  readonly op: "take" | "release" | "takeLowest" | "takeNext" | "beginAfter";
  readonly n: bigint;
}

function stepsArb(spotArb: fc.Arbitrary<bigint>): fc.Arbitrary<Step[]> {
  return fc.array(
    fc.record({
      op: fc.constantFrom("take", "release", "takeLowest", "takeNext", "takeNext", "beginAfter"),
      n: spotArb,
    }),
    {
      maxLength: 60,
    },
  );
}

/** Both spaces after every step: the same address taken, the same number free. */
function compare(range: Range, skips: boolean, base: string, steps: readonly Step[]): void {
  const space = new FreeSpace(range, skips);
  const walked = new WalkedSpace(range, skips);
  expect(space.capacity).toBe(walked.capacity);
  for (const { op, n } of steps) {
    if (op === "takeLowest" || op === "takeNext") expect(space[op]()).toBe(walked[op]());
    else if (op !== "beginAfter" || n < 2n ** 52n) {
      space[op](plus(base, n));
      walked[op](plus(base, n));
    }
    expect(space.free).toBe(walked.free);
  }
}

describe("a FreeSpace behaves like a walk over its range", () => {
  it.each(["10.0.0.128", "255.255.255.0", "0.0.0.0", "2001:db8::"])("of holes, in 256 addresses from %s on", (base) => {
    fc.assert(
      fc.property(rangeArb(256), fc.boolean(), stepsArb(fc.bigInt({ min: 0n, max: 255n })), (make, wants, steps) => {
        compare(make(address(base)), wants && familyOf(address(base)) === 4, base, steps);
      }),
      { numRuns: 100 },
    );
  });

  it("of two large parts of IPv6, with addresses taken far away", () => {
    const far = fc.constantFrom(
      2n ** 31n,
      2n ** 32n,
      2n ** 32n + 1n,
      2n ** 53n,
      2n ** 53n + 1n,
      2n ** 60n + 1n,
      2n ** 60n + 2n,
      2n ** 95n,
    );
    const near = fc.bigInt({ min: 0n, max: 40n });
    fc.assert(
      fc.property(stepsArb(fc.oneof(near, far)), fc.bigInt({ min: 0n, max: 40n }), (steps, hole) => {
        const whole = { first: address("2001:db8::"), last: plus("2001:db8::", hole) };
        const rest = { first: plus("2001:db8::", hole + 3n), last: plus("2001:db8::", 2n ** 96n - 1n) };
        compare(rangeOf(whole, rest), false, "2001:db8::", steps);
      }),
      { numRuns: 200 },
    );
  });

  it("of a few dozen thousand, taken and given back", () => {
    const range = rangeOf({ first: address("10.0.0.0"), last: address("10.0.255.255") });
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 40_000 }), { minLength: 1, maxLength: 20 }), (spots) => {
        const space = new FreeSpace(range, false);
        for (let n = 0; n <= 40_000; n++) space.takeLowest();
        for (const n of spots) space.release(plus("10.0.0.0", n));
        const given = [...new Set(spots)].sort((a, b) => a - b);
        expect(given.map(() => space.takeLowest())).toEqual(given.map((n) => plus("10.0.0.0", n)));
        expect(space.takeLowest()).toBe(plus("10.0.0.0", 40_001));
      }),
      { numRuns: 10 },
    );
  });
});
