import { basename, dirname } from "node:path";
import {
  type Allocation,
  claimKey,
  IpamError,
  identityOf,
  nodeNameOf,
  ownerInPool,
  ownerOfKey,
  poolsAsked,
} from "../../core/index.ts";
import { readDesired } from "../../pipeline/desired.ts";
import { readFolder } from "../../pipeline/folder.ts";
import { integrations } from "../../pipeline/integrations.ts";
import { readNodes, type SourceFile } from "../../schema/index.ts";
import { git } from "../../state/git.ts";
import { isConfig, isFolder, isManifest, renderedList } from "../files.ts";

/** Whether a commit's own manifests and nodes claim a line; undefined where that is not known. */
export type IsClaimed = (line: Allocation, commit: string) => boolean | undefined;

/** Where the manifests and the node list are. Both are undefined where a program claims the addresses. */
export interface Inputs {
  readonly manifests?: string;
  readonly nodes?: string;
}

/** The claims of one commit, by `keysOf`, and its nodes; each is undefined where git does not have it. */
interface Claims {
  readonly keys?: ReadonlySet<string>;
  readonly nodes?: ReadonlySet<string>;
}

/** Returns how a claim is known: by its name, and by its NIC, as the policy or capture may have been renamed. */
export function keysOf(line: Pick<Allocation, "pool" | "claim" | "interface">): string[] {
  return [identityOf(line), ...(line.interface === undefined ? [] : [`${ownerInPool(line)} ${line.interface}`])];
}

/** Reads the manifests and the node list of past commits, each commit once. */
export function claimedByCommit(inputs: Inputs): IsClaimed {
  const known = new Map<string, Claims>();
  return (line, commit) => {
    const { keys, nodes } = known.get(commit) ?? claimsAt(commit, inputs);
    known.set(commit, { ...(keys && { keys }), ...(nodes && { nodes }) });
    const node = nodeNameOf(ownerOfKey(line.claim));
    if (node !== undefined && nodes?.has(node) === false) return false;
    return keys && keysOf(line).some((key) => keys.has(key));
  };
}

function claimsAt(commit: string, { manifests, nodes: list }: Inputs): Claims {
  const listed = list === undefined ? undefined : unlessInvalid(() => nodesAt(list, commit));
  const nodes = listed && { nodes: new Set(listed.map(({ name }) => name)) };
  const files = manifests === undefined ? [] : filesAt(manifests, commit);
  if (files.length === 0 || (list !== undefined && listed === undefined)) return { ...nodes };
  const desired = unlessInvalid(() => {
    const read = readFolder(files);
    return readDesired({ ...read, nodes: listed ?? read.nodes }, integrations);
  });
  if (desired === undefined) return { ...nodes };
  const keys = desired.claims.flatMap((claim) =>
    poolsAsked(claim).flatMap((pool) => keysOf({ ...claim, pool, claim: claimKey(claim.owner, claim.name) })),
  );
  return { ...nodes, keys: new Set(keys) };
}

function nodesAt(path: string, commit: string) {
  const text = git(dirname(path), "show", `${commit}:./${basename(path)}`);
  return text === undefined ? undefined : readNodes({ path, text });
}

/** The manifests that a folder, or a file, had in a commit. */
function filesAt(path: string, commit: string): SourceFile[] {
  const [folder, what] = path !== "-" && isFolder(path) ? [path, "."] : [dirname(path), basename(path)];
  const names = git(folder, "ls-tree", "-r", "--name-only", "-z", commit, "--", what)?.split("\0") ?? [];
  const rendered = names.filter((name) => basename(name) === renderedList).map((name) => `${dirname(name)}/`);
  const isInput = (name: string) =>
    isManifest(name) && !/(^|\/)(\.|node_modules\/)/.test(name) && !rendered.some((one) => name.startsWith(one));
  return names.filter(isInput).flatMap((name) => {
    const text = git(folder, "show", `${commit}:./${name}`);
    return text === undefined || isConfig(name, text) ? [] : { path: name, text };
  });
}

function unlessInvalid<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof IpamError) return undefined;
    throw error;
  }
}
