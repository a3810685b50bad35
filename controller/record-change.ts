import type { Allocation, Plan } from "../core/index.ts";

/** What one commit changed in the record. */
export interface RecordChange {
  readonly allocated: readonly Allocation[];
  /** Their owners had these addresses before the record had them. */
  readonly adopted: readonly Allocation[];
  /** Their owners claim them again before they were free. */
  readonly reclaimed: readonly Allocation[];
  readonly releasing: readonly Allocation[];
  readonly released: readonly Allocation[];
}

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
