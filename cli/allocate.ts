import { IpamError, isNoop, type Plan, refusePending, replacedOwners, type Snapshot } from "../core/index.ts";
import type { StateBackend } from "../state/backend.ts";
import { planJson } from "./json.ts";
import { loserJson, type Merge, type MergeOptions, mergeLines, readMerged, recordMerge } from "./merged-record.ts";
import { doubtsOf, renamedIn } from "./notes/doubts.ts";
import { notesOn } from "./notes/notes.ts";
import { reportPlan } from "./report-plan.ts";
import { record } from "./state.ts";
import { print, printJson } from "./terminal.ts";
import { type PlanningOptions, planWorkspace, readWorkspace, refuseUnrenderable } from "./workspace.ts";

export interface AllocateOptions extends PlanningOptions, MergeOptions {
  readonly json?: boolean;
}

export async function allocateVerb(path: string, options: AllocateOptions): Promise<void> {
  const workspace = await readWorkspace(path, options);
  const { state, snapshot, merge } = await readMerged(options);
  const made = await orMerged(() => planWorkspace(workspace, snapshot, options), state, merge, snapshot);
  const doubt = doubtOf(made, snapshot, merge, options);
  if (merge.merged && (made.pending.length > 0 || doubt)) await recordMerge(state, merge, snapshot);
  refusePending(made);
  if (doubt) throw doubt;
  refuseUnrenderable(workspace, made, snapshot, options);
  const records = !isNoop(made) || merge.merged;
  const doubts = doubtsOf(made, snapshot, merge, options);
  if (records) await record(state, made);
  const notes = [...notesOn(workspace, made, snapshot), ...doubts];
  if (options.json) return printJson({ ...planJson(made), notes, lost: merge.losers.map(loserJson) });
  print(...mergeLines(state, merge), ...reportPlan(made, workspace.manifests.pools, snapshot), ...notes);
  print(records ? `Recorded in ${state.name}.` : "Nothing to record.");
}

/** What would help a refused plan may be a change of the record, an `mv` for example: that needs the merge settled. */
async function orMerged(make: () => Plan, state: StateBackend, merge: Merge, merged: Snapshot): Promise<Plan> {
  try {
    return make();
  } catch (error) {
    const remedies = error instanceof IpamError ? error.issues.map(({ remedy }) => remedy?.[0]) : [];
    if (merge.merged && remedies.some((one) => one === "to-set" || one === "release"))
      await recordMerge(state, merge, merged);
    throw error;
  }
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
