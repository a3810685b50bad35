import { IpamError, type Issue, type Place } from "../core/index.ts";
import { didYouMean } from "./nearest.ts";
import type { Path } from "./yaml.ts";

/** Any mapping of a document. */
export type Bag = { readonly [field: string]: unknown };

/** An object of anybody's, and where it stands. */
export interface LocatedObject {
  readonly object: Bag;
  /** The place of a text inside the object, or of its key. In JSON the text is searched for: ask in its order. */
  readonly at: (path: Path, text: string, part?: "key" | "value") => Place;
}

/** What to say of a list that an API server gave in parts. */
export const cutOff = "this list is cut off (metadata.continue is set): get it whole, as kubectl get -o json does";

/** Returns whether a list is only a part, not counting Lists in it. Objects that it lacks may exist. */
export function isCut(list: object): boolean {
  const { metadata, items } = list as Bag;
  return Array.isArray(items) && Boolean(asBag(metadata)?.continue);
}

/** How deep Lists may lie in Lists. */
export const deepest = 100;

/** The objects in a value: itself, those in one level of array, and in Lists in Lists. Throws IpamError `invalid` for more of them than anybody writes. */
export function flat(value: unknown): { object: Bag; path: Path }[] {
  return Array.isArray(value) ? value.flatMap((item, i) => unlisted(item, [i])) : unlisted(value, []);
}

/** An object, or those in a List. */
function unlisted(value: unknown, path: Path): { object: Bag; path: Path }[] {
  const object = asBag(value);
  if (object === undefined) return [];
  const { kind, items } = object;
  if (typeof kind !== "string" || !kind.endsWith("List") || !Array.isArray(items)) return [{ object, path }];
  if (path.length > 2 * deepest) throw new IpamError("invalid", `Lists lie in Lists, more than ${deepest} deep`);
  return itemsOf(object).flatMap((item, i) => unlisted(item, [...path, "items", i]));
}

/** The mappings inside of an object, with their paths: a policy that another object wraps, say. */
export function within(object: Bag): { object: Bag; path: Path }[] {
  const found: { object: Bag; path: Path }[] = [];
  const open: { value: unknown; path: Path }[] = [{ value: object, path: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next;
    if (typeof value !== "object" || value === null) continue;
    const inside = asBag(value);
    if (inside !== undefined && path.length > 0) found.push({ object: inside, path });
    const entries: Iterable<[string | number, unknown]> = Array.isArray(value)
      ? value.entries()
      : Object.entries(value);
    for (const [key, item] of entries) open.push({ value: item, path: [...path, key] });
  }
  return found;
}

/** The items of a List, each with its kind: those of a typed List, as the API server gives it, do not repeat it. */
export function itemsOf({ kind, items }: Bag): readonly unknown[] {
  const typed = typeof kind === "string" && kind.endsWith("List") ? kind.slice(0, -"List".length) : "";
  return asList(items).map((item) => {
    const inner = asBag(item);
    return typed === "" || inner === undefined || "kind" in inner ? item : { ...inner, kind: typed };
  });
}

/** A mapping, or undefined. */
export function asBag(value: unknown): Bag | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Bag) : undefined;
}

/** What tells an object from others. */
type Named = { readonly [field in "apiVersion" | "kind" | "metadata"]?: unknown };

/**
 * Which object of a cluster it is: two of one identity are one object there. Without a namespace it is in `default`;
 * the kinds of nmstate.io are in none, whatever an object says.
 */
export function objectIdentity({ apiVersion, kind, metadata }: Named): string {
  const group = /^(.*)\//.exec(`${apiVersion}`)?.[1] ?? "";
  const { namespace, name } = asBag(metadata) ?? {};
  return [group, kind, group === "nmstate.io" ? "" : namespace || "default", name].join(" ");
}

/** An object, as messages call it. */
export function titleOf({ kind, metadata }: Named): string {
  const { namespace, name } = asBag(metadata) ?? {};
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

/** An object that stands in no text: its place is what messages call it. */
export function placeless(object: Bag & Named): LocatedObject {
  return { object, at: () => ({ file: titleOf(object), line: 0, column: 0 }) };
}

/** Where the name of an object stands. */
export function placeOfName({ object, at }: LocatedObject): Place {
  return at(["metadata", "name"], `${asBag(object.metadata)?.name}`);
}

/** An issue of an object, with its place: a field that is not known is told by its name, others by their value. */
export function issueIn({ at }: LocatedObject, issue: Issue): Issue {
  const path = issue.path ?? [];
  const part = issue.message.startsWith("unknown field") ? "key" : "value";
  return { ...issue, at: at(path, `${path.at(-1)}`, part) };
}

/** A condition in a status. */
export type Condition = {
  readonly [field in "type" | "status" | "reason" | "message" | "lastTransitionTime"]?: unknown;
};

/** The condition of a type, of those in a status. */
export function conditionOf(conditions: unknown, type: string): Condition | undefined {
  return asList(conditions)
    .map(asBag)
    .find((one) => one?.type === type);
}

/** A list; empty if it is none. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** What is wrong with the kind of an object of nmstate's group, if it has none, or nearly one that we read; else undefined. */
export function misspeltKind({ apiVersion, kind }: Bag): string | undefined {
  if (typeof apiVersion !== "string" || !apiVersion.startsWith("nmstate.io/")) return undefined;
  if (typeof kind !== "string") return `an object of ${apiVersion} must have a kind`;
  if (readKinds.includes(kind) || otherKinds.includes(kind)) return undefined;
  const hint = didYouMean(kind, readKinds);
  return hint === "" ? undefined : `unknown kind ${kind}${hint}`;
}

const readKinds = ["NodeIPPool", "NodeNetworkConfigurationPolicy", "NodeNetworkState"];
const otherKinds = ["NodeNetworkConfigurationEnactment", "NMState"];
