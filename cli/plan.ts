import { isNoop, type Plan, refuseBulkRelease, refusePending, type Snapshot } from "../core/index.ts";
import { applyPlan } from "../state/apply.ts";
import { refuseSecond } from "../state/other-locks.ts";
import { planJson } from "./json.ts";
import { refusalOfLost } from "./lost-lines.ts";
import { notesOn } from "./notes.ts";
import { reportPlan } from "./report-plan.ts";
import { isLockfile, isToBegin, openToPlan, type StateOptions } from "./state.ts";
import { print, printJson } from "./terminal.ts";
import { type PlanningOptions, planWorkspace, readWorkspace, refuseUnrenderable } from "./workspace.ts";

export async function planVerb(path: string, options: PlanningOptions & { json?: boolean }): Promise<void> {
  const workspace = await readWorkspace(path, options);
  const snapshot = await (await openToPlan(options)).read();
  const made = planWorkspace(workspace, snapshot, options);
  refuseUnrenderable(workspace, made, snapshot, options);
  refuseUnrecordable(made, snapshot, options);
  const notes = notesOn(workspace, made);
  const lost = options.allowMove ? undefined : refusalOfLost(made, snapshot, false, options);
  if (options.json) printJson({ ...planJson(made), notes });
  else {
    print(...reportPlan(made, workspace.manifests.pools, snapshot), ...notes);
    if (made.pending.length === 0 && lost === undefined)
      print(isNoop(made) ? "Nothing to record." : `Run nodeippool allocate to ${recording(options)}.`);
  }
  refusePending(made);
  if (lost !== undefined) throw lost;
  refuseBulkRelease(made, snapshot);
}

/** Throws what `allocate` would: not for a plan with pending claims, which says itself what is wrong with it. */
function refuseUnrecordable(made: Plan, before: Snapshot, options: StateOptions): void {
  const after = made.pending.length === 0 ? applyPlan(before, made) : undefined;
  if (after !== undefined && isLockfile(options)) refuseSecond(options.lock, before, after, isToBegin(options));
}

/** A new lock is said to be one: it may be that there is one, in another folder. */
function recording(options: StateOptions): string {
  return isToBegin(options) ? `begin ${options.lock} with it` : "record it";
}
