import { importedSet, ownerInPool, placeOf, type Snapshot } from "../allocation.ts";
import { isOfNode } from "../claim.ts";
import { IpamError } from "../errors.ts";
import type { Plan } from "./plan.ts";

/** A release of so few addresses never needs confirmation. */
const few = 3;

/**
 * The refusal of a plan that releases much of what its set holds, which is sooner a wrong node list or selector;
 * undefined for every other plan.
 *
 *  released (live lines) | of the addresses that the set holds | decision
 *  ----------------------+-------------------------------------+---------
 *  at most three         | any                                 | go on
 *  more than three       | at most a fifth                     | go on
 *  more than three       | more than a fifth                   | stop
 *
 * A line that stays under another claim is not released (`mv`, `moved`), nor is one whose owner gets another address of the
 * pool by the same plan (`allowMove`), nor one that was releasing before.
 */
export function bulkRelease({ assign, keep, release, set }: Plan, before: Snapshot): IpamError | undefined {
  const live = new Set(before.allocations.map(placeOf));
  const replaced = new Set(assign.map(ownerInPool));
  const leaving = [...release, ...keep.filter((kept) => kept.releasing)].map(({ allocation }) => allocation);
  const released = leaving.filter((line) => live.has(placeOf(line)) && !replaced.has(ownerInPool(line)));
  const kept = keep.filter(({ allocation, was }) => live.has(placeOf(allocation)) && was?.set !== importedSet);
  const own = before.allocations.filter((line) => line.set === set);
  const held = new Set([...own, ...released, ...kept.map(({ allocation }) => allocation)].map(placeOf)).size;
  if (released.length <= few || released.length * 5 <= held) return undefined;
  const isOfNodes = released.some(isOfNode);
  const likely = isOfNodes ? "wrong node list or selector?" : "wrong folder or file?";
  return new IpamError(
    "in-use",
    `this plan releases ${released.length} of ${held} addresses of set ${set}: ${likely}`,
    { hint: "If it is meant, confirm it.", remedy: ["allow", "release"] },
  );
}

/** Throws what `bulkRelease` says of a plan. Call it before a plan is committed, unless somebody has confirmed the release. */
export function refuseBulkRelease(proposed: Plan, before: Snapshot): void {
  const refusal = bulkRelease(proposed, before);
  if (refusal !== undefined) throw refusal;
}
