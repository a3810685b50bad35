import { describe, expect, it } from "vitest";
import { address, formatAddress, formatPrefix, parsePrefix, prefixAt } from "../../../core/address.ts";
import { unwrap } from "../../../core/errors.ts";

describe("parsePrefix reads", () => {
  it.each<[input: string, canonical: string, last: string]>([
    ["10.0.0.0/24", "10.0.0.0/24", "10.0.0.255"],
    ["10.10.11.0/16", "10.10.0.0/16", "10.10.255.255"], // the proposal's own host bits
    ["10.0.0.7/31", "10.0.0.6/31", "10.0.0.7"],
    ["10.0.0.7/32", "10.0.0.7/32", "10.0.0.7"],
    ["255.255.255.255/1", "128.0.0.0/1", "255.255.255.255"],
    ["192.0.2.1/0", "0.0.0.0/0", "255.255.255.255"],
    ["2001:4860:4860::/116", "2001:4860:4860::/116", "2001:4860:4860::fff"],
    ["2001:DB8::1/32", "2001:db8::/32", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
    ["2001:db8::3/127", "2001:db8::2/127", "2001:db8::3"],
    ["2001:db8::3/128", "2001:db8::3/128", "2001:db8::3"],
    ["::1/0", "::/0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ])("%s as %s up to %s", (input, canonical, last) => {
    const prefix = unwrap(parsePrefix(input));
    expect(formatPrefix(prefix)).toBe(canonical);
    expect(formatAddress(prefix.last)).toBe(last);
  });
});

describe("parsePrefix refuses", () => {
  it.each<[input: unknown, why: string]>([
    ["10.0.0.0", "has no prefix length"],
    ["::", "has no prefix length"],
    ["/24", "is not an IP address"],
    ["10.0.0.0/", "is not a number from 0 to 32"],
    ["10.0.0.0/+24", "is not a number from 0 to 32"],
    ["10.0.0.0/-1", "is not a number from 0 to 32"],
    ["10.0.0.0/-0", "is not a number from 0 to 32"],
    ["10.0.0.0/024", "is not a number from 0 to 32"],
    ["10.0.0.0/00", "is not a number from 0 to 32"],
    ["10.0.0.0/33", "is not a number from 0 to 32"],
    ["::/129", "is not a number from 0 to 128"],
    ["10.0.0.0/24.0", "is not a number from 0 to 32"],
    ["10.0.0.0/1.5", "is not a number from 0 to 32"],
    ["10.0.0.0/1e1", "is not a number from 0 to 32"],
    ["10.0.0.0/0x18", "is not a number from 0 to 32"],
    ["10.0.0.0/24 ", "is not a number from 0 to 32"],
    ["10.0.0.0/ 24", "is not a number from 0 to 32"],
    ["10.0.0.0/24\n", "is not a number from 0 to 32"],
    ["10.0.0.0/24/24", "is not a number from 0 to 32"],
    ["10.0.0.0/２４", "is not a number from 0 to 32"],
    ["10.0.0.0/NaN", "is not a number from 0 to 32"],
    ["10.0.0.0/Infinity", "is not a number from 0 to 32"],
    ["10.0.0.0/255.255.255.0", "is not a number from 0 to 32"],
    ["10.0.0.0\u0000/24", "is not an IP address"],
    ["10.0.0/24", "has 3 octets"],
    ["010.0.0.0/24", "has a leading zero"],
    ["::ffff:10.0.0.0/120", "mixes IPv4 into IPv6"],
    ["::ffff:a00:0/120", "is an IPv4-mapped address"],
    ["fe80::%eth0/64", "has a zone"],
    [24, "text"],
    [null, "text"],
    [undefined, "text"],
  ])("%j", (input, why) => {
    const { issues, value } = parsePrefix(input);
    expect(value).toBeUndefined();
    expect(issues?.[0]?.message).toMatch(why);
  });

  it("a prefix length of 1 MiB, in a short message", () => {
    expect(parsePrefix(`10.0.0.0/${"1".repeat(2 ** 20)}`).issues?.[0]?.message.length).toBeLessThan(500);
  });
});

it.each([
  { at: "10.1.2.3", length: 20, want: "10.1.0.0/20" },
  { at: "10.1.2.3", length: 32, want: "10.1.2.3/32" },
  { at: "2001:db8::ffff", length: 120, want: "2001:db8::ff00/120" },
])("prefixAt($at, $length) is $want", ({ at, length, want }) => {
  expect(formatPrefix(prefixAt(address(at), length))).toBe(want);
});
