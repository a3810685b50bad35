import fc from "fast-check";

const part = fc.constantFrom(
  "a",
  "b",
  "0",
  "-",
  "--",
  "---",
  ".",
  "a-b",
  "3053e1037e0f",
  "a".repeat(20),
  "b".repeat(31),
);

/** Names of Kubernetes objects that are hard to tell apart: dashes, dots, hashes, long ones. */
export function nameArb(maxLength: number): fc.Arbitrary<string> {
  return fc.array(part, { minLength: 1, maxLength: 8 }).map(
    (parts) =>
      parts
        .join("")
        .slice(0, maxLength)
        .replace(/^[-.]+|[-.]+$/g, "") || "a",
  );
}

const lone = { first: 0xd800, count: 0x800 };

/** Any code point but lone surrogates: fast-check's own `binary`, without its table of a million of them, which takes seconds to make. */
export const anyCodePoint = fc.integer({ min: 0, max: 0x10ffff - lone.count }).map(
  (point) => String.fromCodePoint(point < lone.first ? point : point + lone.count),
  (text) => {
    const point = String(text).codePointAt(0) ?? 0;
    return point < lone.first ? point : point - lone.count;
  },
);

/** Text that some reader of YAML takes for something else. */
const trapArb = fc.constantFrom(
  ..."on off yes no y n true null ~ 0644 0o17 0b1 0x1F 1_000 1e3 .5 -0 +1 .inf .nan = << - ? : # | > [ { } ] , & * ! % @ ` ' \" --- ... {{ }}".split(
    " ",
  ),
  ..."11:22:33:44:55:10 1:30 190:20:30 2001:db8::1 2026-11-21 10.0.0.1/24 __proto__".split(" "),
  "",
  " a",
  "a ",
  "a: b",
  "a #b",
  "a\nb",
  "a\n",
  "\n",
  "\t",
  "- a",
  "é\u2028\u0085\ufeff",
  "\u0000\u001b[31m",
);

export const textArb = fc
  .oneof(trapArb, fc.string({ unit: anyCodePoint, maxLength: 8 }), fc.string({ maxLength: 8 }))
  .filter((text) => text.isWellFormed());

/** Plain data as a manifest holds it. */
export const dataArb = fc.letrec<{ data: unknown }>((tie) => ({
  data: fc.oneof(
    { maxDepth: 3 },
    textArb,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("data"), { maxLength: 3 }),
    fc.dictionary(
      textArb.filter((key) => key !== "__proto__" && key !== "<<" && !key.includes("{{")),
      tie("data"),
      { maxKeys: 3 },
    ),
  ),
})).data;

/** Does any text of this data hold what would be taken for a template? */
export function hasTemplate(data: unknown): boolean {
  return JSON.stringify(data).includes("{{");
}
