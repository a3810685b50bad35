import { emptySnapshot, formatAddress, IpamError, identityOf, planRelease, type Snapshot } from "../core/index.ts";
import type { KnownBackend } from "../state/index.ts";
import { clusterRecord } from "./cluster-record.ts";
import { isFollowed, isPlannedIn, plannedOf } from "./planned.ts";
import { readShared } from "./record.ts";
import { isSameRecord, missingIn, movedTo, refuseOther } from "./recorded.ts";
import { entriesOf, type SetState } from "./set-state.ts";

const attempts = 10;

/**
 * Makes releasing what a set holds that is deleted, or is somewhere else now: `now` is that. A set that takes its place is
 * checked before, whichever of the two the engine does first. A record that is left may be gone, or have moved: then
 * this, or the set that takes its place, goes on there; a set that does not throws IpamError `stale`.
 */
export async function giveUp(state: SetState, now?: SetState): Promise<void> {
  if (state.state.backend !== "kubernetes") return;
  const record = await clusterRecord(state.state);
  for (let attempt = 1; ; attempt++) {
    const snapshot = await unlessMoved(record, async () => now !== undefined || (await goesOnElsewhere(state)));
    if (snapshot === undefined) return;
    const identity = await record.identity();
    if (now !== undefined && (identity === undefined || isSameRecord(now, { state: state.state, identity }))) return;
    refuseOther(state, { name: record.name, snapshot, identity });
    const lines = linesOf(state, snapshot, identity);
    try {
      if (lines.length > 0) await record.commit(planRelease(snapshot, lines, "releasing"));
      return;
    } catch (error) {
      // Somebody else has changed a pool meanwhile: these lines may still be there.
      if (!(error instanceof IpamError) || error.code !== "conflict" || attempt === attempts) throw error;
    }
  }
}

/** Undefined for a record that has moved, if the set goes on there: everything that was in it is there. */
async function unlessMoved(record: KnownBackend, goesOn: () => Promise<boolean>): Promise<Snapshot | undefined> {
  try {
    return await record.read();
  } catch (error) {
    if (!(error instanceof IpamError) || movedTo(error) === undefined) throw error;
    if (await goesOn()) return undefined;
    const issues = error.issues.map(({ message }) => ({ message, hint: movedHint }));
    throw new IpamError(error.code, issues, { cause: error });
  }
}

const movedHint =
  "Put the set into the program with the state to which it has moved, and pulumi up; then it can be destroyed. Or pulumi state delete it. Its addresses stay live there either way, until nodeippool allocate without its claims.";

/** Does a set go on elsewhere: has a check found that, now or, where this claim set is in a record that has all of it, before? */
async function goesOnElsewhere(gone: SetState): Promise<boolean> {
  if (isFollowed(gone)) return true;
  for (const { state } of plannedOf(gone.set)) {
    if (state.backend === "stack") continue;
    // One that has moved itself is none in which the set goes on.
    const { snapshot } = await readShared(state).catch(() => ({ snapshot: emptySnapshot }));
    if (missingIn(snapshot, gone.addresses).length === 0) return true;
  }
  return false;
}

/** The live lines of a state, but for pools that a set has planned in this run: its plan gives up what it leaves out. */
function linesOf({ addresses, set }: SetState, { allocations }: Snapshot, identity: string | undefined) {
  const held = new Map(entriesOf(addresses).map((one) => [identityOf(one), one.address]));
  return allocations.filter(
    (line) =>
      line.set === set &&
      held.get(identityOf(line)) === formatAddress(line.address) &&
      !isPlannedIn(identity, line.pool),
  );
}
