import { basename, dirname, relative, resolve } from "node:path";
import { IpamError, shellWord } from "../core/index.ts";
import { heading } from "./codec.ts";
import { checkGit, git, repositoryOf } from "./git.ts";

/**
 * Throws for a lock that is not there, if to begin a new one could move nodes: it was deleted, renamed or mistyped.
 *
 *  git                                                     | `init` | thrown
 *  --------------------------------------------------------+--------+--------------
 *  does not tell                                           | any    | `unavailable`
 *  has it in its index, or a submodule not checked out has | any    | `stale`
 *  has another lock in its folder, above it or below it    | no     | `stale`
 *  ignores it                                              | no     | `stale`
 *  has none of these, or there is no repository            | any    |
 */
export function refuseMissing(path: string, init = false): void {
  checkGit(path);
  refuseDeleted(path);
  const folder = repositoryOf(path);
  if (folder === undefined || init) return;
  const own = dirname(relative(folder, resolve(path)));
  const other = locksIn(folder).find((lock) => isInside(own, dirname(lock)) || isInside(dirname(lock), own));
  if (other === undefined) {
    refuseIgnored(path);
    return;
  }
  const there = relative("", resolve(folder, other));
  throw new IpamError("stale", `${path} is not there, and this repository has ${there}`, {
    hint: "If that is the record, name that one. To begin another record beside it",
    remedy: ["record", "init"],
  });
}

/** A clone never has a lock that git ignores: to plan without it could move every node. */
function refuseIgnored(path: string): void {
  const pattern = ignoredBy(path);
  if (pattern === undefined) return;
  throw new IpamError("stale", `${path} is not there, and git ignores it (${pattern}), so a clone never has it`, {
    hint: `Bring it back from where it was written, and ${howToAdd(path)}. To begin a new record`,
    remedy: ["record", "init"],
  });
}

/** The pattern by which git ignores a file that it does not have, `.gitignore:1:*.lock`; undefined if git does not ignore it. */
export function ignoredBy(path: string): string | undefined {
  const found = git(dirname(path), "check-ignore", "--verbose", "--", basename(path))?.split("\t")[0];
  // A pattern with `!` is why it is not ignored.
  return found === undefined || /^[^\t]*?:\d+:!/.test(found) ? undefined : found;
}

/** How a user has git keep a lock that it ignores. */
export function howToAdd(path: string): string {
  return `add it: git add -f ${shellWord(path)} (or write !${basename(path)} at the end of .gitignore)`;
}

/** Returns whether a path of a repository is this folder, or in it. */
function isInside(path: string, folder: string): boolean {
  return folder === "." || `${path}/`.startsWith(`${folder}/`);
}

/** Throws `stale` for a lock that is not there, but in git's index, or in a submodule which is not checked out. */
export function refuseDeleted(path: string): void {
  const folder = repositoryOf(path);
  if (folder === undefined) return;
  const name = relative(folder, resolve(path));
  for (const entry of git(folder, "ls-files", "--stage", "-z")?.split("\0") ?? []) {
    const [mode = "", known = ""] = entry.split("\t");
    if (known === name)
      throw new IpamError("stale", `${path} is not there, but git has it: to plan without it could move everybody`, {
        hint: `Bring it back: git restore ${shellWord(path)}. To begin a new record: git rm ${shellWord(path)}.`,
      });
    if (mode.startsWith("160000 ") && isInside(name, known)) throw notCheckedOut(path, resolve(folder, known));
  }
}

function notCheckedOut(path: string, submodule: string): IpamError {
  const parent = relative("", dirname(submodule));
  const command = parent === "" ? "git submodule" : `git -C ${shellWord(parent)} submodule`;
  const name = shellWord(basename(submodule));
  return new IpamError("stale", `${path} is not there, and the submodule that it lies in is not checked out`, {
    hint: `Check it out: ${command} init ${name} && ${command} update ${name}`,
  });
}

/** The locks that git's index has, as paths from the top of the repository: files that begin as one. */
function locksIn(folder: string): string[] {
  const found = git(folder, "grep", "--cached", "--no-color", "-n", "-z", "-F", "-e", heading) ?? "";
  return [...found.matchAll(/(?:^|\n)([^\0]+)\0(\d+)\0/g)].flatMap(([, path = "", line]) => (line === "1" ? path : []));
}
