import { IpamError, isNoop, type Plan, planImport, type Use } from "../core/index.ts";
import { claimsOf, refuseSharedNics } from "../nmstate/index.ts";
import { type ClusterNode, readEvidence } from "../schema/index.ts";
import { lockfile } from "../state/index.ts";
import { readInputs } from "./files.ts";
import { planJson } from "./json.ts";
import { reportPlan } from "./report-plan.ts";
import { plural, print, printJson } from "./terminal.ts";
import { type PlanningOptions, readWorkspace } from "./workspace.ts";

export interface ImportOptions extends PlanningOptions {
  readonly json?: boolean;
}

export async function importVerb(evidence: string, path: string, options: ImportOptions): Promise<void> {
  if (evidence === "-" && (path === "-" || options.nodes === "-"))
    throw new IpamError("invalid", "the evidence and another input cannot both come from standard input");
  const { manifests, nodes } = readWorkspace(path, options);
  const { pools, policies } = manifests;
  refuseSharedNics(policies, pools, nodes);
  const uses = readUses(evidence, nodes);
  const claims = policies.flatMap((policy) => claimsOf(policy, nodes));
  const backend = lockfile(options.lock);
  const snapshot = await backend.read();
  const made = planImport({ pools, claims, snapshot, uses, set: options.set });
  if (!isNoop(made)) await backend.commit(made);
  const ignored = countIgnored(made, uses);
  if (options.json) return printJson({ ...planJson(made), ignored });
  print(...reportPlan(made, pools, snapshot));
  if (ignored > 0) print(`${plural(ignored, "other address")} passed over: no pool hands them out.`);
  print(isNoop(made) ? "Nothing to record." : `Recorded in ${options.lock}.`);
}

/** What a file says; of a folder, the files that can say anything. */
function readUses(path: string, nodes: readonly ClusterNode[]): Use[] {
  const files = readInputs(path);
  const speaking = files.filter((file) => /\bNodeNetwork(?:State|ConfigurationPolicy)/.test(file.text));
  const chosen = files.length === 1 ? files : speaking;
  if (chosen.length === 0) throw new IpamError("invalid", `no file in ${path} shows a node's addresses`);
  return chosen.flatMap((file) => readEvidence(file, nodes).uses);
}

function countIgnored(made: Plan, uses: readonly Use[]): number {
  const recorded = new Set([...made.assign, ...made.keep.map((kept) => kept.allocation)].map((line) => line.address));
  return new Set(uses.map((use) => use.address).filter((address) => !recorded.has(address))).size;
}
