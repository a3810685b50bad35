import { byCodeUnit, ownerOfKey, type Pending } from "../../core/index.ts";

/** Claims that get nothing, each with why, by their owners. */
export class PendingClaims extends Map<string, readonly Pending[]> {
  /** Replaces what is known of these owners. Returns what was known before. */
  replace(owners: ReadonlySet<string>, pending: readonly Pending[]): Pending[] {
    const before = [...owners].flatMap((owner) => this.get(owner) ?? []);
    for (const owner of owners) this.delete(owner);
    for (const [owner, list] of Map.groupBy(pending, ({ claim }) => ownerOfKey(claim))) this.set(owner, list);
    return before;
  }

  /** Some of them in the order of their keys: what is reported of them is the same, whichever controller reports it. */
  list(isMeant: (one: Pending) => boolean): Pending[] {
    const found = [...this.values()].flat().filter(isMeant);
    return found.sort((a, b) => byCodeUnit(a.claim, b.claim));
  }
}
