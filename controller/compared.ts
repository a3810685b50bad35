import { isManaged, type WatchedKind } from "../integrations/in-cluster.ts";
import type { RenderedObject } from "../integrations/integration.ts";
import { asBag, type Bag } from "../schema/objects.ts";
import type { Fingerprint } from "./change.ts";
import { contentDigest, contentIn, type Seen } from "./seen.ts";
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

interface Pair {
  readonly wanted: string;
  readonly there: string;
  readonly isCovered: boolean;
  /** Is it the answer to a write of the controller? */
  readonly isAnswer: boolean;
}

/**
 * What is known of made objects whose digest is not that of what was applied: admission webhooks and API servers add
 * fields. Each is compared once, field by field, and only the two digests are kept.
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
    {
      wanted,
      stored,
      kind,
      isAnswer,
    }: { wanted: RenderedObject; stored: object; kind: WatchedKind; isAnswer: boolean },
  ): void {
    const there = contentDigest(stored as Bag, kind);
    const isCovered = isSuperset(contentIn(stored as Bag, kind), contentIn({ ...wanted }, kind));
    if (there === digest) this.pairs.delete(key);
    else this.pairs.set(key, { wanted: digest, there, isCovered, isAnswer });
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
    const mayBeCovered = applied === undefined ? there.fixed !== wanted.fixed : applied === wanted.digest;
    return mayBeCovered && this.find(key, wanted, there) === undefined;
  }

  /** Returns whether an admission webhook changed the object when the controller wrote it: made anew, it would be the same. */
  isChangedAtWrite(key: string, wanted: Fingerprint, there: Seen): boolean {
    const pair = this.find(key, wanted, there);
    return pair?.isAnswer === true && !pair.isCovered;
  }

  forget(key: string): void {
    this.pairs.delete(key);
  }

  private find(key: string, { digest }: Fingerprint, there: Seen) {
    const pair = this.pairs.get(key);
    return pair?.wanted === digest && pair.there === there.digest ? pair : undefined;
  }
}
