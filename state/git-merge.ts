import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { IpamError } from "../core/index.ts";
import { foldersAbove, git } from "./git.ts";

/** Does git count the lock as a conflict that nobody has settled with `git add`? */
export function isUnmerged(path: string): boolean {
  return Boolean(git(dirname(path), "ls-files", "-u", "--", basename(path)));
}

/** Throws `unavailable` in the middle of a merge of which git does not tell: it is missing, or does not trust the folder. */
export function refuseUnknownMerge(path: string): void {
  const kept = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "rebase-merge", "rebase-apply"];
  const folder = foldersAbove(path).find((one) => kept.some((name) => existsSync(join(one, ".git", name))));
  if (folder === undefined) return;
  throw new IpamError("unavailable", `${folder} is in the middle of a merge, and git does not tell what of ${path}`, {
    hint: "See what git status says there.",
  });
}

/** The revisions that are on their way into HEAD: all heads of a merge, in their order. */
export function incomingHeads(path: string): string[] {
  const folder = git(dirname(path), "rev-parse", "--absolute-git-dir")?.trim();
  const has = (name: string) => folder !== undefined && existsSync(join(folder, name));
  const merging = has("MERGE_HEAD")
    ? readFileSync(join(`${folder}`, "MERGE_HEAD"), "utf8")
        .trim()
        .split("\n")
    : [];
  return [
    ...(merging.length > 1 ? merging.map((commit) => commit.slice(0, 16)) : merging.map(() => "MERGE_HEAD")),
    ...(has("CHERRY_PICK_HEAD") ? ["CHERRY_PICK_HEAD"] : []),
    // A rebase that has ended leaves REBASE_HEAD behind.
    ...(has("rebase-merge") || has("rebase-apply") ? ["REBASE_HEAD"] : []),
  ];
}

/** The parents of HEAD where that is a merge; else none. */
export function mergedHeads(path: string): readonly string[] {
  return git(dirname(path), "rev-parse", "--verify", "--quiet", "HEAD^2") === undefined ? [] : ["HEAD^1", "HEAD^2"];
}

/** A commit that changed the lock. */
export interface PastChange {
  readonly commit: string;
  readonly parents: readonly string[];
  /** Of a merge: what its sides have in common. */
  readonly base?: string;
}

/**
 * The last three merges of which a side had another lock than they have, and the last three other commits that changed it,
 * newest first, not further back than 200 commits.
 */
export function lastChanges(path: string): PastChange[] {
  const [folder, name] = [dirname(path), basename(path)];
  const old = git(folder, "rev-parse", "--verify", "--quiet", "HEAD~200")?.trim();
  const range = old === undefined ? ["HEAD"] : ["HEAD", `^${old}`];
  const log = git(folder, "log", "--topo-order", "--full-history", "--format=%h %P", ...range, "--", name) ?? "";
  const changes = log.split("\n").flatMap((line): PastChange[] => {
    const [commit = "", ...parents] = line.split(" ").filter((word) => word !== "");
    return parents.length === 0 ? [] : [{ commit, parents }];
  });
  const isMerge = ({ parents }: PastChange) => parents.length > 1;
  const last = new Set([true, false].flatMap((is) => changes.filter((one) => isMerge(one) === is).slice(0, 3)));
  return changes
    .filter((change) => last.has(change))
    .flatMap((change) => {
      if (!isMerge(change)) return change;
      const base = git(folder, "merge-base", "--octopus", ...change.parents)?.trim();
      return base === undefined ? [] : { ...change, base };
    });
}

/**
 * Which parents of a merge were on the main branch. Where none is known to have been, or git does not know a main branch, the
 * first one: that is what the merge was made on.
 */
export function onMainline(path: string, parents: readonly string[]): readonly string[] {
  const folder = dirname(path);
  const names = ["remotes/origin/HEAD", "remotes/origin/main", "remotes/origin/master", "heads/main", "heads/master"];
  const known = git(folder, "for-each-ref", "--format=%(refname)", ...names.map((name) => `refs/${name}`)) ?? "";
  const main = names.find((name) => known.split("\n").includes(`refs/${name}`)) ?? "HEAD";
  const line = new Set(git(folder, "rev-list", "--first-parent", "-n1000", main)?.split("\n"));
  const landed = parents.filter((parent) => line.has(parent));
  return landed.length > 0 ? landed : parents.slice(0, 1);
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
