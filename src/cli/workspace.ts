import { resolve } from "node:path";

import {
  formatAddress,
  IpamError,
  type Issue,
  isPlanned,
  nodeNameOf,
  nodeOwner,
  type Plan,
  plan,
  type Snapshot,
} from "../core/index.ts";

import { claimsOf, refuseSharedNics, render, selectNodes } from "../nmstate/index.ts";
import { refuseNoPolicy } from "../nmstate/select.ts";
import { type ClusterNode, type Manifests, readManifests, readNodes, type SourceFile } from "../schema/index.ts";
import { childLabels, hostnameLabel } from "../schema/node.ts";
import { referencesIn } from "../schema/template.ts";
import { applyPlan } from "../state/apply.ts";
import { exists, isManifest, liesIn, readInput, readInputs } from "./files.ts";
import { refuseHandWritten } from "./hand-written.ts";
import { driftLines } from "./report-plan.ts";
import { isInCluster, type StateOptions } from "./state.ts";
import { progress } from "./terminal.ts";
import { together } from "./together.ts";

export interface PlanningOptions extends StateOptions {
  readonly nodes?: string;
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
  options: Pick<PlanningOptions, "nodes" | "lock">,
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
  refuseSharedNics(claims, pools, snapshot.allocations, options.set);
  const made = plan({ pools, claims, snapshot, set: options.set, allowMove: options.allowMove ?? false });
  refuseHandWritten(workspace, made, snapshot);
  if (made.release.length > 0) refuseNothing(workspace);
  refuseNoPolicy(workspace.manifests.policies, made);
  return made;
}

/**
 * Throws `invalid` for what is hardly meant to release everything: a folder that has nothing but the result, whose policies
 * claim no address any more; and nothing at all, from a pipe whose first command failed.
 */
function refuseNothing({ manifests, files }: Workspace): void {
  if (manifests.policies.length > 0) return;
  if (manifests.pools.length === 0)
    throw new IpamError("invalid", "no pool and no policy is here, and to plan that would release every address", {
      hint: "See to the folder, or to the command that feeds the pipe. To free addresses: nodeippool release.",
    });
  const [rendered] = files.filter(({ text }) => text.includes(childLabels.policy));
  if (rendered === undefined) return;
  throw new IpamError(
    "invalid",
    `${rendered.label ?? rendered.path} was rendered, and no policy here takes an address from a pool`,
    {
      hint: "Name the folder of the manifests that it was made of; of an app: nodeippool allocate -- npx cdk8s synth.",
    },
  );
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

/** What is meant for later, or a slip of the pen. */
export function notesOn(workspace: Workspace): string[] {
  return [...idlePolicyNotes(workspace), ...idleCaptureNotes(workspace), ...reservationNotes(workspace)];
}

/** Captures that get an address and put it nowhere. */
function idleCaptureNotes({ manifests }: Workspace): string[] {
  return manifests.policies.flatMap(({ name, captures, desiredState }) => {
    const used = new Set(referencesIn(desiredState).map(({ reference }) => reference.capture));
    return [...captures.keys()]
      .filter((capture) => !used.has(capture))
      .map(
        (capture) => `Note: policy ${name} takes an address for capture ${capture}, which its desiredState never uses`,
      );
  });
}

/** Policies that select no node. */
function idlePolicyNotes({ manifests, nodes }: Workspace): string[] {
  return manifests.policies
    .filter((policy) => selectNodes(policy, nodes).length === 0)
    .map(({ name }) => `Note: policy ${name} selects none of the nodes`);
}

/** Reservations for nodes that are not there. */
function reservationNotes({ manifests, nodes }: Workspace): string[] {
  const owners = new Set(nodes.map(({ name }) => nodeOwner(name)));
  return manifests.pools.flatMap((pool) =>
    pool.reservations.all.flatMap(({ address, owner }) => {
      if (owner === undefined || nodeNameOf(owner) === undefined || owners.has(owner)) return [];
      const twin = nodes.find((node) => nodeOwner(`${node.labels.get(hostnameLabel)}`) === owner);
      const meant = twin === undefined ? "" : `; did you mean ${nodeOwner(twin.name)}?`;
      return `Note: ${formatAddress(address)} of pool ${pool.name} is reserved for ${owner}, which is not among the nodes${meant}`;
    }),
  );
}

/** Throws `stale` with what the record lacks. */
export function refuseDrift(made: Plan, options: StateOptions): never {
  const { lock } = options;
  if (isInCluster(options))
    throw new IpamError(
      "stale",
      ["the record is not up to date with the manifests:", ...driftLines(made)].join("\n  "),
      {
        hint: "Run nodeippool allocate with the same backend.",
      },
    );
  const what = exists(lock) ? `${lock} is not up to date with the manifests` : `there is no ${lock} here`;
  throw new IpamError("stale", [`${what}:`, ...driftLines(made)].join("\n  "), {
    hint: exists(lock)
      ? "Run nodeippool allocate, review the lock, and commit it."
      : "Name the lock that belongs to these manifests (--lock FILE), or run nodeippool allocate to begin one.",
  });
}
