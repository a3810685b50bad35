import fc from "fast-check";
import { expect, it } from "vitest";
import { childName, labelValue } from "../../../integrations/nmstate/child.ts";
import { tries } from "../../support/long.ts";
import { nameArb } from "../../support/schema/arbitrary.ts";

const labelPattern = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;
const pairArb = fc.tuple(nameArb(63), nameArb(253));

it("childName gives two pairs of policy and node two names", () => {
  fc.assert(
    fc.property(pairArb, pairArb, (a, b) => {
      expect(childName(...a) === childName(...b)).toBe(a[0] === b[0] && a[1] === b[1]);
    }),
    { numRuns: tries(2_000, 50_000) },
  );
});

it("childName gives no pair the name of another one, cut anywhere", () => {
  fc.assert(
    fc.property(pairArb, (pair) => {
      const name = childName(...pair);
      for (const dashes of name.matchAll(/-+/g))
        for (let length = 1; length <= dashes[0].length; length++) {
          const policy = name.slice(0, dashes.index);
          const node = name.slice(dashes.index + length);
          if (labelPattern.test(node) && (policy !== pair[0] || node !== pair[1]))
            expect(childName(policy, node)).not.toBe(name);
        }
    }),
    { numRuns: 2000 },
  );
});

it("childName and labelValue make names and label values that the handler's admission policy takes", () => {
  fc.assert(
    fc.property(pairArb, ([policy, node]) => {
      for (const text of [childName(policy, node), labelValue(policy), labelValue(node)]) {
        expect(text.length).toBeLessThanOrEqual(63);
        expect(text).toMatch(labelPattern);
      }
    }),
    { numRuns: 2000 },
  );
});

it("labelValue gives two texts two values", () => {
  fc.assert(
    fc.property(nameArb(253), nameArb(253), (a, b) => {
      expect(labelValue(a) === labelValue(b)).toBe(a === b);
    }),
    { numRuns: 2000 },
  );
});
