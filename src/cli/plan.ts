import { isNoop, refusePending, replacedOwners } from "../core/index.ts";
import { planJson } from "./json.ts";
import { otherVersionNotes } from "./other-versions.ts";
import { renameNote } from "./rename-note.ts";
import { reportPlan } from "./report-plan.ts";
import { isInCluster, openToPlan } from "./state.ts";
import { swapQuestions } from "./swap-note.ts";
import { print, printJson } from "./terminal.ts";
import { notesOn, type PlanningOptions, planWorkspace, readWorkspace, refuseUnrenderable } from "./workspace.ts";

export async function planVerb(path: string, options: PlanningOptions & { json?: boolean }): Promise<void> {
  const workspace = await readWorkspace(path, options);
  const snapshot = await (await openToPlan(options)).read();
  const made = planWorkspace(workspace, snapshot, options);
  refuseUnrenderable(workspace, made, snapshot, options);
  const before = () => "say so before this is recorded";
  const notes = [
    ...notesOn(workspace),
    ...otherVersionNotes(made, snapshot, options),
    ...renameNote(made, snapshot, before),
    ...swapQuestions(made, before),
  ];
  if (options.json) printJson({ ...planJson(made), notes });
  else {
    print(...reportPlan(made, workspace.manifests.pools, snapshot), ...notes);
    if (made.pending.length === 0)
      print(
        isNoop(made)
          ? "Nothing to record."
          : `Run nodeippool allocate${isInCluster(options) ? ", with the same backend," : ""} to record it.`,
      );
  }
  refusePending(made);
  const replaced = options.allowMove ? undefined : replacedOwners(made, snapshot);
  if (replaced) throw replaced;
}
