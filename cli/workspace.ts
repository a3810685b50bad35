import { resolve } from "node:path";
import { IpamError, type Issue, isPlanned, type Plan, plan, type Snapshot } from "../core/index.ts";
import { claimsOf, refuseSharedNics, render } from "../integrations/nmstate/index.ts";
import { refuseSameName } from "../integrations/nmstate/same-name.ts";
import { type ClusterNode, type Manifests, readManifests, readNodes, type SourceFile } from "../schema/index.ts";
import { applyPlan } from "../state/apply.ts";
import { configName, isManifest, liesIn, readInput, readInputs } from "./files.ts";
import { refuseHandWritten } from "./hand-written.ts";
import type { StateOptions } from "./state.ts";
import { progress } from "./terminal.ts";
import { together } from "./together.ts";

export interface PlanningOptions extends StateOptions {
  readonly nodes?: string;
  /** Nobody has named `nodes`: the file was found in its usual place. */
  readonly nodesFound?: boolean;
  readonly set: string;
  readonly allowMove?: boolean;
}

/** What a user's folder says. */
export interface Workspace {
  readonly files: readonly SourceFile[];
  readonly manifests: Manifests;
  readonly nodes: readonly ClusterNode[];
}

/** Reads manifests and nodes. Throws IpamError `invalid` with everything that is wrong with them. */
export async function readWorkspace(
  path: string,
  options: Pick<PlanningOptions, "nodes" | "nodesFound" | "lock">,
): Promise<Workspace> {
  refuseLockAmongManifests(path, options.lock);
  if (path === "-" && options.nodes === "-")
    throw new IpamError("invalid", "manifests and nodes cannot both come from standard input");
  progress("reading manifests and nodes");
  const files = (await readInputs(path)).filter((file) => !isNodesFile(file, path, options.nodes));
  const list = options.nodes === undefined ? undefined : { path: options.nodes, text: await readInput(options.nodes) };
  const [manifests, listed] = together(
    () => ofPlanTools(readManifests(files)),
    () => (list === undefined ? undefined : readNodes(list)),
  );
  if (options.nodesFound && manifests.nodes.length > 0)
    throw new IpamError("invalid", `nodes are defined in ${options.nodes} and among the manifests in ${path}`, {
      hint: `Say which are the nodes to plan for: --nodes FILE, or nodes: FILE in ${configName}.`,
    });
  const nodes = listed ?? manifests.nodes;
  if (nodes.length === 0 && manifests.policies.length > 0)
    throw new IpamError("invalid", "there are no nodes to plan for", {
      hint: "Add --nodes FILE: names, one on a line, or kubectl get nodes -o json.",
    });
  return { files, manifests, nodes };
}

/** A lock of a manifest's name, in their folder, would be rendered and applied as one. */
function refuseLockAmongManifests(path: string, lock: string): void {
  if (!isManifest(lock) || !liesIn(lock, path)) return;
  throw new IpamError(
    "invalid",
    `the lock ${lock} lies in the manifests (${path}), and its name is that of a manifest`,
    {
      hint: "Keep it beside them, or call it nodeippool.lock: nothing renders or applies that.",
    },
  );
}

function isNodesFile(file: SourceFile, path: string, nodes: string | undefined): boolean {
  return nodes !== undefined && (resolve(path, file.path) === resolve(nodes) || resolve(path) === resolve(nodes));
}

/** A pool that the controller allocates from is not ours to plan. */
function ofPlanTools(manifests: Manifests): Manifests {
  const issues = manifests.documents.flatMap((document): Issue[] =>
    document.kind === "pool" && !isPlanned(document.pool)
      ? [
          {
            message: `pool ${document.pool.name} has authority Cluster: only the controller allocates from it`,
            at: document.yaml.at([...document.path, "spec", "authority"]),
            hint: "Plan it with authority Plan (and a clusterRange for nodes that join later), or leave it to the cluster.",
          },
        ]
      : [],
  );
  if (issues.length > 0) throw new IpamError("invalid", issues);
  return manifests;
}

/** The plan for a workspace against a record. */
export function planWorkspace(workspace: Workspace, snapshot: Snapshot, options: PlanningOptions): Plan {
  progress(`planning for ${workspace.nodes.length} nodes`);
  const claims = workspace.manifests.policies.flatMap((policy) => claimsOf(policy, workspace.nodes));
  const { pools } = workspace.manifests;
  refuseSameName(claims, snapshot, options.set);
  refuseSharedNics(claims, pools, snapshot.allocations, options.set);
  const made = plan({ pools, claims, snapshot, set: options.set, allowMove: options.allowMove ?? false });
  refuseHandWritten(workspace, made, snapshot);
  return made;
}

/** Throws what would keep `render` from writing what a plan records: what cannot be rendered is not recorded. */
export function refuseUnrenderable(
  workspace: Workspace,
  made: Plan,
  recorded: Snapshot,
  { set }: Pick<PlanningOptions, "set">,
): void {
  if (made.pending.length === 0) render({ ...workspace, snapshot: applyPlan(recorded, made) ?? recorded, set });
}
