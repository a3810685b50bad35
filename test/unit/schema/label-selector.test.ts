import { expect, it } from "vitest";
import { formatSelector, isSelected, parseLabelSelector } from "../../../schema/label-selector.ts";
import { expectLinear } from "../../support/core/linear.ts";

const kinds = { none: {}, empty: { a: "" }, b: { a: "b" }, c: { a: "c" }, d: { a: "d", "x.org/e_f": "1" } };

it.each([
  ["a=b", "b"],
  ["a == b", "b"],
  ["a in (b)", "b"],
  ["a=", "empty"],
  ["a in ()", "empty"],
  ["a in (b, c)", "b c"],
  ["a in(c,b,)", "empty b c"],
  ["a!=b", "none empty c d"],
  ["a notin (b)", "none empty c d"],
  ["a notin ( b , c )", "none empty d"],
  ["a", "empty b c d"],
  ["!a", "none"],
  ["! a", "none"],
  ["a, a!=b ,a notin (c)", "empty d"],
  ["a in (b,c), a != b", "c"],
  ["!x.org/e_f", "none empty b c"],
  ["x.org/e_f in (1,2),a", "d"],
  ["a=b,a=c", ""],
  ["", "none empty b c d"],
  [" ", "none empty b c d"],
  [undefined, "none empty b c d"],
])("%j holds for the labels of: %s", (text, expected) => {
  const { value: selector = [], issues } = parseLabelSelector(text);
  expect(issues).toBeUndefined();
  const held = Object.entries(kinds).filter(([, labels]) => isSelected(new Map(Object.entries(labels)), selector));
  expect(held.map(([name]) => name).join(" ")).toBe(expected);
});

it.each([
  ["=", '"="'],
  ["a,", '""'],
  ["a,,b", '",b"'],
  ["a, !b=c", '"!b=c"'],
  ["a>1", '"a>1"'],
  ["a=b c", '"a=b c"'],
  ["a in b", '"a in b"'],
  ["a in (b", '"a in (b"'],
  ["a in (b c)", '"a in (b c)"'],
  ["A.ORG/a", '"A.ORG/a"'],
  ["a/b/c", '"a/b/c"'],
  ["-a", '"-a"'],
])("%j is refused, from %s on", (text, from) => {
  expect(parseLabelSelector(text).issues?.map(({ message }) => message)).toEqual([
    `${from} does not begin with a condition on a label`,
  ]);
});

it.each([[7], [true], [null], [["a"]], [{ a: "b" }]])("%j is refused: it is no text", (value) => {
  expect(parseLabelSelector(value).issues).toEqual([
    { message: "a label selector is text", hint: "Put it in quotes." },
  ]);
});

it("selectors that say the same have one text", () => {
  const told = (text: string) => formatSelector(parseLabelSelector(text).value ?? []);
  expect(told("b in (z,y), !c,a==1,a = 1")).toBe("!c, a=1, b in (y, z)");
  for (const text of ["a=b", "a!=b", "a", "!a", "a in (b, c)", "a notin (b, c)", "a="]) expect(told(text)).toBe(text);
  expect(told(" ")).toBe("");
});

it.each([
  ["a,", ""],
  ["a", ""],
  ["a.", ""],
  ["a in (b,", "b,"],
  ["a in (b", "b"],
  [" ", " "],
  ["a in (", " "],
  ["(", "("],
])("takes time in proportion to its length: %j", (head, more) => {
  expectLinear((size) => head + (more || head).repeat(size), parseLabelSelector);
});
