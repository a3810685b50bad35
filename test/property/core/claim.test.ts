import fc from "fast-check";
import { expect, it } from "vitest";
import {
  claimKey,
  formatOwner,
  nameOfKey,
  type Owner,
  ownerOfKey,
  parseClaimKey,
  parseOwner,
} from "../../../core/claim.ts";

/** Short texts of few letters, so that two of them often share a part. */
const ownerArb: fc.Arbitrary<Owner> = fc.record(
  {
    kind: fc.stringMatching(/^[ABk][Bk1]{0,1}$/),
    namespace: fc.stringMatching(/^[a1][a.-]{0,1}$/),
    name: fc.stringMatching(/^[aB1][aB._-]{0,1}$/),
  },
  { requiredKeys: ["kind", "name"] },
);
const nameArb = fc.stringMatching(/^[aB1/:. ]{1,4}$/);
const claimArb = fc.tuple(ownerArb, nameArb);

it("distinct claims have distinct keys", () => {
  fc.assert(
    fc.property(claimArb, claimArb, (a, b) => {
      const same =
        a[0].kind === b[0].kind && a[0].namespace === b[0].namespace && a[0].name === b[0].name && a[1] === b[1];
      expect(claimKey(...a) === claimKey(...b)).toBe(same);
    }),
    { numRuns: 5000 },
  );
});

it("parseClaimKey undoes claimKey", () => {
  fc.assert(
    fc.property(claimArb, ([owner, name]) => {
      const key = claimKey(owner, name);
      expect(parseClaimKey(key)).toEqual({ value: { owner, name } });
      expect([ownerOfKey(key), nameOfKey(key)]).toEqual([formatOwner(owner), name]);
    }),
    { numRuns: 1000 },
  );
});

it("what parseOwner and parseClaimKey read, they read back", () => {
  const nearKey = fc.oneof(fc.stringMatching(/^[AB]{0,2}\/?[ab:]{0,4}\/?[ab/]{0,3}$/), fc.string());
  fc.assert(
    fc.property(nearKey, (text) => {
      const owner = parseOwner(text).value;
      if (owner !== undefined) expect(formatOwner(owner)).toBe(text);
      const claim = parseClaimKey(text).value;
      if (claim !== undefined) expect(claimKey(claim.owner, claim.name)).toBe(text);
    }),
    { numRuns: 3000 },
  );
});
