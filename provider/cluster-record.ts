import { IpamError, isNoop } from "../core/index.ts";
import { type KnownBackend, openKubernetes } from "../state/index.ts";
import { refuseOrphan } from "./engine.ts";
import { planOf } from "./planned.ts";
import type { Recorded } from "./recorded.ts";
import { present, type SetState, type StateArgs } from "./set-state.ts";

const records = new Map<string, Promise<KnownBackend>>();

export type ClusterArgs = StateArgs & { readonly backend: "kubernetes" };

/** A record in a cluster, over one connection that lasts as long as the process. */
export function clusterRecord(state: ClusterArgs): Promise<KnownBackend> {
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
