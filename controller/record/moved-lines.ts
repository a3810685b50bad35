import {
  type Allocation,
  formatBlock,
  identityOf,
  nameOfKey,
  ownerName,
  ownerOfKey,
  type Snapshot,
} from "../../core/index.ts";
import type { Observer } from "../dependencies.ts";
import type { Finder } from "../events.ts";

/** A claim whose live address somebody else has changed in the record. */
export interface MovedLine {
  readonly from: Allocation;
  readonly to: Allocation;
}

/** Returns the claims that have another address than before. The controller never changes a live address: only a hand, or a tool that was told to, does. */
export function movedBetween(before: Snapshot, now: Snapshot): MovedLine[] {
  const held = new Map(now.allocations.map((line) => [identityOf(line), line]));
  return before.allocations.flatMap((from) => {
    const to = held.get(identityOf(from));
    return to === undefined || to.address === from.address ? [] : [{ from, to }];
  });
}

/** Says so in Events on the pool and on the owner, before the owner is changed. */
export function tellMoved(known: Finder & { readonly record: Moves }, observer: Observer | undefined): void {
  for (const { from, to } of known.record.takeMoved()) {
    const [before, now] = [from, to].map(formatBlock);
    const has = `${ownerName(to.claim)} has ${now} of pool ${to.pool} for ${nameOfKey(to.claim)}, not ${before}`;
    const message = `Somebody changed the record: ${has}. The controller follows it. If that is wrong, put the line back.`;
    for (const key of [known.keyOfPool(to.pool), known.keyOfOwner(ownerOfKey(to.claim))])
      if (key !== undefined) observer?.wrong(key, "Moved", message);
  }
}

/** What has noticed them. */
interface Moves {
  takeMoved(): MovedLine[];
}
