import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import {
  formatAddress,
  IpamError,
  isNoop,
  lineJson,
  nameOfKey,
  ownerName,
  type Plan,
  planRelease,
  refusePending,
  replacedOwners,
  type Snapshot,
} from "../core/index.ts";
import { applyAll, issuesAfterWrite } from "../state/apply.ts";
import type { StateBackend } from "../state/backend.ts";
import { incomingHeads, isUndoable, refuseDeleted } from "../state/git.ts";
import type { Loser } from "../state/merge.ts";
import { offerVariable, readOffers, recordOfLock, takeOffers } from "../state/offer.ts";
import { type Resolved, resolveLock } from "../state/resolve.ts";
import { exists } from "./files.ts";
import { planJson } from "./json.ts";
import { otherVersionNotes } from "./other-versions.ts";
import { renameInMerge, renameNote } from "./rename-note.ts";
import { changeLines, reportPlan } from "./report-plan.ts";
import { isInCluster, openLock, openToPlan, record, type StateOptions } from "./state.ts";
import { swapQuestions } from "./swap-note.ts";
import { paint, plural, print, printJson } from "./terminal.ts";
import { notesOn, type PlanningOptions, planWorkspace, readWorkspace, refuseUnrenderable } from "./workspace.ts";

export interface AllocateOptions extends PlanningOptions {
  readonly landed?: string;
  readonly json?: boolean;
}

export async function allocateVerb(path: string, options: AllocateOptions, command: readonly string[]): Promise<void> {
  if (command.length > 0) return allocateAround(command, path, options);
  const workspace = await readWorkspace(path, options);
  const { state, merge } = await open(options);
  const snapshot = await state.read();
  const made = planWorkspace(workspace, snapshot, options);
  const doubt = doubtOf(made, snapshot, merge, options);
  if (merge.merged && (made.pending.length > 0 || doubt)) await settle(state, merge, snapshot);
  refusePending(made);
  if (doubt) throw doubt;
  refuseUnrenderable(workspace, made, snapshot, options);
  const records = !isNoop(made) || merge.merged;
  const doubts = doubtsOf(made, snapshot, merge, options);
  if (records) await record(state, made);
  const notes = [...notesOn(workspace), ...doubts];
  if (options.json) return printJson({ ...planJson(made), notes, lost: merge.losers.map(loserJson) });
  print(...mergeLines(state, merge), ...reportPlan(made, workspace.manifests.pools, snapshot), ...notes);
  print(records ? `Recorded in ${state.name}.` : "Nothing to record.");
}

/** What is not recorded before somebody has said that it is meant. */
function doubtOf(
  made: Plan,
  before: Snapshot,
  merge: Merge,
  { lock, allowMove }: AllocateOptions,
): IpamError | undefined {
  return renamedIn(made, before, merge, lock) ?? (allowMove ? undefined : replacedOwners(made, before));
}

/** What may be a rename, in the middle of a merge. */
function renamedIn(made: Plan, before: Snapshot, merge: Merge, lock: string): IpamError | undefined {
  return merge.merged || merge.isOpen ? renameInMerge(made, before, merge.losers, lock) : undefined;
}

/** What may be a mistake, though it is recorded; to be asked before that. */
function doubtsOf(made: Plan, before: Snapshot, { merged, losers }: Merge, options: StateOptions): string[] {
  if (isInCluster(options)) return [];
  if (merged) return otherVersionNotes(made, before, options, losers);
  const back = () =>
    isUndoable(options.lock, incomingHeads(options.lock))
      ? `bring both sides back (git checkout -m -- ${options.lock}), merge them again, and say so then`
      : `take the lock back (git checkout -- ${options.lock}; any mv since then is to be made again) and say so before you allocate again`;
  return [...otherVersionNotes(made, before, options), ...renameNote(made, before, back), ...swapQuestions(made, back)];
}

/** The record, and what became of the two sides of a merge, if the lockfile is in the middle of one. */
async function open(options: AllocateOptions): Promise<{ state: StateBackend; merge: Merge }> {
  const merge: Merge = { losers: [], merged: false, isOpen: false };
  if (isInCluster(options)) {
    if (options.landed === undefined) return { state: await openToPlan(options), merge };
    throw new IpamError("invalid", "--landed merges a lockfile; a record in a cluster is never in two versions");
  }
  if (options.landed !== undefined && !exists(options.lock)) {
    refuseDeleted(options.lock);
    throw new IpamError("invalid", `there is no ${options.lock} here that ${options.landed} could decide`, {
      hint: "Name the lock that was merged (--lock FILE), or leave out --landed to begin one.",
    });
  }
  const understand = (text: string) => {
    const { snapshot, ...rest } = resolveLock(text, options.lock, options.landed);
    Object.assign(merge, rest);
    return snapshot;
  };
  return { state: openLock(options, { understand }), merge };
}

type Merge = Omit<Resolved, "snapshot">;

