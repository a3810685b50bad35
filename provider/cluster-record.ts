import { IpamError, isNoop, type Plan } from "../core/index.ts";
import { type KnownBackend, openKubernetes } from "../state/index.ts";
import { refuseOrphan } from "./engine.ts";
import { onlyState, present, type SetState, type StateArgs, textOf } from "./set-state.ts";

/*
 * A record in a cluster, from the check that plans to the commit: the plan that is committed is the one whose addresses
 * `check` answered, or nothing is.
 */

const records = new Map<string, Promise<KnownBackend>>();

type ClusterArgs = StateArgs & { readonly backend: "kubernetes" };

/** A record in a cluster, over one connection that lasts as long as the process. */
export function clusterRecord(state: ClusterArgs): Promise<KnownBackend> {
  const { backend: _, ...where } = state;
  const key = JSON.stringify([where.context, where.namespace]);
  const record = records.get(key) ?? openKubernetes({ ...where, beforeWrite: refuseOrphan });
  records.set(key, record);
  return record;
}

/** What it holds now, and which one it is. */
export async function readCluster(state: ClusterArgs) {
  const record = await clusterRecord(state);
  return { name: record.name, snapshot: await record.read(), identity: await record.identity() };
}

/** A set, as a check of this process answered it. */
interface Planned {
  readonly state: SetState;
  /** Undefined where not even the claims were known. */
  readonly plan: Plan | undefined;
  /** Of the record in a cluster that it was planned on; undefined before that begins. */
  readonly identity: string | undefined;
}

/** By the text of what was answered. */
const planned = new Map<string, Planned>();

/** Keeps a plan for the commit. */
export function remember(state: SetState, plan: Plan | undefined, identity: string | undefined): void {
  planned.set(textOf(onlyState(state)), { state, plan, identity });
}

function planOf(state: SetState): Plan | undefined {
  return planned.get(textOf(onlyState(state)))?.plan;
}

/** Would committing this state change the record in its cluster? */
export function changesRecord(state: SetState): boolean {
  const plan = planOf(state);
  return state.state.backend === "kubernetes" && plan !== undefined && !isNoop(plan);
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

/** Returns whether this run planned a claim set of this name. */
export function isPlannedSet(set: string): boolean {
  return [...planned.values()].some(({ state }) => state.set === set);
}

/** Returns whether a set that this run planned in a record in a cluster has this pool. */
export function isPlannedIn(identity: string | undefined, pool: string): boolean {
  return [...planned.values()].some(
    (one) =>
      one.state.state.backend === "kubernetes" && one.identity === identity && Object.hasOwn(one.state.addresses, pool),
  );
}
