import { isIP, isIPv4, isIPv6 } from "node:net";
import fc from "fast-check";
import { Address4, Address6 } from "ip-address";
import { describe, expect, it } from "vitest";
import { type Address, formatAddress, parseAddress } from "../../../core/address.ts";
import { addressArb, addressTextArb, nearAddressArb } from "../../support/core/arbitrary.ts";

const parsed = (text: unknown) => parseAddress(text).value;
const mapped = /^::ffff:[0-9a-f]+:[0-9a-f]+$/;
const asUrl = (text: string) => new URL(`http://[${text}]/`).hostname.slice(1, -1);

describe("parseAddress", () => {
  it("takes what node:net takes, but no zone and no IPv4 inside IPv6", () => {
    fc.assert(
      fc.property(fc.oneof(addressTextArb, nearAddressArb), (text) => {
        const embedded = text.includes(":") && (/[.%]/.test(text) || (isIPv6(text) && mapped.test(asUrl(text))));
        expect(parsed(text) !== undefined).toBe(isIP(text) !== 0 && !embedded);
      }),
      { numRuns: 3000 },
    );
  });

  it("reads the number that ip-address reads", () => {
    fc.assert(
      fc.property(fc.oneof(addressTextArb, nearAddressArb), (text) => {
        const value = parsed(text);
        if (value === undefined) return;
        expect(value).toBe(isIPv4(text) ? new Address4(text).bigInt() : (1n << 128n) + new Address6(text).bigInt());
      }),
      { numRuns: 2000 },
    );
  });

  it("never throws", () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything({ withBigInt: true, withDate: true, withMap: true }), fc.string()), (input) => {
        const { value, issues } = parseAddress(input);
        expect(value === undefined).toBe(issues !== undefined);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("formatAddress", () => {
  it("is undone by parseAddress", () => {
    fc.assert(
      fc.property(addressArb, (address) => {
        expect(parsed(formatAddress(address))).toBe(address);
      }),
    );
  });

  it("writes what ip-address and WHATWG URL write", () => {
    fc.assert(
      fc.property(addressTextArb, (text) => {
        const value = parsed(text);
        if (value === undefined) return;
        const canonical = formatAddress(value);
        expect(canonical).toBe(isIPv4(text) ? new Address4(text).correctForm() : new Address6(text).correctForm());
        if (isIPv6(text)) expect(canonical).toBe(asUrl(text));
      }),
      { numRuns: 2000 },
    );
  });

  it("writes all patterns of zero and other groups as WHATWG URL does", () => {
    const wrong: string[] = [];
    for (const other of [0x1, 0x10, 0xabc, 0xffff])
      for (let pattern = 0; pattern < 256; pattern++) {
        const groups = Array.from({ length: 8 }, (_, i) => ((pattern >> i) & 1 ? other : 0));
        const full = groups.map((group) => group.toString(16).padStart(4, "0")).join(":");
        const value = ((1n << 128n) + BigInt(`0x${full.replaceAll(":", "")}`)) as Address;
        if (formatAddress(value) !== asUrl(full)) wrong.push(full);
        if (parsed(full) !== value && !full.startsWith("0000:0000:0000:0000:0000:ffff:")) wrong.push(full);
      }
    expect(wrong).toEqual([]);
  });
});
