import { isNoop } from "../core/index.ts";
import { lockfile } from "../state/index.ts";
import { planJson } from "./json.ts";
import { reportPlan } from "./report-plan.ts";
import { print, printJson } from "./terminal.ts";
import { type PlanningOptions, planWorkspace, readWorkspace, refusePending } from "./workspace.ts";

export interface AllocateOptions extends PlanningOptions {
  readonly landed?: string;
  readonly json?: boolean;
}

export async function allocateVerb(path: string, options: AllocateOptions, _command: readonly string[]): Promise<void> {
  const workspace = readWorkspace(path, options);
  const backend = lockfile(options.lock);
  const snapshot = await backend.read();
  const made = planWorkspace(workspace, snapshot, options);
  refusePending(made);
  if (!isNoop(made)) await backend.commit(made);
  if (options.json) printJson(planJson(made));
  else
    print(
      ...reportPlan(made, workspace.manifests.pools, snapshot),
      isNoop(made) ? "Nothing to record." : `Recorded in ${options.lock}.`,
    );
}
