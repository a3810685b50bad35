import {
  type Allocation,
  byAddress,
  type Claim,
  claimKey,
  emptySnapshot,
  formatOwner,
  ownerOfKey,
  poolsAsked,
  type Snapshot,
  sameLine,
} from "../../core/index.ts";

/** The lines of one owner. */
export type OwnLines = Pick<Snapshot, "allocations" | "releasing">;

type Asking = Pick<Claim, "owner" | "name" | "pool" | "choice">;

/** The lines of a record by their owners, kept up with it by what is other than before: most of it never is. */
export class LinesByOwner {
  /** The record that this is about. */
  record: Snapshot = emptySnapshot;
  private readonly byOwner = new Map<string, { allocations: Allocation[]; releasing: Allocation[] }>();
  private changed = new Set<string>();

  of(owner: string): OwnLines {
    return this.byOwner.get(owner) ?? emptySnapshot;
  }

  /** Returns whether a claim has an address of one of its pools. */
  hasLine(claim: Asking): boolean {
    return this.of(formatOwner(claim.owner)).allocations.some(isOf(claim));
  }

  /** What of one of its pools is releasing that a claim had. */
  releasingOf(claim: Asking): Allocation[] {
    return this.of(formatOwner(claim.owner)).releasing.filter(isOf(claim));
  }

  /** The owners whose lines are other ones since this was asked. */
  takeChanged(): Iterable<string> {
    const { changed } = this;
    this.changed = new Set();
    return changed;
  }

  /** Goes over to another record. Returns the claims whose lines are not the same in both. */
  follow(record: Snapshot): Set<string> {
    const changed = new Set<string>();
    for (const list of ["allocations", "releasing"] as const)
      for (const { was, now } of differing(this.record[list], record[list])) {
        if (was !== undefined) this.drop(list, was);
        if (now !== undefined) this.add(list, now);
        if (was !== undefined && now !== undefined && sameLine(was, now)) continue;
        for (const line of [was, now]) if (line !== undefined) changed.add(line.claim);
      }
    this.record = record;
    return changed;
  }

  private add(list: keyof OwnLines, line: Allocation): void {
    const owner = ownerOfKey(line.claim);
    this.changed.add(owner);
    const lines = this.byOwner.get(owner) ?? { allocations: [], releasing: [] };
    lines[list].push(line);
    this.byOwner.set(owner, lines);
  }

  private drop(list: keyof OwnLines, line: Allocation): void {
    const owner = ownerOfKey(line.claim);
    this.changed.add(owner);
    const lines = this.byOwner.get(owner);
    if (lines === undefined) return;
    lines[list] = lines[list].filter((one) => one !== line);
    if (lines.allocations.length + lines.releasing.length === 0) this.byOwner.delete(owner);
  }
}

function isOf(claim: Asking) {
  const key = claimKey(claim.owner, claim.name);
  const pools = poolsAsked(claim);
  return (line: Allocation) => line.claim === key && pools.includes(line.pool);
}

/** The lines of two sorted lists that are not one and the same, those of one place together. */
export function* differing(
  before: readonly Allocation[],
  after: readonly Allocation[],
): Iterable<{ readonly was?: Allocation | undefined; readonly now?: Allocation | undefined }> {
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    const [was, now] = [before[i], after[j]];
    if (was === now) {
      i++;
      j++;
      continue;
    }
    const order = was === undefined ? 1 : now === undefined ? -1 : byAddress(was, now);
    yield { was: order <= 0 ? was : undefined, now: order >= 0 ? now : undefined };
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
}
