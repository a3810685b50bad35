import { describe, expect, it } from "vitest";
import { address, bitsOf, familyOf, formatAddress, parseAddress } from "../../../core/address.ts";
import { IpamError } from "../../../core/errors.ts";

const V6 = 1n << 128n;

describe("parseAddress reads", () => {
  it.each<[input: string, want: bigint, canonical: string]>([
    ["0.0.0.0", 0n, "0.0.0.0"],
    ["127.0.0.1", 0x7f000001n, "127.0.0.1"],
    ["10.20.30.40", 0x0a141e28n, "10.20.30.40"],
    ["255.255.255.255", 0xffffffffn, "255.255.255.255"],
    // RFC 4291 section 2.2
    [
      "ABCD:EF01:2345:6789:ABCD:EF01:2345:6789",
      V6 + 0xabcdef0123456789abcdef0123456789n,
      "abcd:ef01:2345:6789:abcd:ef01:2345:6789",
    ],
    ["2001:DB8:0:0:8:800:200C:417A", V6 + 0x20010db80000000000080800200c417an, "2001:db8::8:800:200c:417a"],
    ["FF01:0:0:0:0:0:0:101", V6 + 0xff010000000000000000000000000101n, "ff01::101"],
    ["0:0:0:0:0:0:0:1", V6 + 1n, "::1"],
    ["0:0:0:0:0:0:0:0", V6, "::"],
    ["::", V6, "::"],
    ["000:0:0000::01", V6 + 1n, "::1"],
    ["2001:0DB8:0000:CD30:0000:0000:0000:0000", V6 + 0x20010db80000cd300000000000000000n, "2001:db8:0:cd30::"],
    // RFC 5952 section 4: no leading zeros, the longest run, the first of two, never one group, lower case
    ["2001:0db8::0001", V6 + 0x20010db8000000000000000000000001n, "2001:db8::1"],
    ["2001:db8:0:0:0:0:2:1", V6 + 0x20010db8000000000000000000020001n, "2001:db8::2:1"],
    ["2001:db8::1:1:1:1:1", V6 + 0x20010db8000000010001000100010001n, "2001:db8:0:1:1:1:1:1"],
    ["2001:0:0:1:0:0:0:1", V6 + 0x20010000000000010000000000000001n, "2001:0:0:1::1"],
    ["2001:db8:0:0:1:0:0:1", V6 + 0x20010db8000000000001000000000001n, "2001:db8::1:0:0:1"],
    ["2001:DB8::AAAA", V6 + 0x20010db800000000000000000000aaaan, "2001:db8::aaaa"],
    // `::` for one group, and at both ends
    ["1:2:3:4:5:6:7::", V6 + 0x00010002000300040005000600070000n, "1:2:3:4:5:6:7:0"],
    ["::2:3:4:5:6:7:8", V6 + 0x00000002000300040005000600070008n, "0:2:3:4:5:6:7:8"],
    // neighbours of ::ffff:0:0/96
    ["::fffe:ffff:ffff", V6 + 0xfffeffffffffn, "::fffe:ffff:ffff"],
    ["::1:0:0:0", V6 + 0x1000000000000n, "::1:0:0:0"],
  ])("%s", (input, want, canonical) => {
    expect(parseAddress(input)).toEqual({ value: want });
    expect(formatAddress(address(input))).toBe(canonical);
  });
});

