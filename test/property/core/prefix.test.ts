import fc from "fast-check";
import { Address4, Address6 } from "ip-address";
import { expect, it } from "vitest";
import { bitsOf, familyOf, formatAddress, formatPrefix, parsePrefix } from "../../../core/address.ts";
import { unwrap } from "../../../core/errors.ts";
import { addressArb } from "../../support/core/arbitrary.ts";

it("parsePrefix drops host bits and ends where ip-address ends, for every length", () => {
  fc.assert(
    fc.property(addressArb, (address) => {
      const isV4 = familyOf(address) === 4;
      for (let length = 0; length <= bitsOf(familyOf(address)); length++) {
        const text = `${formatAddress(address)}/${length}`;
        const prefix = unwrap(parsePrefix(text));
        const want = isV4 ? new Address4(text) : new Address6(text);
        expect(`${formatAddress(prefix.first)} ${formatAddress(prefix.last)} ${prefix.length}`).toBe(
          `${want.startAddress().correctForm()} ${want.endAddress().correctForm()} ${length}`,
        );
        expect(unwrap(parsePrefix(formatPrefix(prefix)))).toEqual(prefix);
      }
    }),
    { numRuns: 15 },
  );
});

it("parsePrefix takes plain numbers alone", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9+\-. ex]{0,4}$/), (length) => {
      const isPlain = /^(0|[1-9][0-9]?)$/.test(length) && Number(length) <= 32;
      expect(parsePrefix(`10.0.0.0/${length}`).value !== undefined).toBe(isPlain);
    }),
    { numRuns: 2000 },
  );
});
