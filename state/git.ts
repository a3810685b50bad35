import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { IpamError } from "../core/index.ts";

/** What git prints, or undefined if it fails: no repository, no such object, no git. Outside of repositories it is not started. */
export function git(folder: string, ...args: string[]): string | undefined {
  return mayHaveRepository(folder) ? gitAnywhere(folder, ...args) : undefined;
}

/** The same, of what git does outside of repositories, too. */
export function gitAnywhere(folder: string, ...args: string[]): string | undefined {
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

/** Returns whether git could find a repository. It looks above the folder that links lead to, and a bare repository has no .git. */
export function mayHaveRepository(folder: string): boolean {
  if (process.env.GIT_DIR !== undefined) return true;
  try {
    const inside = join(realpathSync(folder), "file");
    return foldersAbove(inside).some((one) => existsSync(join(one, ".git")) || existsSync(join(one, "HEAD")));
  } catch {
    return false;
  }
}

/** Throws `unavailable` for a path in a git repository that git does not open, with its own reason; or where git is not installed. */
export function checkGit(path: string): void {
  const hint = gitProblem(path)?.replaceAll("\n", "\n  ");
  if (hint === undefined) return;
  const folder = repositoryOf(path);
  throw new IpamError("unavailable", `${path} is not there, and git does not tell whether ${folder} had one`, { hint });
}

/** Why git does not open the repository that a file lies in, in its own words; undefined if it does, or there is none. */
export function gitProblem(path: string): string | undefined {
  const folder = repositoryOf(path);
  if (folder === undefined) return undefined;
  const options = { cwd: folder, env: environmentIn(folder), encoding: "utf8" } as const;
  const { status, stderr, error } = spawnSync("git", ["rev-parse", "--git-dir"], options);
  if (status === 0) return undefined;
  return error === undefined ? stderr.trim() : `git cannot be run: ${error.message}`;
}

/**
 * A GIT_DIR alone, which git sets for its hooks, takes every folder for the top of the repository: where the folder lies in
 * one by itself, that one counts.
 */
function environmentIn(folder: string): NodeJS.ProcessEnv {
  const { GIT_DIR, ...rest } = process.env;
  const isPlaced = GIT_DIR === undefined || rest.GIT_WORK_TREE !== undefined;
  return isPlaced || repositoryOf(join(folder, "file")) === undefined ? process.env : rest;
}

/** The top of the git repository that a file lies in; undefined if it lies in none. */
export function repositoryOf(path: string): string | undefined {
  return foldersAbove(path).find((folder) => existsSync(join(folder, ".git")));
}

/** The folders around a file or folder, from the nearest one. */
export function foldersAbove(path: string): string[] {
  const folder = dirname(resolve(path));
  return folder === dirname(folder) ? [folder] : [folder, ...foldersAbove(folder)];
}