describe("parseAddress refuses", () => {
  it.each<[input: string, why: string]>([
    // CVE-2021-28918, -29418, -29921, -29923, -29424; CVE-2023-42282; CVE-2024-29415
    ["127.1", "has 2 octets"],
    ["01200034567", "has a leading zero"],
    ["012.1.2.3", "has a leading zero"],
    ["::fFFf:127.0.0.1", "mixes IPv4 into IPv6"],
    ["0x7f.0.0.1", "is not an IP address"],
    ["0x7f000001", "is not an IP address"],
    ["2130706433", "has an octet above 255"],
    ["127", "has 1 octets"],
    ["0127.0.0.1", "has a leading zero"],
    ["127.0.0.01", "has a leading zero"],
    ["00.0.0.0", "has a leading zero"],
    ["127.0.00.1", "has a leading zero"],
    // the wrong number of octets; the proposal's typing errors
    ["10.10.10.11.10", "has 5 octets"],
    ["10.10.10.12.10", "has 5 octets"],
    ["1.2.3", "has 3 octets"],
    ["1.2.3.4.", "is not an IP address"],
    [".1.2.3.4", "is not an IP address"],
    ["1..3.4", "is not an IP address"],
    ["1.2.3.256", "has an octet above 255"],
    ["1.2.3.4294967296", "has an octet above 255"],
    ["", "is not an IP address"],
    [".", "is not an IP address"],
    ["...", "is not an IP address"],
    // signs, blanks, control characters, digits of other scripts
    ["+1.2.3.4", "is not an IP address"],
    ["-1.2.3.4", "is not an IP address"],
    ["1e1.2.3.4", "is not an IP address"],
    [" 1.2.3.4", "is not an IP address"],
    ["1.2.3.4 ", "is not an IP address"],
    ["1.2.3.4\n", "is not an IP address"],
    ["1.2.3.4\u0000", "is not an IP address"],
    ["1.2.3.4\u0000.evil", "is not an IP address"],
    ["１.2.3.4", "is not an IP address"],
    ["1.2.3.٤", "is not an IP address"],
    ["1。2。3。4", "is not an IP address"],
    ["localhost", "is not an IP address"],
    // ports, brackets, prefix lengths, zones
    ["1.2.3.4:80", "mixes IPv4 into IPv6"],
    ["1.2.3.4/24", "is not an IP address"],
    ["[1.2.3.4]", "is not an IP address"],
    ["[::1]", "is not an IP address"],
    ["[::1]:80", "is not an IP address"],
    ["::1/64", "has a prefix length"],
    ["fe80::1%eth0", "has a zone"],
    ["fe80::1%25eth0", "has a zone"],
    ["::1%", "has a zone"],
    // IPv4 in IPv6, in either spelling
    ["::ffff:7f00:1", "is an IPv4-mapped address"],
    ["0:0:0:0:0:FFFF:0:0", "is an IPv4-mapped address"],
    ["::ffff:ffff:ffff", "is an IPv4-mapped address"],
    ["::127.0.0.1", "mixes IPv4 into IPv6"],
    ["64:ff9b::1.2.3.4", "mixes IPv4 into IPv6"],
    // wrong groups
    [":", "is not an IP address"],
    [":::", "is not an IP address"],
    ["1::2::3", "is not an IP address"],
    ["1:2:3:4:5:6:7", "is not an IP address"],
    ["1:2:3:4:5:6:7:8:9", "is not an IP address"],
    ["1:2:3:4:5:6:7:8::", "is not an IP address"],
    ["1::2:3:4:5:6:7:8", "is not an IP address"],
    [":1:2:3:4:5:6:7", "is not an IP address"],
    ["1:2:3:4:5:6:7:", "is not an IP address"],
    ["00001::", "is not an IP address"],
    ["12345::", "is not an IP address"],
    ["::g", "is not an IP address"],
    ["::-1", "is not an IP address"],
    ["::+1", "is not an IP address"],
    ["0x1::", "is not an IP address"],
    ["::1_0", "is not an IP address"],
    ["::１", "is not an IP address"],
    [" ::1", "is not an IP address"],
    ["::1 ", "is not an IP address"],
    ["::1\n", "is not an IP address"],
    ["::1\u0000", "is not an IP address"],
    ["0000:0000:0000:0000:0000:0000:0000:0000:0000000", "is too long"],
  ])("%j", (input, why) => {
    const { issues, value } = parseAddress(input);
    expect(value).toBeUndefined();
    expect(issues).toHaveLength(1);
    expect(issues?.[0]?.message).toMatch(`${JSON.stringify(input)} ${why}`);
  });

  it.each([
    ["1.", 2 ** 20],
    [":", 2 ** 20],
    ["1:", 2 ** 19],
    ["0", 2 ** 20],
    ["\u0000", 2 ** 20],
  ])("%j repeated %d times, in a short message", (part, times) => {
    const message = parseAddress(part.repeat(times)).issues?.[0]?.message ?? "";
    expect(message).toMatch("is too long");
    expect(message.length).toBeLessThan(500);
  });

  it.each([
    [undefined],
    [null],
    [3],
    [Number.NaN],
    [true],
    [["::1"]],
    [{ toString: () => "::1" }],
    [Symbol("1.2.3.4")],
    [() => "::1"],
    [2n ** 200n],
  ])("what is not text: %s", (input) => {
    expect(parseAddress(input).issues?.[0]?.message).toMatch("text");
  });

  it("what is not text and cannot be printed", () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    expect(parseAddress(loop).issues?.[0]?.message).toMatch("text");
    expect(parseAddress(Array(9).fill("y".repeat(10_000))).issues?.[0]?.message.length).toBeLessThan(500);
  });
});

it("address(text) throws what parseAddress gives as issues", () => {
  expect(() => address("127.1")).toThrow(new IpamError("invalid", parseAddress("127.1").issues ?? []));
});

it.each([
  { a: "255.255.255.255", b: "::", family: [4, 6], bits: [32, 128] },
  { a: "0.0.0.0", b: "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", family: [4, 6], bits: [32, 128] },
])("$a sorts before $b, which is of the other family", ({ a, b, family, bits }) => {
  expect(address(a) < address(b)).toBe(true);
  expect([familyOf(address(a)), familyOf(address(b))]).toEqual(family);
  expect([bitsOf(familyOf(address(a))), bitsOf(familyOf(address(b)))]).toEqual(bits);
});
