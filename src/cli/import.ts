import {
  type Claim,
  claimKey,
  formatOwner,
  IpamError,
  type Issue,
  isNoop,
  type Plan,
  type Pool,
  planImport,
  type Snapshot,
  type Use,
} from "../core/index.ts";
import { claimsOf, refuseSharedNics } from "../nmstate/index.ts";
import { type ClusterNode, type Evidence, type Policy, readEvidence, type SourceFile } from "../schema/index.ts";
import { didYouMean } from "../schema/nearest.ts";
import { hostnameLabel } from "../schema/node.ts";
import { readInputs } from "./files.ts";
import { planJson } from "./json.ts";
import { reportPlan } from "./report-plan.ts";
import { openState } from "./state.ts";
import { paint, plural, print, printJson } from "./terminal.ts";
import { together } from "./together.ts";
import { type PlanningOptions, readWorkspace } from "./workspace.ts";

export interface ImportOptions extends PlanningOptions {
  readonly json?: boolean;
}

export async function importVerb(evidence: string, path: string, options: ImportOptions): Promise<void> {
  if (evidence === "-" && (path === "-" || options.nodes === "-"))
    throw new IpamError("invalid", "the evidence and another input cannot both come from standard input");
  const { manifests, nodes } = await readWorkspace(path, options);
  const { pools, policies } = manifests;
  const files = await readSpeaking(evidence);
  const [claims, read] = together(
    () => claimsFor(policies, pools, nodes),
    () => together(...files.map((file) => () => readEvidence(file, nodes))),
  );
  const uses = named(read, nodes);
  const state = await openState(options);
  const snapshot = await state.read();
  const made = planImport({ pools, claims, snapshot, uses, set: options.set });
  const after = isNoop(made) ? snapshot : await state.commit(made);
  const ignored = countIgnored(made, uses);
  if (options.json) return printJson({ ...planJson(made), ignored });
  print(...reportPlan(made, pools, snapshot), ...missed(claims, uses, after));
  if (ignored > 0) print(`${plural(ignored, "other address")} passed over: no pool hands them out.`);
  print(isNoop(made) ? "Nothing to record." : `Recorded in ${state.name}.`);
}

function claimsFor(policies: readonly Policy[], pools: readonly Pool[], nodes: readonly ClusterNode[]): Claim[] {
  const claims = policies.flatMap((policy) => claimsOf(policy, nodes));
  refuseSharedNics(claims, pools);
  return claims;
}

/** A file; of a folder, the files that can say anything. */
async function readSpeaking(path: string): Promise<SourceFile[]> {
  const files = await readInputs(path);
  const speaking = files.filter((file) => /\bNodeNetwork(?:State|ConfigurationPolicy)/.test(file.text));
  const chosen = files.length === 1 ? files : speaking;
  if (chosen.length === 0) throw new IpamError("invalid", `no file in ${path} shows a node's addresses`);
  return chosen;
}

/** Looking for what was meant costs a look at every node, each time. */
const mostHints = 100;

/** Uses by node name: a hostname label stands for its node. A name that neither the nodes nor a node's own report knows is refused. */
function named(read: readonly Evidence[], nodes: readonly ClusterNode[]): Use[] {
  const uses = read.flatMap((one) => one.uses);
  const reporting = new Set(read.flatMap((one) => [...one.nodes]));
  const names = new Map(nodes.map(({ name }) => [`Node/${name}`, name]));
  for (const { name, labels } of nodes) {
    const hostname = labels.get(hostnameLabel);
    if (hostname !== undefined && !names.has(`Node/${hostname}`)) names.set(`Node/${hostname}`, name);
  }
  const issues = new Map<string, Issue>();
  const known = uses.map((use) => {
    const name = use.owner === undefined || reporting.has(use.owner) ? undefined : names.get(use.owner);
    if (name !== undefined) return { ...use, owner: `Node/${name}` };
    if (use.owner !== undefined && !reporting.has(use.owner) && !issues.has(use.owner)) {
      const near = issues.size < mostHints ? didYouMean(use.owner.slice("Node/".length), names.values()) : "";
      issues.set(use.owner, {
        message: `${use.owner.slice("Node/".length)} is not among the nodes${near}`,
        at: use.at,
      });
    }
    return use;
  });
  if (issues.size > 0) throw new IpamError("invalid", [...issues.values()]);
  return known;
}

/** Claims of nodes that were looked at, for which nothing was found. */
function missed(claims: readonly Claim[], uses: readonly Use[], after: Snapshot): string[] {
  const owners = new Set(uses.map((use) => use.owner));
  const held = new Set(after.allocations.map((line) => `${line.pool} ${line.claim}`));
  return claims
    .filter(({ owner, name, pool }) => owners.has(formatOwner(owner)) && !held.has(`${pool} ${claimKey(owner, name)}`))
    .map(({ owner, name, interface: nic }) => {
      const where = nic === undefined ? "" : ` on ${nic}`;
      return paint("yellow", `  ! ${owner.name}  ${name}  nothing found${where}: allocate will give it a new address`);
    });
}

function countIgnored(made: Plan, uses: readonly Use[]): number {
  const recorded = new Set([...made.assign, ...made.keep.map((kept) => kept.allocation)].map((line) => line.address));
  return new Set(uses.map((use) => use.address).filter((address) => !recorded.has(address))).size;
}
