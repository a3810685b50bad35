import fc from "fast-check";
import { type Address, address } from "../../../core/address.ts";
import { type Interval, type Range, rangeOf } from "../../../core/range.ts";
import { plus } from "./text.ts";

const group = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constant(1) },
  fc.integer({ min: 0, max: 0xffff }),
);
const octet = fc.oneof(fc.constantFrom(0, 1, 9, 10, 99, 100, 199, 200, 254, 255), fc.integer({ min: 0, max: 255 }));

const ipv4TextArb = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join("."));

/** Eight groups with many zeros, in any spelling that RFC 4291 allows. */
const ipv6TextArb = fc
  .record({
    groups: fc.array(group, { minLength: 8, maxLength: 8 }),
    zeros: fc.array(fc.nat({ max: 3 }), { minLength: 8, maxLength: 8 }),
    capitals: fc.boolean(),
    gap: fc.option(fc.tuple(fc.nat({ max: 8 }), fc.nat({ max: 8 }))),
  })
  .map(({ groups, zeros, capitals, gap }) => {
    const texts = groups.map((value, i) => value.toString(16).padStart(1 + (zeros[i] ?? 0), "0"));
    const [from, to] = gap === null ? [0, 0] : gap[0] < gap[1] ? gap : [gap[1], gap[0]];
    const text = from === to ? texts.join(":") : `${texts.slice(0, from).join(":")}::${texts.slice(to).join(":")}`;
    return capitals ? text.toUpperCase() : text;
  });

/** Texts of addresses, canonical or not; some of IPv4-mapped ones and with IPv4 or a zone inside. */
export const addressTextArb = fc.oneof(
  ipv4TextArb,
  { weight: 2, arbitrary: ipv6TextArb },
  fc.ipV6(),
  fc
    .tuple(fc.constantFrom("::ffff:", "::FFFF:0", "0:0:0:0:0:ffff:7f00:", "::fffe:0:", "::"), group)
    .map(([head, tail]) => head + tail.toString(16)),
);

/** An address text with a few characters inserted, dropped or replaced. */
export const nearAddressArb = fc
  .tuple(
    addressTextArb,
    fc.array(
      fc.tuple(fc.nat({ max: 40 }), fc.nat({ max: 1 }), fc.constantFrom(..."0123456789abcfFgx:.%/[]+- \n\u0000１", "")),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
  )
  .map(([text, edits]) =>
    edits.reduce((now, [at, drop, character]) => now.slice(0, at) + character + now.slice(at + drop), text),
  );

const ipv4Arb = fc.bigInt({ min: 0n, max: 2n ** 32n - 1n });
const ipv6Arb = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }).filter((value) => value >> 32n !== 0xffffn);
export const addressArb = fc.oneof(
  ipv4Arb,
  ipv6Arb.map((value) => (1n << 128n) + value),
) as fc.Arbitrary<Address>;

/** Where small universes begin: both ends of both families, and the middle. */
export const baseArb = fc
  .constantFrom("0.0.0.0", "10.0.0.0", "255.255.255.0", "::", "2001:db8::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ff00")
  .map((text) => address(text));

/** Up to eight intervals, in any order, overlapping or not, inside `size` addresses from a base on. */
export function intervalsArb(size: number): fc.Arbitrary<(base: Address) => Interval[]> {
  const spot = fc.nat({ max: size - 1 });
  return fc
    .array(fc.tuple(spot, spot), { maxLength: 8 })
    .map(
      (pairs) => (base) =>
        pairs.map(([a, b]) => ({ first: plus(base, Math.min(a, b)), last: plus(base, Math.max(a, b)) })),
    );
}

export function rangeArb(size: number): fc.Arbitrary<(base: Address) => Range> {
  return intervalsArb(size).map((make) => (base) => rangeOf(...make(base)));
}

/** The same list in another order, told by numbers. */
export function shuffled<T>(list: readonly T[], seed: number): T[] {
  let state = seed >>> 0;
  const keyed = list.map((item) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return { item, key: state };
  });
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}
