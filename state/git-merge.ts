import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { IpamError, type Snapshot } from "../core/index.ts";
import { foldersAbove, git } from "./git.ts";
import { decodeBase, decodeSide } from "./git-versions.ts";

/** The three versions of a lock in the middle of a merge or rebase. */
export interface Stages {
  readonly base: Snapshot;
  readonly ours: Snapshot;
  readonly theirs: Snapshot;
  /** Is this text one of the two sides, as it was? Then nobody has merged them yet. */
  isSide(text: string): boolean;
}

/** What git's index says of a merge of the lock; undefined if there is none. */
export function mergeStages(path: string): Stages | undefined {
  const unmerged = git(dirname(path), "ls-files", "-u", "--", basename(path));
  if (unmerged === undefined) refuseUnknownMerge(path);
  if (!unmerged) return undefined;
  const [base = "", ours = "", theirs = ""] = [1, 2, 3].map((stage) =>
    git(dirname(path), "show", `:${stage}:./${basename(path)}`),
  );
  const before = decodeBase(base);
  return {
    base: before,
    ours: decodeSide(ours, `${path} (git stage 2)`, before),
    theirs: decodeSide(theirs, `${path} (git stage 3)`, before),
    isSide: (text) => [ours, theirs].includes(text.replaceAll("\r\n", "\n")),
  };
}

/** Does git count the lock as a conflict that nobody has settled with `git add`? */
export function isUnmerged(path: string): boolean {
  return Boolean(git(dirname(path), "ls-files", "-u", "--", basename(path)));
}

/** Throws `unavailable` in the middle of a merge of which git does not tell: it is missing, or does not trust the folder. */
function refuseUnknownMerge(path: string): void {
  const merging = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "rebase-merge", "rebase-apply"];
  for (const folder of foldersAbove(path))
    if (merging.some((name) => existsSync(join(folder, ".git", name))))
      throw new IpamError(
        "unavailable",
        `${folder} is in the middle of a merge, and git does not tell what of ${path}`,
        {
          hint: "See what git status says there.",
        },
      );
}

/** What git keeps while a revision is on its way into HEAD. A rebase that has ended leaves REBASE_HEAD behind. */
const incoming = [
  ["MERGE_HEAD", "MERGE_HEAD"],
  ["CHERRY_PICK_HEAD", "CHERRY_PICK_HEAD"],
  ["REBASE_HEAD", "rebase-merge"],
  ["REBASE_HEAD", "rebase-apply"],
] as const;

/** The revisions that are on their way into HEAD: all heads of a merge, in their order. */
export function incomingHeads(path: string): string[] {
  const folder = dirname(path);
  const asked = incoming.flatMap(([, kept]) => ["--git-path", kept]);
  const paths = git(folder, "rev-parse", ...asked)?.split("\n") ?? [];
  return incoming.flatMap(([head], i) => {
    const kept = resolve(folder, paths[i] ?? "");
    if (!paths[i] || !existsSync(kept)) return [];
    const commits = head === "MERGE_HEAD" ? readFileSync(kept, "utf8").trim().split("\n") : [];
    return commits.length > 1 ? commits.map((commit) => commit.slice(0, 16)) : [head];
  });
}

/** The parents of HEAD where that is a merge; else none. */
export function mergedHeads(path: string): readonly string[] {
  return git(dirname(path), "rev-parse", "--verify", "--quiet", "HEAD^2") === undefined ? [] : ["HEAD^1", "HEAD^2"];
}

/** The sides of the merge in progress. Of several heads git merges one after the other into HEAD, and stops at the last one. */
function sidesOf(path: string): { readonly ours: readonly string[]; readonly theirs: readonly string[] } {
  const heads = incomingHeads(path);
  const merged = heads.filter((head) => !head.endsWith("_HEAD")).slice(0, -1);
  return { ours: ["HEAD", ...merged], theirs: heads.slice(merged.length) };
}

/** Which side of the merge in progress a revision is, as a whole: its lock may lie in another folder there. */
export function sideAt(path: string, revision: string): "ours" | "theirs" | undefined {
  const commit = (name: string) => git(dirname(path), "rev-parse", "--verify", "--quiet", `${name}^{commit}`);
  const { ours, theirs } = sidesOf(path);
  const landed = commit(revision);
  if (ours.length === 1 && commit("HEAD") === landed) return "ours";
  return theirs.some((head) => commit(head) === landed) ? "theirs" : undefined;
}

/**
 * Which side of the merge in progress has a revision among its ancestors: lines of the other one cannot have landed with
 * it. Undefined if both have, or neither.
 */
export function sideWith(path: string, revision: string): "ours" | "theirs" | undefined {
  const has = (head: string) => git(dirname(path), "merge-base", "--is-ancestor", revision, head) !== undefined;
  const { ours, theirs } = sidesOf(path);
  const [isOurs, isTheirs] = [ours.some(has), theirs.some(has)];
  return isOurs === isTheirs ? undefined : isOurs ? "ours" : "theirs";
}
