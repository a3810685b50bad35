import { resolve } from "node:path";
import { IpamError, type Issue, isPlanned, type Snapshot, shellWord } from "../core/index.ts";
import { type Desired, readDesired } from "../pipeline/desired.ts";
import { readFolder, renderFolder } from "../pipeline/folder.ts";
import { allServed, type Guard, guardsOf } from "../pipeline/guards.ts";
import { integrations, readKinds } from "../pipeline/integrations.ts";
import { type Proposal, propose } from "../pipeline/proposal.ts";
import { type ClusterNode, readNodes, type SourceFile } from "../schema/index.ts";
import type { ManifestDocument, Manifests, SourceObject } from "../schema/manifest-document.ts";
import { didYouMean } from "../schema/nearest.ts";
import type { LockStep } from "../state/lock-history.ts";
import { configName, isFolder, isManifest, liesIn, readInput, readInputs } from "./files.ts";
import type { Inputs } from "./history/claims-at.ts";
import type { Accepted } from "./history/released.ts";
import { keepsLines } from "./lost-lines.ts";
import { leavesPodAddresses } from "./pod-addresses.ts";
import { isToBegin, type StateOptions } from "./state.ts";
import { plural, progress } from "./terminal.ts";

export interface PlanningOptions extends StateOptions, Inputs, Accepted {
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
  readonly desired: Desired;
}

interface WorkspaceOptions extends Pick<PlanningOptions, "nodes" | "nodesFound" | "lock" | "backend"> {
  /** Nothing is allocated: pools may be the controller's. */
  readonly anyAuthority?: boolean;
}

/** Reads manifests and nodes. Throws IpamError `invalid` with everything that is wrong with them. */
export async function readWorkspace(path: string, options: WorkspaceOptions): Promise<Workspace> {
  refuseLockAmongManifests(path, options.lock);
  if (path === "-" && options.nodes === "-")
    throw new IpamError("invalid", "manifests and nodes cannot both come from standard input");
  progress("reading manifests and nodes");
  const workspace = await workspaceOf(await readInputs(path), path, options);
  refuseNoManifests(workspace, path, options);
  process.stderr.write(quotedNote(workspace, path) + nothingNote(workspace, path));
  return workspace;
}

/** A folder that has nothing, and no lock beside it, is the wrong one. */
function refuseNoManifests({ files }: Workspace, path: string, options: WorkspaceOptions): void {
  if (files.length > 0 || !isToBegin(options)) return;
  throw new IpamError("invalid", `there are no manifests (*.yaml, *.yml, *.json) in ${placeOf(path)}`, {
    hint: "Name the folder that has them: nodeippool plan FOLDER.",
  });
}

/** On standard error, for all verbs alike. */
function nothingNote({ manifests: { owned, unread }, desired: { pools, claims } }: Workspace, path: string): string {
  if (pools.length + claims.length + owned.length + unread.length > 0) return "";
  return `Note: ${placeOf(path)} has no NodeIPPool, and nothing that asks for addresses. If you mean another folder, name it: nodeippool plan FOLDER\n`;
}

function placeOf(path: string): string {
  return path === "-" ? "standard input" : path === "." ? "this folder" : path;
}

/** On standard error: standard output may be the manifests. */
function quotedNote({ manifests: { quoted } }: Workspace, path: string): string {
  const [first, ...more] = quoted;
  if (first === undefined) return "";
  const { file, line } = first.at;
  const others = more.length === 0 ? "" : `, and ${plural(more.length, "more line")} in quotes`;
  return `Note: ${file}:${line} is read as ${first.now.trim()}${others}. Write it so: nodeippool fmt ${shellWord(path)}\n`;
}

