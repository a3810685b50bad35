import { type Allocation, formatBlock, identityOf, ownerOfKey, type Plan } from "../../core/index.ts";
import type { RecordChange } from "../dependencies.ts";
import type { LinesByOwner } from "./lines-by-owner.ts";

/** Returns what a plan changes; `isAdopted` says of a new line whether its owner has the address already. */
export function recordChange({ assign, keep, release }: Plan, isAdopted: (line: Allocation) => boolean): RecordChange {
  const leaving = (state: "free" | "releasing") =>
    release.filter(({ to }) => to === state).map(({ allocation }) => allocation);
  return {
    allocated: assign.filter((line) => !isAdopted(line)),
    adopted: assign.filter(isAdopted),
    reclaimed: keep.flatMap(({ allocation, was }) => (was === undefined ? [] : allocation)),
    releasing: leaving("releasing"),
    released: leaving("free"),
  };
}

export const noChange: RecordChange = { allocated: [], adopted: [], reclaimed: [], releasing: [], released: [] };

/** Returns what of a change the record has: of a commit that failed, some parts may have been written. */
export function writtenOf(change: RecordChange, lines: LinesByOwner): RecordChange {
  const isIn = (list: "allocations" | "releasing") => (line: Allocation) =>
    lines.of(ownerOfKey(line.claim))[list].some((one) => placeOf(one) === placeOf(line));
  const [isLive, isReleasing] = [isIn("allocations"), isIn("releasing")];
  return {
    allocated: change.allocated.filter(isLive),
    adopted: change.adopted.filter(isLive),
    reclaimed: change.reclaimed.filter(isLive),
    releasing: change.releasing.filter(isReleasing),
    released: change.released.filter((line) => !isLive(line) && !isReleasing(line)),
  };
}

/** Returns two changes as one: what is in both is there once. */
export function together(first: RecordChange, second: RecordChange): RecordChange {
  const both = (kind: keyof RecordChange) => [
    ...new Map([...first[kind], ...second[kind]].map((line) => [placeOf(line), line])).values(),
  ];
  return {
    allocated: both("allocated"),
    adopted: both("adopted"),
    reclaimed: both("reclaimed"),
    releasing: both("releasing"),
    released: both("released"),
  };
}

function placeOf(line: Allocation): string {
  return `${identityOf(line)} ${formatBlock(line)}`;
}
