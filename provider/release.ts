import { formatBlock, IpamError, identityOf, planRelease, type Snapshot } from "../core/index.ts";
import { clusterRecord, isPlannedIn, isPlannedSet } from "./cluster-record.ts";
import { hasMoved, refuseOther } from "./record.ts";
import { entriesOf, type SetState } from "./set-state.ts";

const attempts = 10;

/**
 * Releases in a cluster what a set holds there that is deleted, or that has another record now: `now` is that. A set that
 * takes its place is checked before, whichever of the two the engine does first. Throws IpamError `stale` for a record
 * that is not the one that it was, or that has moved while the set ends.
 */
export async function releaseSet(state: SetState, now?: SetState): Promise<void> {
  if (state.state.backend !== "kubernetes") return;
  const record = await clusterRecord(state.state);
  for (let attempt = 1; ; attempt++) {
    try {
      const snapshot = await record.read();
      const identity = await record.identity();
      if (now !== undefined && (identity === undefined || identity === now.record)) return;
      refuseOther(state, { name: record.name, snapshot, identity });
      const lines = linesOf(state, snapshot, identity);
      if (lines.length > 0) await record.commit(planRelease(snapshot, lines, "releasing"));
      return;
    } catch (error) {
      // All that was in it is where it has moved to, and so is the set: its check has seen to that.
      if (hasMoved(error) && (now !== undefined || isPlannedSet(state.set))) return;
      // Somebody else has changed a pool meanwhile: these lines may still be there.
      if (!(error instanceof IpamError) || error.code !== "conflict" || attempt === attempts) throw error;
    }
  }
}

/** The live lines of a state, but for pools that a set has planned in this run: its plan releases what it leaves out. */
function linesOf({ addresses, set }: SetState, { allocations }: Snapshot, identity: string | undefined) {
  const held = new Map(entriesOf(addresses).map((one) => [identityOf(one), one.address]));
  return allocations.filter(
    (line) => line.set === set && held.get(identityOf(line)) === formatBlock(line) && !isPlannedIn(identity, line.pool),
  );
}
