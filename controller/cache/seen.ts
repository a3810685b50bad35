import { hash } from "node:crypto";
import { isManaged, managedBy } from "../../integrations/contract/managed-by.ts";
import type { WatchedKind } from "../../integrations/contract/watched-kind.ts";
import { asBag, type Bag } from "../../schema/objects.ts";

/** An object as the server has it, as far as it is kept. */
export interface Seen extends Bag {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly [field: string]: unknown;
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
}

/** What is kept of an object in memory: of those that the controller made, little more than a digest of what they say. */
export function keep(watched: WatchedKind, given: object): Seen {
  const { kind, apiVersion, keep: part, keepMade } = watched;
  const object = given as Bag;
  const { managedFields: _, annotations, labels, ...rest } = asBag(object.metadata) as Bag;
  const kept = Object.entries(asBag(annotations) ?? {}).filter(([name]) => !name.startsWith("kubectl.kubernetes.io/"));
  const metadata = {
    ...rest,
    ...(labels === undefined ? {} : { labels: watched.isOwner ? withoutMark(labels) : labels }),
    ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }),
  } as Seen["metadata"];
  const parts = part(object);
  const seen = { ...parts, apiVersion, kind, metadata };
  if (!isManaged(seen)) return seen;
  const made = { status: parts.status, fixed: fixedOf(object, watched), digest: contentDigest(object, watched) };
  return { ...keepMade?.(object), ...made, apiVersion, kind, metadata };
}

/** Owners are never made by the controller, whatever their labels say: it would delete them. */
function withoutMark(labels: unknown): Bag {
  const marks = Object.keys(managedBy);
  return Object.fromEntries(Object.entries(asBag(labels) ?? {}).filter(([name]) => !marks.includes(name)));
}

/** A digest of what an object says, whatever the order of its fields. */
export function contentDigest(object: Bag, kind: WatchedKind): string {
  return hash("sha256", canonical(contentIn(object, kind)), "base64");
}

/** Returns what an object says: all but its metadata, and but its status, where that is apart; or the part that is the controller's. */
export function contentIn(object: Bag, { hasNoStatusSubresource = false, statusPart }: WatchedKind): Bag {
  if (statusPart !== undefined) return statusPart(object);
  const { apiVersion: _, kind: __, metadata: ___, status, ...content } = object;
  return hasNoStatusSubresource ? { ...content, status } : content;
}

/** What cannot be changed in an object that is there, as a text to compare. */
export function fixedOf(object: Bag, { fixed }: WatchedKind): string {
  return canonical(fixed?.(object) ?? {});
}

/** Sorted first, and then one text: with a function that sorts inside of JSON.stringify it takes twice as long. */
function canonical(value: unknown): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  const bag = asBag(value);
  if (bag === undefined) return value;
  return Object.fromEntries(
    Object.keys(bag)
      .sort()
      .map((field) => [field, sorted(bag[field])]),
  );
}
