import { IpamError, isNoop } from "../core/index.ts";
import { allServed, doubtfulRelease, firstRefusal } from "../pipeline/guards.ts";
import { historyNotes } from "./audit-history.ts";
import { confirmRelease } from "./confirm.ts";
import { planJson } from "./json.ts";
import { historyOf } from "./lost-lines.ts";
import { loserJson, type MergeOptions, mergeLines, readMerged, recordMerge } from "./merged-record.ts";
import { notesOn } from "./notes.ts";
import { errorJson } from "./report-error.ts";
import { reportPlan } from "./report-plan.ts";
import { record } from "./state.ts";
import { print, printJson } from "./terminal.ts";
import { guardsFor, type PlanningOptions, proposeFor, readWorkspace } from "./workspace.ts";

export interface AllocateOptions extends PlanningOptions, MergeOptions {
  readonly json?: boolean;
  /** A release that looks like a mistake is intended. */
  readonly confirm?: boolean;
}

/** How often it begins anew where somebody else has changed the record meanwhile: one of all who race is always through. */
const maxTries = 10;

export async function allocateVerb(path: string, options: AllocateOptions): Promise<void> {
  await allocateOnce(path, options, maxTries);
}

async function allocateOnce(path: string, options: AllocateOptions, tries: number): Promise<void> {
  const workspace = await readWorkspace(path, options);
  const { state, snapshot, merge } = await readMerged(options);
  // Whether a doubtful release is intended is asked below, at a terminal.
  const proposal = proposeFor(workspace, snapshot, options, { confirmRelease: true });
  const history = historyOf(options);
  const refusal = firstRefusal(proposal, guardsFor(workspace, options, history, merge.merged));
  if (refusal !== undefined) {
    // What helps may be a change of the record, an `mv` for example: that needs the merge settled. Wrong manifests do not.
    const isOfRecord = refusal.code === "stale" || refusal.issues.some(({ remedy }) => remedy !== undefined);
    if (merge.merged && isOfRecord) await recordMerge(state, merge, snapshot);
    throw refusal;
  }
  const { plan } = proposal;
  const changes = reportPlan(plan, workspace.desired.pools, snapshot);
  const isShown = await confirmRelease(doubtfulRelease(proposal)?.issues ?? [], changes, options);
  const records = !isNoop(plan) || merge.merged;
  try {
    if (records) await record(state, plan);
  } catch (error) {
    const isOvertaken = error instanceof IpamError && error.code === "conflict";
    if (isOvertaken && tries > 1) return allocateOnce(path, options, tries - 1);
    throw error;
  }
  const notes = [...historyNotes(snapshot, history, options), ...notesOn(workspace, proposal)];
  const unserved = allServed(proposal);
  const error = unserved && { error: errorJson(unserved) };
  if (options.json) printJson({ ...planJson(plan), notes, lost: merge.losers.map(loserJson), ...error });
  else {
    print(...mergeLines(state, merge), ...(isShown ? [] : changes), ...notes);
    print(records ? `Recorded in ${state.name}.` : "Nothing to record.");
  }
  if (unserved !== undefined) throw unserved;
}
