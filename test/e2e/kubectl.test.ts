import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, it } from "vitest";
import { isPlain } from "../../core/claim.ts";
import { yamlOfEach } from "../../schema/yaml-text.ts";
import { tries } from "../support/long.ts";
import { tool } from "../support/tools/tools.ts";

// The real kubectl reads what is rendered, without a cluster: `annotate --local`.
const parts = [
  "0x",
  "0X",
  "0b",
  "0o",
  "0O",
  "1",
  "59",
  "F",
  "e",
  "E",
  "_",
  "-",
  "+",
  ".",
  ":",
  "on",
  "No",
  "~",
  "\t",
  "\n",
];
const odd = [
  "\u0085",
  "\u2028",
  "\u2029",
  "\ttab\nline",
  "a\n\tb\n",
  "6e_2",
  "-_4_",
  "62E_1",
  "0O_6_",
  "1:30",
  ".5_",
  "=",
];
const text = fc.oneof(
  fc.constantFrom(...odd),
  fc.array(fc.constantFrom(...parts), { maxLength: 6 }).map((list) => list.join("")),
  fc.string({ unit: "grapheme", maxLength: 12 }).filter((one) => isPlain(one) && one.isWellFormed()),
);

it("every text of a rendered policy is that text to kubectl", async () => {
  const kubectl = await tool("kubectl");
  const policy = (texts: readonly string[]) => ({
    apiVersion: "nmstate.io/v1",
    kind: "NodeNetworkConfigurationPolicy",
    metadata: { name: "a" },
    spec: { desiredState: { texts } },
  });
  fc.assert(
    fc.property(fc.array(text, { minLength: 20, maxLength: 60 }), (texts) => {
      const [input] = yamlOfEach([policy(texts)]);
      const read = execFileSync(kubectl, ["annotate", "--local", "-f", "-", "x=y", "-o", "json"], {
        input,
        encoding: "utf8",
      });
      expect(JSON.parse(read).spec.desiredState.texts).toEqual(texts);
    }),
    { numRuns: tries(30, 1_000) },
  );
});
