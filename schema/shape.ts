import { asBag, asList, type Bag } from "./objects.ts";

/** Reads any value as one of a type. What is otherwise than expected is absent or empty, and never an error. */
export type Shape<T> = (value: unknown) => T;

/** What a shape reads. */
export type Of<S extends Shape<unknown>> = ReturnType<S>;

const original = Symbol("original");

/** A mapping, as `view` reads it. For reading alone: it has no fields of its own, so spread and write `raw` of it. */
export interface View {
  readonly [original]: Bag;
}

type Shapes = { readonly [field: string]: Shape<unknown> };

export type Fields<S extends Shapes> = View & { readonly [field in keyof S]: Of<S[field]> };

/** Whatever it is. */
export const any: Shape<unknown> = (value) => value;

export const text: Shape<string | undefined> = (value) => (typeof value === "string" ? value : undefined);

/** A mapping whose keys nobody knows beforehand, as labels have them; empty if it is none. */
export const mapping: Shape<Bag> = (value) => asBag(value) ?? {};

/** Labels and the like; empty if it is none. That its values are texts is the API server's to check, and not looked at here. */
export const texts: Shape<Readonly<Record<string, string>>> = (value) => mapping(value) as Record<string, string>;

/** A list; empty if it is none. */
export function list<T>(item: Shape<T>): Shape<readonly T[]> {
  return (value) => asList(value).map((one) => item(one));
}

/** The same where it is a mapping; else undefined. */
export function maybe<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value) => (asBag(value) === undefined ? undefined : shape(value));
}

/**
 * A mapping with these fields; without any if it is none. A field is read when somebody asks for it.
 *
 *     const asPod = view({ spec: view({ schedulingGates: list(view({ name: text })) }) });
 *     asPod(object).spec.schedulingGates.some(({ name }) => name === gate)
 */
export function view<const S extends Shapes>(shapes: S): Shape<Fields<S>> {
  class Reader implements View {
    readonly [original]: Bag;
    constructor(bag: Bag) {
      this[original] = bag;
    }
  }
  for (const [name, shape] of Object.entries(shapes)) {
    const get = function (this: View) {
      return shape(this[original][name]);
    };
    Object.defineProperty(Reader.prototype, name, { get });
  }
  const empty = new Reader({});
  return (value) => {
    const bag = asBag(value);
    return (bag === undefined ? empty : new Reader(bag)) as View as Fields<S>;
  };
}

/** The mapping that is read, as it stands: its fields by their names, and all of it where it is spread. Empty if there is none. */
export function raw<V extends View>(seen: V): { readonly [field in Exclude<keyof V, symbol>]?: unknown } {
  return seen[original] as { readonly [field in Exclude<keyof V, symbol>]?: unknown };
}
