import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { emptySnapshot, IpamError, type PoolRecord, type Snapshot, sameSubnet, shellWord } from "../core/index.ts";
import { decode } from "./codec.ts";
import { withoutMark } from "./mark.ts";
import { readText } from "./replace-file.ts";

/**
 * The lock as a git revision has it, empty where its record was elsewhere by then; undefined if that revision has none.
 * Throws `invalid` for an unknown revision.
 */
export function lockAt(path: string, revision: string): Snapshot | undefined {
  const [folder, name] = [dirname(path), basename(path)];
  const commit = git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`)?.trim();
  if (commit === undefined) {
    if (git(".", "--version") === undefined)
      throw new IpamError("invalid", "git cannot be run", { hint: "Install it." });
    const isShallow = git(folder, "rev-parse", "--is-shallow-repository")?.trim() === "true";
    const hint = "It is shallow: fetch the whole history (fetch-depth: 0 in GitHub's checkout action).";
    const what = `${revision} is not a revision of the git repository that ${path} lies in`;
    throw new IpamError("invalid", what, isShallow ? { hint } : {});
  }
  if (git(folder, "ls-tree", "--name-only", commit, "--", `./${name}`) === "") return undefined;
  const text = git(folder, "show", `${commit}:./${name}`);
  if (text === undefined) throw new IpamError("unavailable", `git cannot show ${name} of ${revision}`);
  const { mark, rest } = withoutMark(text, `${revision}:${name}`);
  return decodeVersion(
    mark?.state === "left" ? rest : text,
    `${revision}:${name}`,
    `This revision has a broken lock itself: name one from before the merge that broke it, ${revision}~1 for example.`,
  );
}

/** `decode`, where the text is one that git has: what helps with a broken one is `hint`. */
function decodeVersion(text: string, name: string, hint: string): Snapshot {
  try {
    return decode(text, name);
  } catch (error) {
    if (!(error instanceof IpamError)) throw error;
    const issues = error.issues.map((issue) => {
      const { remedy, ...rest } = issue;
      return remedy?.[0] === "merge-landed" ? { ...rest, hint } : issue;
    });
    throw new IpamError(error.code, issues);
  }
}

/**
 * Throws `stale` for a lock that is not there, but in git's index: it was deleted by a slip, not with `git rm`; or that
 * may be in a submodule which is not checked out.
 */
export function refuseDeleted(path: string): void {
  // Of a folder that is none, git lists what is in it.
  const isSubmodule = (folder: string) => {
    const [entry = "", name] =
      git(dirname(folder), "ls-files", "--stage", "-z", "--", basename(folder))?.split(/[\t\0]/) ?? [];
    return entry.startsWith("160000 ") && name === basename(folder);
  };
  const folders = repositoryFolders(path);
  const submodule = folders.slice(0, -1).find(isSubmodule);
  if (submodule !== undefined) {
    const name = shellWord(basename(submodule));
    const parent = relative("", dirname(submodule));
    const inParent = parent === "" ? "git submodule" : `git -C ${shellWord(parent)} submodule`;
    throw new IpamError("stale", `${path} is not there, and the submodule that it lies in is not checked out`, {
      hint: `Check it out: ${inParent} init ${name} && ${inParent} update ${name}`,
    });
  }
  if (folders.length === 0 || !git(dirname(path), "ls-files", "--", basename(path))) return;
  throw new IpamError("stale", `${path} is not there, but git has it: to plan without it could move everybody`, {
    hint: `Bring it back: git restore ${shellWord(path)}. To begin a new record: git rm ${shellWord(path)}.`,
  });
}

/**
 * Throws `in-use` for pools that begin in a lock below another one of its repository that has one of them, or had them
 * perhaps, before its record moved, where the lock itself is new: somebody works in a subfolder, and two records would
 * hand out the same addresses.
 */
export function refuseSecond(path: string, now: Snapshot, next: Snapshot, isNew: boolean): void {
  const begun = new Map(next.pools.map((pool) => [pool.name, pool]));
  for (const { name } of now.pools) begun.delete(name);
  if (begun.size === 0) return;
  const isBegun = (pool: PoolRecord) => {
    const own = begun.get(pool.name);
    return own !== undefined && sameSubnet(own, pool);
  };
  for (const { above, text } of locksAbove(path)) {
    const { mark, rest } = withoutMark(text, above);
    if (mark?.state === "left" && isNew)
      throw new IpamError(
        "in-use",
        `the record of ${above} has moved to ${mark.other}, and ${path} would begin another`,
        {
          hint: `If its pools are meant, plan where it is: in the folder of ${above}. The lock of other networks can have another name.`,
        },
      );
    const both = decodeOther(rest, above).pools.find(isBegun);
    if (both === undefined) continue;
    throw new IpamError(
      "in-use",
      `${above} has addresses of pool ${both.name}, and ${path} would begin a second record of it`,
      {
        hint: `Work in the folder of ${above}, or name that lock. The lock of another cluster has another name, and a pool of another network says so in its spec (network).`,
      },
    );
  }
}

/** Another lock than the one that a command is about, and than its advice: it cannot be settled from here. */
function decodeOther(text: string, path: string): Snapshot {
  try {
    return decode(text, path);
  } catch (error) {
    if (!(error instanceof IpamError)) throw error;
    const hint = "It may have the same pools. Settle that one first, in its folder.";
    throw new IpamError(
      error.code,
      error.issues.map(({ message, at }) => ({ message, ...(at === undefined ? {} : { at }), hint })),
    );
  }
}

/** The locks of the same name in the folders above it, up to the top of its git repository. */
export function locksAbove(path: string): { readonly above: string; readonly text: string }[] {
  return repositoryFolders(path)
    .slice(1)
    .flatMap((folder) => {
      const above = relative("", join(folder, basename(path)));
      const text = readText(above);
      return text === undefined ? [] : [{ above, text }];
    });
}

/** The folders from that of a file up to the top of its git repository; none if it lies in no repository. */
function repositoryFolders(path: string): string[] {
  const folders = foldersAbove(path);
  return folders.slice(0, folders.findIndex((folder) => existsSync(join(folder, ".git"))) + 1);
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

/** The folders around a file or folder, from the nearest one. */
export function foldersAbove(path: string): string[] {
  const folder = dirname(resolve(path));
  return folder === dirname(folder) ? [folder] : [folder, ...foldersAbove(folder)];
}

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

/**
 * One side of a merge. Throws `conflict` where it has no lock any more although the base had one: nobody gives up every
 * address that way.
 */
export function decodeSide(text: string, name: string, base: Snapshot): Snapshot {
  const hint = "This side was broken before: abort the merge or rebase, mend the lock on that branch, and merge again.";
  if (text.trim() !== "") return decodeVersion(text, name, hint);
  if (base.allocations.length + base.releasing.length === 0) return emptySnapshot;
  throw new IpamError("conflict", `one side of the merge has lost the whole lock (${name} is empty)`, {
    hint: "Take the whole lock of the other side (git checkout, git add), and plan on that.",
    remedy: ["merge"],
  });
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

/** The sides of the merge in progress. Of several heads git merges one after the other into HEAD, and stops at the last one. */
function sidesOf(path: string): { readonly ours: readonly string[]; readonly theirs: readonly string[] } {
  const heads = incomingHeads(path);
  const merged = heads.filter((head) => !head.endsWith("_HEAD")).slice(0, -1);
  return { ours: ["HEAD", ...merged], theirs: heads.slice(merged.length) };
}

/**
 * Can git bring both sides of the merge in progress, that of these heads, back (`git checkout -m`), also after `git add`?
 * It keeps what that takes of merges that have ended, too.
 */
export function isUndoable(path: string, incoming: readonly string[]): boolean {
  return incoming.length > 0 && Boolean(git(dirname(path), "ls-files", "-u", "--resolve-undo", "--", basename(path)));
}

/** Does some commit have this very lock? Then it was taken from there, and not written on top of what HEAD has. */
export function isOfCommit(path: string): boolean {
  const [folder, name] = [dirname(path), basename(path)];
  const id = git(folder, "hash-object", "--", name)?.trim();
  return Boolean(id && git(folder, "log", "--all", "-1", "--format=%H", `--find-object=${id}`, "--", name));
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

/**
 * The base of a merge. git may make one up from several (criss-cross merges), with conflict markers in it; then
 * nothing is known of the base, and a merge keeps whatever either side has.
 */
export function decodeBase(text: string): Snapshot {
  try {
    return decode(text, "the merge base");
  } catch {
    return emptySnapshot;
  }
}

/**
 * A GIT_DIR alone, which git sets for its hooks, takes every folder for the top of the repository: where the folder lies in
 * one by itself, that one counts.
 */
function environmentIn(folder: string): NodeJS.ProcessEnv {
  const { GIT_DIR, ...rest } = process.env;
  const isPlaced = GIT_DIR === undefined || rest.GIT_WORK_TREE !== undefined;
  return isPlaced || repositoryFolders(join(folder, "file")).length === 0 ? process.env : rest;
}

/** What git prints, or undefined if it fails: no repository, no such object, no git. */
export function git(folder: string, ...args: string[]): string | undefined {
  try {
    return execFileSync("git", args, {
      cwd: folder,
      env: environmentIn(folder),
      encoding: "utf8",
      maxBuffer: 1024 ** 3,
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return undefined;
  }
}
