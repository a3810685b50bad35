import type { RenderedObject } from "../../integrations/contract/integration.ts";
import { isManaged } from "../../integrations/contract/managed-by.ts";
import type { WatchedKind } from "../../integrations/contract/watched-kind.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import { contentDigest, contentIn, type Seen } from "../cache/seen.ts";
import type { Fingerprint } from "./change.ts";
import { isSuperset } from "./superset.ts";

/** On each object that the controller makes: the digest of what it applied. */
const appliedDigest = "nodeippool.nmstate.io/applied-digest";

/** Returns an object with the digest of what is applied in it. */
export function withAppliedDigest(object: RenderedObject, { digest }: Fingerprint): RenderedObject {
  const { metadata } = object;
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...asBag(metadata.annotations), [appliedDigest]: digest } },
  };
}

/** Returns the part of a JSON patch that has it fail where something else was applied since the object was seen. */
export function appliedTest({ metadata }: Seen): Bag {
  const path = `/metadata/annotations/${appliedDigest.replace("/", "~1")}`;
  return { op: "test", path, value: metadata.annotations?.[appliedDigest] };
}

interface Pair {
  readonly wanted: string;
  readonly there: string;
  readonly isCovered: boolean;
}

/** Returns whether the controller applied what is wanted now: what the object says otherwise, others have changed as it was written or since. */
export function wasApplied({ metadata }: Seen, { digest }: Fingerprint): boolean {
  return metadata.annotations?.[appliedDigest] === digest;
}

/**
 * What is known of made objects whose digest is not that of what was applied: admission webhooks and API servers add
 * fields. Each is compared once, field by field, and only the two digests and the result are kept.
 *
 *  its applied digest    | the object                              | to do
 *  ----------------------+-----------------------------------------+------------------------------------------------------
 *  that of what is wanted | says more, or something else            | compare: what is more, others have added
 *  another one           | any                                     | replace: what is more may be what was wanted before
 *  none (an earlier      | can be changed to what is wanted        | replace
 *   version, a webhook)  |                                         |
 *  none                  | would have to be deleted                | compare
 */
export class Compared {
  private readonly pairs = new Map<string, Pair>();

  /** Compares an object, as the API server has it, with what is wanted. */
  note(
    key: string,
    { digest }: Fingerprint,
    { wanted, stored, kind }: { wanted: RenderedObject; stored: object; kind: WatchedKind },
  ): void {
    const there = contentDigest(stored as Bag, kind);
    const isCovered = isSuperset(contentIn(stored as Bag, kind), contentIn({ ...wanted }, kind));
    if (there === digest) this.pairs.delete(key);
    else this.pairs.set(key, { wanted: digest, there, isCovered });
  }

  /** Returns what is wanted with the digests of the object that is there, if that covers it. */
  fingerprint(key: string, wanted: Fingerprint | undefined, there: Seen | undefined): Fingerprint | undefined {
    if (wanted === undefined || there === undefined || !this.find(key, wanted, there)?.isCovered) return wanted;
    return { ...wanted, digest: `${there.digest}`, fixed: `${there.fixed}` };
  }

  /** Returns whether the digests differ, and the fields have to be compared. */
  isOpen(key: string, wanted: Fingerprint, there: Seen): boolean {
    if (!isManaged(there) || there.digest === wanted.digest) return false;
    const applied = there.metadata.annotations?.[appliedDigest];
    const mayBeCovered = applied === undefined ? there.fixed !== wanted.fixed : wasApplied(there, wanted);
    return mayBeCovered && this.find(key, wanted, there) === undefined;
  }

  forget(key: string): void {
    this.pairs.delete(key);
  }

  private find(key: string, { digest }: Fingerprint, there: Seen) {
    const pair = this.pairs.get(key);
    return pair?.wanted === digest && pair.there === there.digest ? pair : undefined;
  }
}
