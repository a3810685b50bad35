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

interface PastMerge {
  readonly commit: string;
  readonly base: string;
  readonly parents: readonly string[];
}

/** The last three merges of which a side had another lock than they have, not further back than 200 commits. */
export function lastMerges(path: string): PastMerge[] {
  const [folder, name] = [dirname(path), basename(path)];
  const old = git(folder, "rev-parse", "--verify", "--quiet", "HEAD~200")?.trim();
  const range = old === undefined ? ["HEAD"] : ["HEAD", `^${old}`];
  const merges = git(folder, "log", "--merges", "--full-history", "-n3", "--format=%h %p", ...range, "--", name);
  const lines = (merges ?? "").split("\n").filter((line) => line !== "");
  return lines.flatMap((line) => {
    const [commit = "", ...sides] = line.split(" ");
    const base = git(folder, "merge-base", "--octopus", ...sides)?.trim();
    return base === undefined ? [] : { commit, base, parents: sides.map((_, i) => `${commit}^${i + 1}`) };
  });
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
