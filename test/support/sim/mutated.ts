import type { Bag } from "../../../schema/objects.ts";

const texts = ["", "x", "{", "[{}]", '{"a": null}', "10.3.0.1/20", "\u0000"];
const shapes: readonly unknown[] = [...texts, null, 0, -1, 1.5, true, [], [null], [[]], {}, { a: null }];

/** An object with one field of it of another shape, as far as an API server takes it for any kind: labels and annotations are texts. */
export function mutated<T extends Bag>(object: T, pick: (below: number) => number): T {
  const paths = pathsIn(object).filter(isAnyones);
  const path = paths[pick(paths.length)] ?? [];
  const values = path[0] === "metadata" ? texts : shapes;
  return replaced(object, path, values[pick(values.length)]) as T;
}

function isAnyones([first = "", second = "", third]: readonly string[]): boolean {
  if (first === "metadata") return ["labels", "annotations"].includes(second) && third !== undefined;
  return second !== "" && !["apiVersion", "kind"].includes(first);
}

function pathsIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, one]) => pathsIn(one, [...path, key]))];
}

function replaced(value: unknown, [first, ...rest]: readonly string[], by: unknown): unknown {
  if (first === undefined) return by;
  const copy: Record<string, unknown> = Array.isArray(value) ? ([...value] as never) : { ...(value as Bag) };
  copy[first] = replaced(copy[first], rest, by);
  return copy;
}