/** The workspace of manifests that have been read from `path`. Throws like `readWorkspace`. */
export async function workspaceOf(
  read: readonly SourceFile[],
  path: string,
  options: WorkspaceOptions,
): Promise<Workspace> {
  const files = read.filter((file) => !isNodesFile(file, path, options.nodes));
  const manifests = readFolder(files);
  if (path !== "-" && !isFolder(path)) refuseNothingRead(path, files, manifests);
  const nodes = options.nodes === undefined ? manifests.nodes : await readNodesOf(options.nodes);
  const issues = [...manifests.issues, ...(options.anyAuthority ? [] : ofController(manifests))];
  const desired = readDesired({ ...manifests, issues, nodes }, integrations);
  if (options.nodesFound && manifests.nodes.length > 0)
    throw new IpamError("invalid", `nodes are defined in ${options.nodes} and among the manifests in ${path}`, {
      hint: `Say which are the nodes to plan for: --nodes FILE, or nodes: FILE in ${configName}.`,
    });
  if (nodes.length === 0 && desired.claims.length === 0 && manifests.owned.some(asksForNodes))
    throw new IpamError("invalid", "there are no nodes to plan for", {
      hint: "Add --nodes FILE: names, one on a line, or kubectl get nodes -o json.",
    });
  return { files, manifests, nodes, desired };
}

/** An integration whose owners are nodes says which of its objects ask for none. */
function asksForNodes({ object }: SourceObject): boolean {
  return integrations.some(
    ({ explain, reads }) => explain?.idle && reads.some((one) => one.kind === object.kind && one.owns(object)),
  );
}

/** A folder may have files for others only. If a file is named, a plan of it without manifests would release all addresses. */
function refuseNothingRead(path: string, files: readonly SourceFile[], manifests: Manifests): void {
  const { documents, issues, unread } = manifests;
  const asks = (document: ManifestDocument) =>
    document.kind === "foreign" ? document.objects.length > 0 : document.kind !== "node";
  if (documents.some(asks) || issues.length + unread.length > 0) return;
  if (files.length === 0 || documents.some(({ kind }) => kind === "node"))
    throw new IpamError("invalid", `${path} lists nodes, and has no manifests`, {
      hint: `Name the manifests, and this file as the nodes: nodeippool plan MANIFESTS --nodes ${shellWord(path)}`,
    });
  const fields = readKinds().flatMap(({ nameless }) => nameless?.field ?? []);
  const named = readKinds().flatMap(({ kind, nameless, isBeside }) => (nameless || isBeside ? [] : kind));
  const kinds = [...new Set(["NodeIPPool", ...named])];
  const text = files.map((file) => file.text).join("\n");
  const nearTo = (what: string, pattern: RegExp, known: readonly string[]) =>
    [...text.matchAll(pattern)]
      .filter(([, word = ""]) => didYouMean(word, known) !== "")
      .map(([, word = ""]) => `: unknown ${what} ${word}${didYouMean(word, known)}`)[0];
  const near =
    nearTo("field", /^["']?(\w+)["']?\s*:/gm, fields) ?? nearTo("kind", /\bkind["']?\s*:\s*["']?(\w+)/g, kinds) ?? "";
  throw new IpamError("invalid", `nothing in ${path} asks for addresses or has any${near}`, {
    hint: `Name the folder, or the file, that has them: ${[...kinds, ...fields].join(", ")}.`,
  });
}

/** The nodes that a file, or standard input, lists. Throws IpamError `invalid`. */
export async function readNodesOf(path: string): Promise<readonly ClusterNode[]> {
  return readNodes({ path, text: await readInput(path) });
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
function ofController({ documents }: Manifests): Issue[] {
  return documents.flatMap((document): Issue[] =>
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
}

/** What must hold before a plan for a workspace is recorded. `isMerged`: the lock was merged just now. */
export function guardsFor(
  { files, manifests, nodes }: Workspace,
  options: PlanningOptions,
  history: readonly LockStep[],
  isMerged = false,
): Guard[] {
  const ofFolder = [keepsLines(history, isMerged, options), leavesPodAddresses(files, nodes)];
  return [...guardsOf((rendered) => renderFolder(files, manifests, rendered)), ...ofFolder];
}

/** Throws what is wrong with objects that get no addresses; call it when all others are served. */
export function refuseUnserved(proposal: Proposal): void {
  const refusal = allServed(proposal);
  if (refusal !== undefined) throw refusal;
}

/** The plan for a workspace against a record. Releases are confirmed by `allocate` alone. */
export function proposeFor(
  { desired, nodes }: Workspace,
  before: Snapshot,
  { set, allowMove = false }: PlanningOptions,
  { confirmRelease = false }: { readonly confirmRelease?: boolean } = {},
): Proposal {
  progress(`planning for ${nodes.length} nodes`);
  return propose(() => desired, before, { set, allowMove, confirmRelease });
}
