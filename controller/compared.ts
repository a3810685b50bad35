import { isManaged, type WatchedKind } from "../integrations/in-cluster.ts";
import type { RenderedObject } from "../integrations/integration.ts";
import type { Bag } from "../schema/objects.ts";
import type { Fingerprint } from "./change.ts";
import { contentDigest, contentIn, type Seen } from "./seen.ts";
import { isSuperset } from "./superset.ts";

/**
 * What is known of made objects whose digest is not that of what was applied: admission webhooks and API servers add
 * fields. Each is compared once, field by field, and only the two digests are kept.
 */
export class Compared {
  private readonly pairs = new Map<string, { wanted: string; there: string; isCovered: boolean }>();

  /** Compares an object, as the API server has it, with what is wanted. */
  note(key: string, { digest }: Fingerprint, wanted: RenderedObject, stored: object, kind: WatchedKind): void {
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

  /** Returns whether the digests differ, and nobody has compared the fields. */
  isOpen(key: string, wanted: Fingerprint, there: Seen): boolean {
    return isManaged(there) && there.digest !== wanted.digest && this.find(key, wanted, there) === undefined;
  }

  forget(key: string): void {
    this.pairs.delete(key);
  }

  private find(key: string, { digest }: Fingerprint, there: Seen) {
    const pair = this.pairs.get(key);
    return pair?.wanted === digest && pair.there === there.digest ? pair : undefined;
  }
}
