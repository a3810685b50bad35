import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { IpamError, type Plan, type Snapshot, shellWord } from "../core/index.ts";
import type { KnownBackend, StateBackend } from "../state/backend.ts";
import { openKubernetes } from "../state/kubernetes/open.ts";
import { type Lockfile, type LockfileOptions, lockfile, readMarked } from "../state/lockfile.ts";
import { type Mark, refusalOfMark } from "../state/mark.ts";
import { howToAdd, ignoredBy, refuseDeleted, refuseMissing } from "../state/missing-lock.ts";
import { exists } from "./files.ts";
import { noteRecorded, paint } from "./terminal.ts";

/** The options of a verb that say where allocations live. */
export interface StateOptions {
  readonly lock: string;
  /** Default: `lockfile`. */
  readonly backend?: "lockfile" | "kubernetes";
  /** Of the kubeconfig; only with the backend `kubernetes`, like `namespace`. */
  readonly context?: string;
  readonly namespace?: string;
  /** Begin the lockfile, also beside another one of its git repository. */
  readonly init?: boolean;
}

/** Returns whether the record is the lockfile. */
export function isLockfile({ backend = "lockfile" }: StateOptions): boolean {
  return backend === "lockfile";
}

/** Returns whether the record is a lockfile that does not exist yet. */
export function isToBegin(options: StateOptions): boolean {
  return isLockfile(options) && !exists(options.lock);
}

/** Where allocations live, by what the options of a verb say. */
export async function openState(options: StateOptions): Promise<StateBackend> {
  return isLockfile(options) ? openLock(options) : openCluster(options);
}

function openCluster({ context, namespace }: StateOptions): Promise<KnownBackend> {
  return openKubernetes({ context, namespace });
}

/** Opens the lockfile for what only a file can do: merge the two sides of it, or take many plans in one write. */
export function openLock({ lock, init = false }: StateOptions, file?: LockfileOptions): Lockfile {
  refuseNoFolder(lock);
  const opened = lockfile(lock, { ...file, init });
  // Whoever begins it with --init was told before.
  if (init) return opened;
  const written = (after: Snapshot) => {
    noteIgnored(lock);
    return after;
  };
  return {
    ...opened,
    commit: async (plan) => written(await opened.commit(plan)),
    commitAll: (plans) => written(opened.commitAll(plans)),
  };
}

/** On standard error: standard output may be JSON. */
function noteIgnored(lock: string): void {
  const pattern = ignoredBy(lock);
  if (pattern === undefined) return;
  const why = "clones and CI do not have it, and would give nodes other addresses";
  process.stderr.write(
    `${paint("yellow", "Warning:")} git ignores ${lock} (${pattern}): ${why}. To commit it, ${howToAdd(lock)}\n`,
  );
}

/**
 * Opens the record for verbs that plan. Throws IpamError where the record is in a cluster, and the lockfile here has one too, or
 * says that its record is elsewhere: neither knows what the other one gives.
 */
export async function openToPlan(options: StateOptions): Promise<StateBackend> {
  if (isLockfile(options)) return openLock(options);
  const { lock } = options;
  if (!existsSync(lock)) refuseDeleted(lock);
  const { mark, rest } = readMarked(lock);
  if (mark !== undefined && mark.state !== "left") throw refusalOfMark(mark, lock, "cluster");
  if (mark === undefined && /^- \{"address"/m.test(rest))
    throw new IpamError("invalid", `${lock} has a record too: one address could be given by each of the two`, {
      hint: `If this lock is the record, leave out --backend; if the cluster is to have it: nodeippool migrate kubernetes. If it is of other networks, keep it in another folder.`,
    });
  const state = await openCluster(options);
  if (mark !== undefined) await checkTaken(mark, lock, state);
  return state;
}

/** Throws `stale` if the record that a lock with this mark had is not in that cluster. */
async function checkTaken(mark: Mark, lock: string, state: KnownBackend): Promise<void> {
  if (await state.hasTaken(mark.id)) return;
  throw new IpamError("stale", `the record of ${lock} has moved to ${mark.other}; ${state.name} does not have it`, {
    hint: `Look at the context and the namespace, and at the lock of the main branch. If that record is lost, its addresses are still in use: docs/recovery.md ("Where the namespace is lost") says how to bring it back.`,
  });
}

/** Commits a plan, and keeps in mind that it is recorded. */
export async function record(state: StateBackend, plan: Plan): Promise<Snapshot> {
  const after = await state.commit(plan);
  noteRecorded(state.name);
  return after;
}

/** Throws `invalid` for a lock in a folder that is not there: a slip of the pen would begin a new record. */
export function refuseNoFolder(lock: string): void {
  const folder = dirname(lock);
  if (existsSync(folder)) return;
  refuseMissing(lock, true);
  throw new IpamError("invalid", `${folder}, the folder of the lock ${lock}, does not exist`, {
    hint: `Look at the name; for a new record make the folder first: mkdir -p ${shellWord(folder)}`,
  });
}
