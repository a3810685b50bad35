import { describe, expect, it } from "vitest";
import { changedFields, isOnlyDropped, isSuperset } from "../../../controller/write/superset.ts";

describe("what was applied is there", () => {
  it.each([
    ["the same", { a: 1, b: ["x"] }, { a: 1, b: ["x"] }],
    ["in another order of fields", { b: 2, a: 1 }, { a: 1, b: 2 }],
    ["with a default beside it", { a: 1, maxUnavailable: "50%" }, { a: 1 }],
    ["with a default inside", { a: { b: 1, c: 2 } }, { a: { b: 1 } }],
    ["with a default in each item of a list", { list: [{ a: 1, state: "up" }] }, { list: [{ a: 1 }] }],
    ["without a null, which servers drop", {}, { a: null }],
    ["with a null", { a: null }, { a: null }],
    ["an empty list", { a: [] }, { a: [] }],
    ["nothing", { a: 1 }, {}],
  ])("%s", (_, there, applied) => {
    expect(isSuperset(there, applied)).toBe(true);
  });
});

describe("what was applied is not there", () => {
  it.each([
    ["another value", { a: 2 }, { a: 1 }],
    ["another type", { a: "1" }, { a: 1 }],
    ["no field", {}, { a: 1 }],
    ["nothing", undefined, { a: {} }],
    ["one item more", { a: [1, 2] }, { a: [1] }],
    ["one item less", { a: [1] }, { a: [1, 2] }],
    ["another order of items", { a: [2, 1] }, { a: [1, 2] }],
    ["a mapping in place of a list", { a: { 0: 1 } }, { a: [1] }],
    ["a list in place of a mapping", { a: [] }, { a: {} }],
    ["something in place of null", { a: 1 }, { a: null }],
    ["no list", {}, { a: [] }],
  ])("%s", (_, there, applied) => {
    expect(isSuperset(there, applied)).toBe(false);
  });
});

describe("the answer to a write", () => {
  it.each<[string, unknown, unknown, readonly string[]]>([
    ["has it, and more", { a: { b: 1 } }, { a: { b: 1, c: 2 }, d: 3 }, []],
    ["has the items of a list, and others", { list: [{ a: 1 }] }, { list: [{ b: 2 }, { a: 1, c: 3 }] }, []],
    ["has left out what is empty", { list: [], a: null }, {}, []],
    ["has another value", { a: { "b/c": 1, d: 1 } }, { a: { "b/c": 2, d: 1 } }, ["a[b/c]"]],
    ["has not one of the items", { list: [1, 2] }, { list: [1, 3] }, ["list"]],
    ["has items where there are to be none", { list: [] }, { list: [1] }, ["list"]],
    ["has something where there is to be nothing", { a: null }, { a: 1 }, ["a"]],
    ["has nothing of it", { a: { b: 1, c: "x" } }, {}, ["a.b", "a.c"]],
  ])("%s", (_, written, answer, changed) => {
    expect(changedFields(written, answer)).toEqual(changed);
  });
});

describe("the answer to a write that lacks some of it", () => {
  it.each<[string, unknown, unknown, boolean]>([
    ["has no field of a mapping", { a: { b: 1, c: 2 } }, { a: { b: 1 } }, true],
    ["has none of its fields", { a: { b: 1 } }, {}, true],
    ["has items that lack a field", { list: [{ a: 1, b: 2 }] }, { list: [{ a: 1 }] }, true],
    ["lacks one field, and has another value of another one", { a: 1, b: 2 }, { a: 3 }, false],
    ["has no items", { list: [1] }, { list: [] }, false],
    ["has something where there is to be nothing", { a: null }, { a: 1 }, false],
    ["has a text in place of a mapping", { a: { b: 1 } }, { a: "b" }, false],
  ])("%s", (_, written, answer, isDropped) => {
    expect(isOnlyDropped(written, answer)).toBe(isDropped);
  });
});
