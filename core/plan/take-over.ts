import { type Allocation, placeOf, type Snapshot } from "../allocation.ts";
import type { Changes, Kept } from "./changes.ts";

/** What one claim set has of a pool, and another one takes over. */
export interface TakeOver {
  readonly pool: string;
  readonly set: string;
}

/** Tells lines that are taken over. */
export function takenBy(takes: readonly TakeOver[]): (line: Allocation) => boolean {
  const given = new Set(takes.map(({ pool, set }) => `${pool} ${set}`));
  return ({ pool, set }) => given.has(`${pool} ${set}`);
}

/** What a plan that takes lines over is made against: there, they are lines of its own set. */
export function takenOver(snapshot: Snapshot, takes: readonly TakeOver[], set: string): Snapshot {
  if (takes.length === 0) return snapshot;
  const isTaken = takenBy(takes);
  const take = (line: Allocation) => (isTaken(line) ? { ...line, set } : line);
  return { ...snapshot, allocations: snapshot.allocations.map(take), releasing: snapshot.releasing.map(take) };
}

/**
 * The changes of such a plan, for the record as it is: whoever keeps an address keeps it in the new set, and so does what
 * is releasing after that, so that the claim has it again if it comes back.
 */
export function inRecord(changes: Changes, snapshot: Snapshot, takes: readonly TakeOver[], set: string): Changes {
  if (takes.length === 0) return changes;
  const isTaken = takenBy(takes);
  const lines = new Map([...snapshot.allocations, ...snapshot.releasing].filter(isTaken).map((l) => [placeOf(l), l]));
  const keep = changes.keep.map(({ was, ...kept }): Kept => {
    const line = lines.get(placeOf(kept.allocation)) ?? was;
    return line === undefined ? kept : { ...kept, was: line };
  });
  const kept = new Set(keep.map(({ allocation }) => placeOf(allocation)));
  const leaving = [...lines.values()]
    .filter((line) => !kept.has(placeOf(line)))
    .map((was): Kept => ({ allocation: { ...was, set }, was, releasing: true }));
  const release = changes.release.filter(({ allocation }) => !lines.has(placeOf(allocation)));
  return { ...changes, keep: [...keep, ...leaving], release };
}
