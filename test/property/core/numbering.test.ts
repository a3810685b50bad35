import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bitsOf, familyOf, formatAddress, formatPrefix, parseAddress, prefixAt } from "../../../core/address.ts";
import { addressAt, advance, distance, isNumbered, offsetOf } from "../../../core/numbering.ts";
import { addressArb } from "../../support/core/arbitrary.ts";
import { isCounted } from "../../support/core/model.ts";
import { plus, poolOf } from "../../support/core/text.ts";

/** A pool around a random address, with a random prefix length; its start is that address. */
const poolArb = fc
  .record({ start: addressArb, length: fc.nat({ max: 128 }), allowZeroAnd255: fc.boolean() })
  .map(({ start, length, ...rest }) => ({
    start,
    prefix: prefixAt(start, length % (bitsOf(familyOf(start)) + 1)),
    ...rest,
  }))
  .filter(({ prefix }) => parseAddress(formatAddress(prefix.last)).issues === undefined)
  .map(({ start, prefix, ...rest }) => {
    return poolOf("p", [formatPrefix(prefix), formatAddress(start), formatAddress(prefix.last)].join(" "), rest);
  });

/** A pool of IPv4 that passes over .0 and .255, starting close to one. */
const skippingArb = fc.tuple(fc.nat({ max: 2 ** 24 - 4 }), fc.integer({ min: -3, max: 3 })).map(([net, near]) => {
  const start = plus("0.0.1.0", net * 256 + near);
  return poolOf("p", `0.0.0.0/0 ${formatAddress(start)} 255.255.255.255`);
});

describe("offsets", () => {
  it("lead to addresses and back", () => {
    const offsetArb = fc.oneof(fc.bigInt({ min: 0n, max: 600n }), fc.bigInt({ min: 0n, max: 2n ** 128n }));
    fc.assert(
      fc.property(poolArb, offsetArb, (pool, n) => {
        const at = addressAt(pool, n);
        // 254 of 256 addresses have an offset, but for a part at either end
        if (at === undefined) expect((n + 2n) * 256n).toBeGreaterThanOrEqual((pool.prefix.last - pool.start) * 254n);
        else expect(offsetOf(pool, at)).toBe(n);
      }),
      { numRuns: 1000 },
    );
  });

  it("are those of counting one by one", () => {
    fc.assert(
      fc.property(fc.oneof(poolArb, skippingArb), (pool) => {
        let next = 0n;
        for (let at = pool.start; at <= pool.prefix.last && at < pool.start + 520n; at = plus(at, 1)) {
          const counted = isCounted(at, pool.skipsZeroAnd255);
          expect(offsetOf(pool, at)).toBe(counted ? next : undefined);
          if (counted) expect(addressAt(pool, next++)).toBe(at);
        }
        if (pool.prefix.last < pool.start + 520n) expect(addressAt(pool, next)).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  it("stay when end grows and when exclude changes", () => {
    fc.assert(
      fc.property(fc.nat({ max: 999 }), fc.nat({ max: 999 }), fc.nat({ max: 1000 }), (end, more, at) => {
        const range = (last: number) => `10.0.0.0/21 10.0.1.7 ${formatAddress(plus("10.0.1.7", last))}`;
        const before = poolOf("p", range(end));
        const after = poolOf("p", range(end + 1 + (more % (1000 - end))), { exclude: ["10.0.1.16/28", "10.0.2.1"] });
        expect(offsetOf(after, plus("10.0.1.7", at))).toBe(offsetOf(before, plus("10.0.1.7", at)));
        expect(addressAt(after, BigInt(at))).toBe(addressAt(before, BigInt(at)));
      }),
    );
  });
});

describe("distance and advance", () => {
  it("undo each other, from any address", () => {
    fc.assert(
      fc.property(addressArb, fc.nat({ max: 2000 }), fc.boolean(), (from, count, wants) => {
        const skips = wants && familyOf(from) === 4;
        const to = advance(from, BigInt(count), skips);
        expect(isNumbered(to, skips)).toBe(true);
        expect(distance(from, to, skips)).toBe(BigInt(count));
      }),
    );
  });

  it("count what lies between, one by one", () => {
    fc.assert(
      fc.property(addressArb, fc.nat({ max: 600 }), fc.boolean(), (from, length, wants) => {
        const skips = wants && familyOf(from) === 4;
        let count = 0n;
        for (let n = 0; n < length; n++) if (isCounted(plus(from, n), skips)) count++;
        expect(distance(from, plus(from, length), skips)).toBe(count);
      }),
    );
  });
});
