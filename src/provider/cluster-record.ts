import {
  emptySnapshot,
  formatAddress,
  IpamError,
  identityOf,
  isNoop,
  type Plan,
  planRelease,
  type Snapshot,
} from "../core/index.ts";
import { type KnownBackend, lockfile, openKubernetes } from "../state/index.ts";
import { refuseOrphan } from "./engine.ts";
import { hasAll, isSameRecord, movedTo, type Recorded, refuseOther } from "./recorded.ts";
import { textOf } from "./same-value.ts";
import { onlyState, present, type SetState, type StateArgs } from "./set-state.ts";

/*
 * A record in a cluster is written by create, update and delete. Each runs in the process that checked: the plan that
 * is committed is the one whose addresses `check` answered, or nothing is.
 */

interface Planned {
  readonly state: SetState;
  readonly plan: Plan;
  /** Of the record that it was planned on; undefined before that begins. */
  readonly identity: string | undefined;
}

/** What this process has planned on records in clusters, by the text of what it answered. */
const planned = new Map<string, Planned>();

const records = new Map<string, Promise<KnownBackend>>();

type ClusterArgs = StateArgs & { readonly backend: "kubernetes" };

/** A record in a cluster, over one connection that lasts as long as the process. */
function clusterRecord(state: ClusterArgs): Promise<KnownBackend> {
  const { backend: _, ...where } = state;
  const key = JSON.stringify([where.context, where.namespace]);
  const record = records.get(key) ?? openKubernetes({ ...where, beforeWrite: refuseOrphan });
  records.set(key, record);
  return record;
}

export async function readCluster(state: ClusterArgs): Promise<Recorded> {
  const record = await clusterRecord(state);
  return { name: record.name, snapshot: await record.read(), identity: await record.identity() };
}

/** Keeps what a check planned, for the call that commits it. */
export function remember(state: SetState, plan: Plan, identity: string | undefined): void {
  planned.set(textOf(onlyState(state)), { state, plan, identity });
}

/** The sets of which this process has found that they go on elsewhere, in the record to which theirs has moved. */
const followed = new Set<string>();

/** Keeps what a check has found of a set whose record has moved, for the call that deletes it. */
export function rememberFollowed(state: SetState): void {
  followed.add(placeText(state));
}

function placeText({ state, set, addresses }: SetState): string {
  return textOf([state, set, addresses]);
}

/** What this process has planned in lockfiles. */
const inLocks: SetState[] = [];

/** Keeps what a check planned in a lockfile, for the call that deletes a set which goes on there. */
export function rememberInLock(state: SetState): void {
  inLocks.push(state);
}

/** Does a set go on elsewhere: has a check found that, now or, where this claim set is in a record that has all of it, before? */
async function goesOnElsewhere(gone: SetState): Promise<boolean> {
  if (followed.has(placeText(gone))) return true;
  for (const { set, state } of [...inLocks, ...[...planned.values()].map((one) => one.state)]) {
    if (set !== gone.set || state.backend === "stack") continue;
    const content =
      state.backend === "lockfile" ? lockfile(state.path).read() : readCluster(state).then((one) => one.snapshot);
    // One that has moved itself is none in which the set goes on.
    if (hasAll(await content.catch(() => emptySnapshot), gone.addresses, [])) return true;
  }
  return false;
}

/** Does a set that this run has planned in a record have this pool? */
export function isPlannedIn(identity: string | undefined, pool: string): boolean {
  return [...planned.values()].some((one) => one.identity === identity && Object.hasOwn(one.state.addresses, pool));
}

function planOf(state: SetState): Plan | undefined {
  return planned.get(textOf(onlyState(state)))?.plan;
}

/** Would committing this state change the record? Undefined where this process has not planned it. */
export function changesRecord(state: SetState): boolean {
  const plan = planOf(state);
  return plan !== undefined && !isNoop(plan);
}

/**
 * Commits what was planned. Gives what is in the stack then: that names the record, which may have begun only now.
 * Throws IpamError `conflict` if a pool of the set was changed since.
 */
export async function commitPlanned(state: SetState): Promise<SetState> {
  if (state.state.backend !== "kubernetes") return state;
  const plan = planOf(state);
  if (plan === undefined)
    throw new IpamError("stale", "these addresses were not planned by this run: nothing was done");
  const record = await clusterRecord(state.state);
  if (!isNoop(plan)) await record.commit(plan);
  return { ...state, ...present({ record: state.record ?? (await record.identity()) }) };
}

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

/** The live lines of a state, but for pools that a set has planned in this run: its plan gives up what it leaves out. */
function linesOf({ addresses, set }: SetState, { allocations }: Snapshot, identity: string | undefined) {
  const held = new Map(
    Object.entries(addresses).flatMap(([pool, claims]) =>
      Object.entries(claims).map(([claim, address]): [string, string] => [identityOf({ pool, claim }), address]),
    ),
  );
  return allocations.filter(
    (line) =>
      line.set === set &&
      held.get(identityOf(line)) === formatAddress(line.address) &&
      !isPlannedIn(identity, line.pool),
  );
}
