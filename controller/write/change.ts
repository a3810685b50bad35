import type { RenderedObject } from "../../integrations/contract/integration.ts";
import type { MadeObjects } from "../../integrations/contract/made-objects.ts";
import { isManaged } from "../../integrations/contract/managed-by.ts";
import { kindOf } from "../../integrations/contract/object-key.ts";
import type { WatchedKind } from "../../integrations/contract/watched-kind.ts";
import { asBag, asList, titleOf } from "../../schema/objects.ts";
import { contentDigest, fixedOf, type Seen } from "../cache/seen.ts";

/** What is to be done about one object. */
export type Change = "none" | "create" | "replace" | "delete" | "unprotect" | "refuse";

/** What tells whether an object is as it is to be. */
export interface Fingerprint {
  readonly digest: string;
  /** What cannot be changed in it. */
  readonly fixed: string;
  readonly labels: unknown;
  readonly annotations: unknown;
  /** The uids of what it belongs to; none if it is to belong to nothing, undefined if that is not said. */
  readonly owners: readonly unknown[] | undefined;
}

export function fingerprint(object: RenderedObject, kind: WatchedKind): Fingerprint {
  const { labels, annotations } = object.metadata;
  const [digest, fixed] = [contentDigest({ ...object }, kind), fixedOf({ ...object }, kind)];
  return { digest, fixed, labels, annotations, owners: uidsIn(object.metadata) };
}

interface Circumstances {
  readonly protection?: string;
  /** The object of another program is taken over, or goes with its owner. */
  readonly isTakenOver?: boolean;
  /** The controller's object is neither replaced nor deleted, because the address that it shows may be in use. */
  readonly isKept?: boolean;
  /** The controller created it with what is wanted: a webhook changed it then, and would change it again. */
  readonly wasApplied?: boolean;
}

/**
 * What is to be done about an object that the controller makes.
 *
 *  is to exist | is there                                  | to do
 *  ------------+-------------------------------------------+-------------------------------------------------
 *  no          | no, or made by somebody else              | none
 *  no          | the same, but it goes with its owner      | delete; unprotect once it is being deleted
 *  no          | made by the controller                    | delete
 *  no          | the same, and it must not be lost         | none: its owner waits for another address
 *  no          | the same, being deleted, and protected    | unprotect: its finalizer is removed
 *  yes         | the same, and other in what cannot change | unprotect: it is created once it is gone
 *  yes         | no                                        | create
 *  yes         | no, but reports of an earlier one are     | none: whoever reports has not heard of its end
 *  yes         | made by somebody else, to be taken over   | replace: it gets the label of the controller
 *  yes         | made by somebody else otherwise           | refuse: it is theirs
 *  yes         | being deleted                             | none: it is created once it is gone
 *  yes         | as it should be                           | none
 *  yes         | the same, and it must not be lost         | refuse: what it says may be in use
 *  yes         | the same, but created as wanted           | none: a webhook changed it, and would do so again
 *  yes         | otherwise, in what cannot be changed      | delete: it is created once it is gone
 *  yes         | otherwise                                 | replace
 */
export function changeOf(
  wanted: Fingerprint | undefined,
  there: Seen | undefined,
  reports: number,
  { protection, isTakenOver = false, isKept = false, wasApplied = false }: Circumstances = {},
): Change {
  if (there === undefined) return wanted === undefined || reports > 0 ? "none" : "create";
  const isEnding = there.metadata.deletionTimestamp !== undefined;
  if (!isManaged(there) && !isTakenOver) return wanted === undefined ? "none" : "refuse";
  if (!isManaged(there) && wanted !== undefined) return isEnding ? "none" : "replace";
  if (isEnding)
    return isProtected(there, protection) && (wanted === undefined || wanted.fixed !== there.fixed)
      ? "unprotect"
      : "none";
  if (wanted === undefined) return isKept ? "none" : "delete";
  if (there.fixed !== wanted.fixed) return isKept ? "refuse" : wasApplied ? "none" : "delete";
  return isAsWanted(wanted, there) ? "none" : "replace";
}

/** Returns whether a change needs the content of the wanted object: to write it, or to compare it with another program's. */
export function isOfContent(change: Change, { takesOver, whyRefused }: MadeObjects): boolean {
  if (change === "delete") return whyRefused !== undefined;
  return isWrite(change) || (change === "refuse" && takesOver !== undefined);
}

export function isWrite(change: Change): boolean {
  return change === "create" || change === "replace";
}

/** Returns whether a change removes an object. */
export function isEnd(change: Change): boolean {
  return change === "delete" || change === "unprotect";
}

function isProtected({ metadata }: Seen, protection: string | undefined): boolean {
  return protection !== undefined && (metadata.finalizers ?? []).includes(protection);
}

/** Labels, annotations and owners of others may stand beside ours. */
function isAsWanted({ digest, labels, annotations, owners }: Fingerprint, there: Seen): boolean {
  const has = (all: unknown, some: unknown) =>
    Object.entries((some ?? {}) as object).every(([key, value]) => (all as Record<string, string>)?.[key] === value);
  return (
    there.digest === digest &&
    has(there.metadata.labels, labels) &&
    has(there.metadata.annotations, annotations) &&
    isOwnedBy(there.metadata, owners)
  );
}

function uidsIn({ ownerReferences }: { readonly [field: string]: unknown }): readonly unknown[] | undefined {
  return ownerReferences === undefined ? undefined : asList(ownerReferences).map((one) => asBag(one)?.uid);
}

function isOwnedBy(metadata: Seen["metadata"], owners: readonly unknown[] | undefined): boolean {
  const uids = uidsIn(metadata) ?? [];
  return owners === undefined || (owners.length === 0 ? uids.length === 0 : owners.every((uid) => uids.includes(uid)));
}

/** What is said of an object that is not created, because a report of an earlier one of its name is left. */
export function leftMessage(key: string, report: Seen): string {
  const [kind] = kindOf(key).split(".");
  const name = key.slice(key.indexOf("/") + 1);
  return `${kind} ${name} is not created, because ${titleOf(report)} reports of an earlier one of that name. If the program that wrote it does not delete it, delete it.`;
}
