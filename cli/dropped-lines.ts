import { type Allocation, identityOf, ownerOfKey, placeOf } from "../core/index.ts";
import type { Commit } from "../state/lock-history.ts";
import type { IsClaimed } from "./history/claims-at.ts";

/** A line that a commit removed from the lock while its owner still needed it. */
export interface Dropped {
  readonly line: Allocation;
  readonly step: Commit;
}

/**
 * Returns the lines that commits took out of the lock without releasing them, though they were still claimed: a rebase,
 * squash or cherry-pick with `-X theirs`, a lock of another branch, a deleted line. Newest first.
 *
 *  after the commit, the claim has | the address is  | the manifests and nodes of the commit claim it | dropped
 *  --------------------------------+-----------------+------------------------------------------------+--------
 *  an address, maybe releasing     | any             | any                                            | no
 *  no address                      | its owner's     | any                                            | no: renamed policy or capture
 *  no address                      | any other       | yes                                            | yes
 *  no address                      | any other       | no                                             | no: renamed, or released
 *  no address                      | nobody's        | unknown                                        | yes
 *  no address                      | another owner's | unknown                                        | no: maybe renamed, or released
 */
export function droppedLines(steps: readonly Commit[], isClaimed: IsClaimed): Dropped[] {
  return steps.flatMap((step) => {
    const after = [...step.after.allocations, ...step.after.releasing];
    const claims = new Set(after.map(identityOf));
    const holders = new Map(after.map((line) => [placeOf(line), ownerOfKey(line.claim)]));
    return step.before.allocations.flatMap((line): Dropped[] => {
      const [owner, holder] = [ownerOfKey(line.claim), holders.get(placeOf(line))];
      if (claims.has(identityOf(line)) || holder === owner) return [];
      return (isClaimed(line, step.commit) ?? holder === undefined) ? [{ line, step }] : [];
    });
  });
}

/**
 * Returns, for each commit, the dropped lines whose claims have no address in the commits right after it: what has one there
 * was put back, moved with `--allow-move` or released since.
 */
export function stillDropped(dropped: readonly Dropped[], steps: readonly Commit[]): Map<Commit, Allocation[]> {
  const still = new Map<Commit, Allocation[]>();
  const byStep = Map.groupBy(dropped, ({ step }) => step);
  let known = new Set<string>();
  let newer: Commit | undefined;
  for (const step of steps) {
    if (newer?.before !== step.after) known = new Set();
    newer = step;
    const lines = (byStep.get(step) ?? []).flatMap(({ line }) => (known.has(identityOf(line)) ? [] : line));
    if (lines.length > 0) still.set(step, lines);
    for (const line of [...step.after.allocations, ...step.after.releasing]) known.add(identityOf(line));
  }
  return still;
}