/** Writes the merge alone: what comes next may fail, and what helps then (`mv`, a command) needs a whole lock. */
async function settle(state: StateBackend, merge: Merge, snapshot: Snapshot): Promise<void> {
  await record(state, planRelease(snapshot, []));
  process.stderr.write(`${mergeLines(state, merge).join("\n")}\n`);
}

function mergeLines({ name }: StateBackend, { merged, losers }: Merge): string[] {
  return merged ? [`Merged ${name}.`, ...losers.map(loserLine)] : [];
}

function loserJson({ line, winner }: Loser) {
  return { ...lineJson(line), winner: lineJson(winner) };
}

function loserLine({ line, winner, isReleasing }: Loser): string {
  const [owner, other] = [line, winner].map(({ claim }) => ownerName(claim)) as [string, string];
  const isOwn = owner === other && line.claim !== winner.claim;
  const who = isOwn ? `${owner} (${nameOfKey(line.claim)})` : owner;
  const whose = isOwn ? `${owner} (${nameOfKey(winner.claim)})` : other;
  const what = isReleasing ? `it is releasing, and ${whose} may still have it` : `${whose} keeps it`;
  const reason = line.address === winner.address ? what : `it keeps ${formatAddress(winner.address)}`;
  return paint("yellow", `  ! ${formatAddress(line.address)}  ${who}  lost in the merge: ${reason}`);
}

/**
 * Runs a command, and records all that it planned if it succeeds; nothing otherwise. Its output stays its own. A lock in
 * the middle of a merge is merged before: the command could not read it.
 */
async function allocateAround(
  [program = "", ...args]: readonly string[],
  path: string,
  options: AllocateOptions,
): Promise<void> {
  refuseOwnInputs(path === program ? undefined : path, options);
  const { state, merge } = await open(options);
  const snapshot = await state.read();
  if (merge.merged) await settle(state, merge, snapshot);
  const where = isInCluster(options) ? state.name : recordOfLock(options.lock);
  const folder = mkdtempSync(join(tmpdir(), "nodeippool-"));
  try {
    takeOffers(folder, where);
    const { status, signal, error } = spawnSync(program, args, {
      stdio: "inherit",
      env: { ...process.env, [offerVariable]: folder },
    });
    if (error !== undefined) throw new IpamError("invalid", `${program} cannot be run: ${error.message}`);
    if (status !== 0) {
      process.stderr.write(
        `${program} ended with ${status === null ? signal || "a signal" : `exit status ${status}`}; nothing ${merge.merged ? "but the merge " : ""}was recorded.\n`,
      );
      // A real-time signal has no name here.
      process.exitCode = status ?? 128 + ((signal && constants.signals[signal]) || 0);
      return;
    }
    const plans = readOffers(folder);
    const renamed = plans.flatMap((made) => renamedIn(made, snapshot, merge, options.lock) ?? []);
    if (renamed[0]) throw renamed[0];
    const doubts = plans.flatMap((made) => doubtsOf(made, snapshot, merge, options));
    await recordAll(plans, state, options);
    process.stderr.write(doubts.map((line) => `${line}\n`).join(""));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What says how to plan is the command's: here it would be passed over in silence. */
function refuseOwnInputs(path: string | undefined, options: AllocateOptions): void {
  const { nodes, set, allowMove, json } = options;
  const given = {
    [`${path}`]: path !== undefined,
    "--nodes": nodes !== undefined,
    "--set": set !== "default",
    "--allow-move": allowMove,
    "--json": json,
  };
  const stray = Object.entries(given).flatMap(([name, isGiven]) => (isGiven ? name : []));
  if (stray.length > 0)
    throw new IpamError("invalid", `${stray.join(", ")} cannot stand before --: COMMAND itself says what it plans`, {
      hint: "Give it to the command.",
    });
}

async function recordAll(plans: readonly Plan[], state: StateBackend, options: StateOptions): Promise<void> {
  const name = isInCluster(options) ? await commitEach(plans, state) : commitAll(plans, options);
  const lines = plans.flatMap((plan) => changeLines(plan));
  process.stderr.write([...lines, `${plural(plans.length, "plan")} recorded in ${name}.`, ""].join("\n"));
}

function commitAll(plans: readonly Plan[], options: StateOptions): string {
  const lock = openLock(options);
  if (plans.length > 0) lock.commitAll(plans);
  return lock.name;
}

/**
 * One after the other, as they were made on top of each other, if all of them go together with the record as it is; a
 * repeat leaves what it finds done. Where somebody else comes in between, those before it are recorded.
 */
async function commitEach(plans: readonly Plan[], state: StateBackend): Promise<string> {
  applyAll(await state.read(), plans);
  for (const [i, plan] of plans.entries())
    try {
      await record(state, plan);
    } catch (error) {
      if (!(error instanceof IpamError) || i === 0) throw error;
      const message = `of the ${plans.length} plans of this run, the first ${i === 1 ? "is" : `${i} are`} recorded`;
      throw new IpamError(error.code, [
        ...issuesAfterWrite(error),
        { message, hint: "Run it again: what is recorded is kept." },
      ]);
    }
  return state.name;
}
