import { describe, expect, it } from "vitest";
import { address } from "../../../core/address.ts";
import { IpamError } from "../../../core/errors.ts";
import { contains, covers, indexAt, intersect, minus, overlaps, rangeOf, sizeOf, union } from "../../../core/range.ts";
import { intervals, rangeText } from "../../support/core/model.ts";
import { plus } from "../../support/core/text.ts";

const of = (text: string) => rangeOf(...intervals(text));

describe("rangeOf", () => {
  it.each([
    { input: "", want: "" },
    { input: "10.0.0.7", want: "10.0.0.7" },
    { input: "10.0.0.7 10.0.0.1-10.0.0.2", want: "10.0.0.1-10.0.0.2 10.0.0.7" },
    { input: "10.0.0.1-10.0.0.4 10.0.0.3-10.0.0.6", want: "10.0.0.1-10.0.0.6" },
    { input: "10.0.0.1-10.0.0.3 10.0.0.4-10.0.0.6", want: "10.0.0.1-10.0.0.6" },
    { input: "10.0.0.1-10.0.0.3 10.0.0.5-10.0.0.6", want: "10.0.0.1-10.0.0.3 10.0.0.5-10.0.0.6" },
    { input: "10.0.0.1-10.0.0.9 10.0.0.3-10.0.0.4", want: "10.0.0.1-10.0.0.9" },
    { input: "10.0.0.1 10.0.0.1", want: "10.0.0.1" },
    { input: "255.255.255.255 0.0.0.0", want: "0.0.0.0 255.255.255.255" },
    { input: "::2-::3 ::-::1", want: "::-::3" },
  ])("rangeOf($input) is $want", ({ input, want }) => {
    expect(rangeText(of(input))).toBe(want);
  });

  it.each([
    { input: "10.0.0.2-10.0.0.1", why: "ends before it starts" },
    { input: "10.0.0.7 ::2-::1", why: "ends before it starts" },
    { input: "10.0.0.1-::1", why: "mixes IPv4 and IPv6" },
    { input: "10.0.0.1 ::1", why: "mixes IPv4 and IPv6" },
    { input: "::1 10.0.0.1", why: "mixes IPv4 and IPv6" },
  ])("rangeOf($input) throws: $why", ({ input, why }) => {
    expect(() => of(input)).toThrow(
      expect.objectContaining({ name: "IpamError", code: "invalid", message: expect.stringMatching(why) }),
    );
    expect(() => of(input)).toThrow(IpamError);
  });

  it("union of 200,000 intervals, as many as 1 MiB of text can hold, is no stack overflow", () => {
    const first = address("2001:db8::");
    const many = Array.from({ length: 200_000 }, (_, i) => ({ first: plus(first, 2 * i), last: plus(first, 2 * i) }));
    expect(sizeOf(union(many, []))).toBe(200_000n);
  });

  it("union(IPv4, IPv6) throws", () => {
    expect(() => union(of("10.0.0.1"), of("::1"))).toThrow("mixes IPv4 and IPv6");
  });
});

describe("the algebra", () => {
  it.each([
    {
      a: "10.0.0.1-10.0.0.9",
      b: "10.0.0.4-10.0.0.5",
      union: "10.0.0.1-10.0.0.9",
      minus: "10.0.0.1-10.0.0.3 10.0.0.6-10.0.0.9",
      intersect: "10.0.0.4-10.0.0.5",
    },
    {
      a: "10.0.0.4-10.0.0.5",
      b: "10.0.0.1-10.0.0.9",
      union: "10.0.0.1-10.0.0.9",
      minus: "",
      intersect: "10.0.0.4-10.0.0.5",
    },
    {
      a: "10.0.0.1-10.0.0.5",
      b: "10.0.0.4-10.0.0.9",
      union: "10.0.0.1-10.0.0.9",
      minus: "10.0.0.1-10.0.0.3",
      intersect: "10.0.0.4-10.0.0.5",
    },
    {
      a: "10.0.0.1-10.0.0.3",
      b: "10.0.0.4-10.0.0.9",
      union: "10.0.0.1-10.0.0.9",
      minus: "10.0.0.1-10.0.0.3",
      intersect: "",
    },
    { a: "::-::3 ::8-::f", b: "::2-::9", union: "::-::f", minus: "::-::1 ::a-::f", intersect: "::2-::3 ::8-::9" },
    { a: "", b: "::1", union: "::1", minus: "", intersect: "" },
    {
      a: "0.0.0.0-255.255.255.255",
      b: "0.0.0.0 255.255.255.255",
      union: "0.0.0.0-255.255.255.255",
      minus: "0.0.0.1-255.255.255.254",
      intersect: "0.0.0.0 255.255.255.255",
    },
  ])("of $a and $b", (row) => {
    const a = of(row.a);
    const b = of(row.b);
    expect(rangeText(union(a, b))).toBe(row.union);
    expect(rangeText(minus(a, b))).toBe(row.minus);
    expect(rangeText(intersect(a, b))).toBe(row.intersect);
    expect(overlaps(a, b)).toBe(row.intersect !== "");
    expect(covers(a, b)).toBe(row.intersect === row.b);
  });

  it("of two families shares nothing", () => {
    const [a, b] = [of("0.0.0.0-255.255.255.255"), of("::-::ff")];
    expect(overlaps(a, b)).toBe(false);
    expect(minus(a, b)).toEqual(a);
    expect(minus(b, a)).toEqual(b);
    expect(intersect(a, b)).toEqual([]);
    expect(covers(a, b)).toBe(false);
    expect(contains(a, address("::1"))).toBe(false);
  });
});

describe("sizes are exact beyond 2^53", () => {
  it.each([
    { input: "", want: 0n },
    { input: "0.0.0.0-255.255.255.255", want: 2n ** 32n },
    { input: "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", want: 2n ** 128n },
    { input: "::-::ffff:ffff:ffff:fffe 2001:db8::", want: 2n ** 64n },
  ])("sizeOf($input) is $want", ({ input, want }) => {
    expect(sizeOf(of(input))).toBe(want);
  });
});

describe("search", () => {
  const range = "10.0.0.2-10.0.0.3 10.0.0.6 10.0.0.9-10.0.0.10";
  it.each([
    { at: "10.0.0.1", contained: false, index: 0 },
    { at: "10.0.0.2", contained: true, index: 0 },
    { at: "10.0.0.3", contained: true, index: 0 },
    { at: "10.0.0.4", contained: false, index: 1 },
    { at: "10.0.0.6", contained: true, index: 1 },
    { at: "10.0.0.7", contained: false, index: 2 },
    { at: "10.0.0.10", contained: true, index: 2 },
    { at: "10.0.0.11", contained: false, index: 3 },
  ])(`of ${range} contains($at) is $contained, indexAt($at) is $index`, ({ at, contained, index }) => {
    expect(contains(of(range), address(at))).toBe(contained);
    expect(indexAt(of(range), address(at))).toBe(index);
  });
});
