import fc from "fast-check";
import { expect, it } from "vitest";
import { yamlOf, yamlOfEach } from "../../../schema/yaml-text.ts";
import { addressTextArb } from "../../support/core/arbitrary.ts";
import { tries } from "../../support/long.ts";
import { nameArb, textArb } from "../../support/schema/arbitrary.ts";

const near = fc
  .array(fc.constantFrom("a", "f", "e", "0", "1", "59", "x", ":", "::", ".", "-", "/", "_", "on", "no", "inf", " "), {
    maxLength: 8,
  })
  .map((parts) => parts.join(""));
const gap = fc.constantFrom("nodeippool-gap", "a nodeippool-gap", "nodeippool-gap: ");
const mac = fc
  .array(fc.constantFrom("00", "09", "59", "60", "0e", "1f"), { minLength: 6, maxLength: 6 })
  .map((pairs) => pairs.join(":"));
const leaf = fc.oneof(
  mac,
  near,
  nameArb(70),
  addressTextArb,
  textArb,
  gap,
  fc.double(),
  fc.constantFrom(0, null, true),
);
const key = fc.oneof(fc.constantFrom("ip", "name", "address"), near, gap).filter((text) => text !== "__proto__");
/** The same skeleton with several sets of leaves, so that the second one is filled in. */
const alikeArb = fc
  .letrec<{ skeleton: unknown }>((tie) => ({
    skeleton: fc.oneof(
      { maxDepth: 4 },
      fc.constant(undefined),
      fc.array(tie("skeleton"), { maxLength: 3 }),
      fc.dictionary(key, tie("skeleton"), { maxKeys: 4 }),
    ),
  }))
  .skeleton.chain((skeleton) => fc.tuple(...[1, 2, 3].map(() => filled(skeleton))));

function filled(skeleton: unknown): fc.Arbitrary<unknown> {
  if (skeleton === undefined) return leaf;
  if (Array.isArray(skeleton)) return fc.tuple(...skeleton.map(filled));
  return fc.record(Object.fromEntries(Object.entries(skeleton as object).map(([name, part]) => [name, filled(part)])));
}

it("yamlOfEach writes what yamlOf writes, byte for byte", () => {
  fc.assert(
    fc.property(alikeArb, (values) => {
      const objects = values.map((value) => ({ value }));
      expect(yamlOfEach(objects)).toEqual(objects.map(yamlOf));
    }),
    { numRuns: tries(400, 15_000) },
  );
});
