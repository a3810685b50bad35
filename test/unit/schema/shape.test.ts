import { describe, expect, it } from "vitest";
import { any, list, mapping, maybe, raw, text, view } from "../../../schema/shape.ts";

const asContainer = view({ name: text, restarts: any });
const asPod = view({
  metadata: view({ name: text, labels: mapping }),
  spec: view({ containers: list(asContainer), hook: maybe(asContainer) }),
});

/** What is read of an object. */
function read(object: unknown) {
  const { metadata, spec } = asPod(object);
  const { name, labels } = metadata;
  return { name, labels, containers: spec.containers.map((one) => one.name), hook: spec.hook?.name };
}

const nothing = { name: undefined, labels: {}, containers: [], hook: undefined };

describe("what is otherwise than expected is absent or empty", () => {
  it.each<[string, unknown, Partial<ReturnType<typeof read>>]>([
    ["nothing", undefined, {}],
    ["null", null, {}],
    ["a text", "pod", {}],
    ["a list", [{ metadata: { name: "a" } }], {}],
    ["a text where a mapping belongs", { metadata: "a", spec: "b" }, {}],
    ["a list where a mapping belongs", { metadata: ["a"], spec: [] }, {}],
    ["null where a mapping belongs", { metadata: null, spec: null }, {}],
    ["a number where a text belongs", { metadata: { name: 5 } }, {}],
    ["a list where labels belong", { metadata: { name: "a", labels: ["b"] } }, { name: "a" }],
    ["a mapping where a list belongs", { spec: { containers: { name: "a" } } }, {}],
    ["items that are no mappings", { spec: { containers: [null, { name: "a" }] } }, { containers: [undefined, "a"] }],
    ["a text where a mapping may be", { spec: { hook: "a" } }, {}],
    ["fields that nobody asked for", { kind: "Pod", metadata: { uid: "1" } }, {}],
    [
      "all as it belongs",
      { metadata: { name: "a", labels: { b: 5 } }, spec: { containers: [{ name: "c" }], hook: { name: "d" } } },
      { name: "a", labels: { b: 5 }, containers: ["c"], hook: "d" },
    ],
  ])("%s", (_, object, expected) => expect(read(object)).toEqual({ ...nothing, ...expected }));
});

describe("a view", () => {
  const hook = { name: "a", restarts: [1], more: true };
  const { spec } = asPod({ spec: { hook, containers: "none", more: true } });

  it("gives what it reads as it stands", () => {
    expect(spec.hook && raw(spec.hook)).toBe(hook);
    expect(spec.hook?.restarts).toBe(hook.restarts);
    expect({ ...raw(spec), hook: 1 }).toEqual({ hook: 1, containers: "none", more: true });
    expect(raw(asPod(null).spec)).toEqual({});
  });

  it("is no mapping to write, and has no other fields, for the compiler", () => {
    // @ts-expect-error Its fields are not its own.
    const written: { readonly [field: string]: unknown } = spec;
    // @ts-expect-error There is no such field.
    expect([{ ...written }, spec.nodeName]).not.toContain("none");
  });
});
