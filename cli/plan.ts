import { IpamError, isNoop } from "../core/index.ts";
import { allServed, firstRefusal } from "../pipeline/guards.ts";
import { historyNotes } from "./audit-history.ts";
import { planJson } from "./json.ts";
import { historyOf } from "./lost-lines.ts";
import { readMerged } from "./merged-record.ts";
import { notesOn } from "./notes.ts";
import { errorJson } from "./report-error.ts";
import { reportPlan } from "./report-plan.ts";
import { isToBegin, type StateOptions } from "./state.ts";
import { print, printJson } from "./terminal.ts";
import { guardsFor, type PlanningOptions, proposeFor, readWorkspace } from "./workspace.ts";

interface Options extends PlanningOptions {
  readonly json?: boolean;
  /** Exit status 2 for a plan that changes something. */
  readonly detailedExitcode?: boolean;
}

export async function planVerb(path: string, options: Options): Promise<void> {
  const workspace = await readWorkspace(path, options);
  const { snapshot, merge } = await readMerged(options);
  if (merge.merged)
    throw new IpamError("conflict", `${options.lock} is in the middle of a merge`, {
      hint: "Merge both sides; whoever loses is planned anew.",
      remedy: ["record"],
    });
  const proposal = proposeFor(workspace, snapshot, options);
  const history = historyOf(options);
  const refusal = firstRefusal(proposal, guardsFor(workspace, options, history));
  // The plan shows what an address is in use by, or what is released; of broken input there is nothing to show.
  if (refusal?.code === "invalid") throw refusal;
  const { plan } = proposal;
  const notes = [...historyNotes(snapshot, history, options), ...notesOn(workspace, proposal)];
  const failure = refusal ?? allServed(proposal);
  if (options.json) printJson({ ...planJson(plan), notes, ...(failure && { error: errorJson(failure) }) });
  else {
    print(...reportPlan(plan, workspace.desired.pools, snapshot), ...notes);
    if (refusal === undefined)
      print(
        isNoop(plan)
          ? "Nothing to record."
          : `Run nodeippool allocate${options.init ? " --init" : ""} to ${recording(options)}.`,
      );
  }
  if (failure !== undefined) throw failure;
  if (options.detailedExitcode && !isNoop(plan)) process.exitCode = 2;
}

/** A new lock is said to be one: it may be that there is one, in another folder. */
function recording(options: StateOptions): string {
  return isToBegin(options) ? `begin ${options.lock} with it` : "record it";
}
