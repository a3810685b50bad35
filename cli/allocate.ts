import { IpamError, isNoop, type Plan, refusePending, type Snapshot } from "../core/index.ts";
import type { StateBackend } from "../state/backend.ts";
import { confirmRelease } from "./confirm.ts";
import { planJson } from "./json.ts";
import { refusalOfLost } from "./lost-lines.ts";
import { loserJson, type Merge, type MergeOptions, mergeLines, readMerged, recordMerge } from "./merged-record.ts";
import { notesOn } from "./notes.ts";
import { reportPlan } from "./report-plan.ts";
import { record } from "./state.ts";
import { print, printJson } from "./terminal.ts";
import { type PlanningOptions, planWorkspace, readWorkspace, refuseUnrenderable } from "./workspace.ts";

export interface AllocateOptions extends PlanningOptions, MergeOptions {
  readonly json?: boolean;
  /** A plan that releases much of the set is meant. */
  readonly confirm?: boolean;
}

export async function allocateVerb(path: string, options: AllocateOptions): Promise<void> {
  const workspace = await readWorkspace(path, options);
  const { state, snapshot, merge } = await readMerged(options);
  const made = await orMerged(() => planWorkspace(workspace, snapshot, options), state, merge, snapshot);
  const lost = options.allowMove ? undefined : refusalOfLost(made, snapshot, merge.merged, options);
  if (merge.merged && (made.pending.length > 0 || lost)) await recordMerge(state, merge, snapshot);
  refusePending(made);
  if (lost) throw lost;
  refuseUnrenderable(workspace, made, snapshot, options);
  const records = !isNoop(made) || merge.merged;
  const changes = reportPlan(made, workspace.manifests.pools, snapshot);
  const isShown = await confirmRelease([{ made, before: snapshot }], changes, options);
  if (records) await record(state, made);
  const notes = notesOn(workspace, made);
  if (options.json) return printJson({ ...planJson(made), notes, lost: merge.losers.map(loserJson) });
  print(...mergeLines(state, merge), ...(isShown ? [] : changes), ...notes);
  print(records ? `Recorded in ${state.name}.` : "Nothing to record.");
}

/** What helps a refused plan may be a change of the record, an `mv` for example: that needs the merge settled. */
async function orMerged(make: () => Plan, state: StateBackend, merge: Merge, merged: Snapshot): Promise<Plan> {
  try {
    return make();
  } catch (error) {
    if (merge.merged && error instanceof IpamError) await recordMerge(state, merge, merged);
    throw error;
  }
}
