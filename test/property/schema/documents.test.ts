import fc from "fast-check";
import { expect, it } from "vitest";
import { IpamError } from "../../../core/errors.ts";
import { readFolder } from "../../../pipeline/folder.ts";
import { readNodes } from "../../../schema/read-nodes.ts";
import { quoteTemplates, readTemplate } from "../../../schema/template.ts";
import { splitDocuments } from "../../../schema/yaml.ts";
import { nicPolicyText, poolText } from "../../support/schema/text.ts";

const piece = fc.constantFrom(
  ..."--- ... \n \r\n \r # a: - [ ] { } , & * ! % | > ' \" \\ {{ }} kind NodeIPPool Node List metadata name spec range cidr \t \u2028 \ufeff".split(
    " ",
  ),
  " ",
  "\n",
  "\n---\n",
  ": ",
  "  ",
  poolText(),
  nicPolicyText("a"),
  "kind: Node\napiVersion: v1\nmetadata: {name: n1}\n",
  "{{ capture.p.ip }}",
);
const soupArb = fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join(""));

/** The value, or the code and places of an IpamError; any other error is one. */
function outcome(call: () => unknown, text: string): string {
  try {
    call();
    return "read";
  } catch (error) {
    if (!(error instanceof IpamError)) throw error;
    for (const { at, message } of error.issues) {
      expect(message).not.toBe("");
      if (at !== undefined) expect(at.line).toBeLessThanOrEqual(text.split(/\r\n|[\n\r]/).length + 1);
      if (at !== undefined) expect(Math.min(at.line, at.column)).toBeGreaterThanOrEqual(1);
    }
    return error.code;
  }
}

it("readManifests and readNodes read any text or say what is wrong with it", () => {
  fc.assert(
    fc.property(soupArb, (text) => {
      expect(["read", "invalid"]).toContain(outcome(() => readFolder([{ path: "f", text }]), text));
      expect(["read", "invalid"]).toContain(outcome(() => readNodes({ path: "f", text }), text));
    }),
    { numRuns: 1500 },
  );
});

/** Blank lines, comments and markers alone. */
function isBetween(text: string): boolean {
  return text.split("\n").every((line) => /^\s*(?:(?:---|\.\.\.)\s*)?(?:#.*)?$/s.test(line));
}

it("splitDocuments gives the parts of a text in order, each once, on the lines it says", () => {
  fc.assert(
    fc.property(soupArb, (text) => {
      const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
      let from = 0;
      for (const chunk of splitDocuments({ path: "f", text })) {
        const at = (starts[chunk.line - 1] as number) + chunk.column;
        expect(text.slice(at, at + chunk.text.length)).toBe(chunk.text);
        expect(isBetween(text.slice(from, at))).toBe(true);
        from = at + chunk.text.length;
      }
      expect(isBetween(text.slice(from))).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

it("documents joined by --- are split into the same documents", () => {
  const line = fc.constantFrom("a: 1", "b: [c, d]", "- e", "# f", "  - g", "h: |", "  i", "", "  ---");
  const document = fc.array(line, { maxLength: 5 }).map((lines) => ["k: v", ...lines, ""].join("\n"));
  fc.assert(
    fc.property(
      fc.array(document, { minLength: 1, maxLength: 5 }),
      fc.constantFrom("---\n", "--- # x\n", "...\n---\n"),
      (documents, marker) => {
        const chunks = splitDocuments({ path: "f", text: documents.join(marker) });
        expect(chunks.map(({ text }) => text)).toEqual(documents);
      },
    ),
    { numRuns: 1000 },
  );
});

it("readTemplate reads whole references of the closed grammar and nothing else that holds {{", () => {
  const near = fc
    .array(fc.constantFrom("{{", "}}", " ", "capture", ".", "x", "ip", "-", "1", "{", "}", "\n", "|"), { maxLength: 9 })
    .map((parts) => parts.join(""));
  const grammar = /^\{\{ capture\.[A-Za-z][A-Za-z0-9-]*(\.[^\s.{}]+)* \}\}$/;
  fc.assert(
    fc.property(near, (text) => {
      const expected = !text.includes("{{") ? "text" : grammar.test(text) && !text.endsWith("\n") ? "capture" : "bad";
      expect(readTemplate(text).kind).toBe(expected);
    }),
    { numRuns: 3000 },
  );
});

it("quoteTemplates keeps every line where it is, and adds nothing but quotes", () => {
  fc.assert(
    fc.property(soupArb, (text) => {
      const quoted = quoteTemplates(text);
      expect(quoted.split("\n").length).toBe(text.split("\n").length);
      expect(quoted.replaceAll('"', "")).toBe(text.replaceAll('"', ""));
      expect(quoteTemplates(quoted)).toBe(quoted);
    }),
    { numRuns: 2000 },
  );
});
