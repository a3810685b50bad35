import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { IpamError } from "../core/index.ts";
import { foldersAbove, git } from "./git.ts";

/** Returns whether git counts the lock as a conflict that `git add` has not settled. */
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
  /** Of any other commit: the objects of git with the text before and after. */
  readonly objects?: readonly [before: string, after: string];
}

/**
 * The last three merges of which a side had another lock than they have, and the last 20 other commits that changed it (a
 * rebase rewrites many at once), newest first, not further back than 200 commits.
 */
export function lastChanges(path: string): PastChange[] {
  return lastOf(changesIn(path), 20).flatMap((change) => {
    if (!isMerge(change)) return change;
    const base = baseOf(path, change);
    return base === undefined ? [] : { ...change, base };
  });
}

/**
 * Returns whether a shallow clone lacks something that `lastChanges` would have found in a whole one.
 *
 *  the commit at which the clone is cut     | the changes that are newer           | it may lack some
 *  -----------------------------------------+--------------------------------------+-----------------
 *  has no lock, or is 200 commits back      |                                      | no
 *  has one                                  | three merges, and three other commits | no
 *                                           | fewer                                | yes
 *  any                                      | a merge whose base is cut off        | yes
 */
export function lacksChanges(path: string): boolean {
  const folder = dirname(path);
  if (git(folder, "rev-parse", "--is-shallow-repository")?.trim() !== "true") return false;
  const ends = shallowEnds(folder);
  const changes = changesIn(path);
  const cut = changes.findIndex(
    ({ commit, parents }) => parents.length === 0 && ends.some((end) => end.startsWith(commit)),
  );
  const last = lastOf(cut < 0 ? changes : changes.slice(0, cut), 3);
  return (cut >= 0 && last.length < 6) || last.some((change) => isMerge(change) && baseOf(path, change) === undefined);
}

/** The commits without their parents, by their whole names. */
function shallowEnds(folder: string): readonly string[] {
  const file = git(folder, "rev-parse", "--git-path", "shallow")?.trim() ?? "";
  return readFileSync(resolve(folder, file), "utf8")
    .split("\n")
    .filter((line) => line !== "");
}

/** The commits that changed the lock, newest first, not further back than 200 commits; one that has no parents is the first of all, or the end of a shallow clone. */
function changesIn(path: string): PastChange[] {
  const [folder, name] = [dirname(path), basename(path)];
  const old = git(folder, "rev-parse", "--verify", "--quiet", "HEAD~200")?.trim();
  const range = old === undefined ? ["HEAD"] : ["HEAD", `^${old}`];
  const how = ["--topo-order", "--full-history", "--raw", "--no-renames", "--format=%h %P"];
  const log = git(folder, "log", ...how, ...range, "--", name) ?? "";
  return [...log.matchAll(/^(\w+)((?: \w+)*) *(?:\n\n:\d+ \d+ (\w+) (\w+) )?/gm)].map((found) => {
    const [, commit = "", parents = "", before, after] = found;
    const objects = before === undefined || after === undefined ? {} : { objects: [before, after] as const };
    return { commit, parents: parents.split(" ").filter((word) => word !== ""), ...objects };
  });
}

/** The last three merges, and so many others, that have a version before them. */
function lastOf(changes: readonly PastChange[], others: number): PastChange[] {
  const later = changes.filter(({ parents }) => parents.length > 0);
  const merges = later.filter(isMerge).slice(0, 3);
  const last = new Set([...merges, ...later.filter((one) => !isMerge(one)).slice(0, others)]);
  return later.filter((change) => last.has(change));
}

function isMerge({ parents }: PastChange): boolean {
  return parents.length > 1;
}

function baseOf(path: string, { parents }: PastChange): string | undefined {
  return git(dirname(path), "merge-base", "--octopus", ...parents)?.trim();
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
