import { relative } from "node:path";
import { IpamError, type PoolRecord } from "../core/index.ts";
import { heading, poolLine } from "./codec.ts";
import { git } from "./git.ts";

/** As many commits are looked through: in a large history more would take long, and each first plan asks. */
const recent = 500;

/**
 * Throws `stale` for a lock that git does not have any more, where another one that has addresses of it came when it went:
 * it was renamed, in the index or in a recent commit, perhaps on a branch that was merged into one whose bots know the old
 * name.
 */
export function refuseRenamed(path: string, folder: string): void {
  const top = git(folder, "rev-parse", "--show-prefix")?.trim() ?? "";
  const now = nameNow(folder, `${top}${relative(folder, path)}`);
  if (now === undefined) return;
  const since = now.since === index ? "HEAD" : git(folder, "rev-parse", "--short", now.since)?.trim();
  throw new IpamError("stale", `${path} is not there: it has had another name since ${since}, ${now.name}`, {
    hint: "Name that one: what is planned without it could move everybody. A new record begins under a name of its own.",
  });
}

/** The index, in place of a commit, as in `:path`. */
const index = "";

/**
 * The name by which git has a lock that had this one, and the commit that gave it that. Names are from the top; of those
 * that branches gave each other in turn, each is asked once.
 */
function nameNow(
  folder: string,
  name: string,
  asked: ReadonlySet<string> = new Set(),
): { readonly name: string; readonly since: string } | undefined {
  if (asked.has(name)) return undefined;
  const last = lastWith(folder, name);
  const places = new Set(placesIn((last && git(folder, "show", `${last.has}:${name}`)) ?? ""));
  if (last === undefined || places.size === 0) return undefined;
  const isHeir = (other: string) =>
    !isIn(folder, last.has, other) &&
    placesIn(git(folder, "show", `${last.lacks}:${other}`) ?? "").some((place) => places.has(place));
  for (const heir of locksIn(folder, last.lacks).filter(isHeir)) {
    const found = isIn(folder, index, heir)
      ? { name: heir, since: last.lacks }
      : nameNow(folder, heir, new Set([...asked, name]));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The newest commit that has this file, and what came after it and has it no more: a commit, perhaps a merge, or the index. */
function lastWith(folder: string, name: string): { readonly has: string; readonly lacks: string } | undefined {
  if (isIn(folder, "HEAD", name)) return { has: "HEAD", lacks: index };
  const old = git(folder, "rev-parse", "--verify", "--quiet", `HEAD~${recent}`)?.trim();
  const range = old === undefined ? "HEAD" : `${old}..HEAD`;
  const log = git(folder, "log", "-1", "-m", "--format=%H %P", "--diff-filter=D", range, "--", `:/${name}`);
  const [lacks = "", ...parents] = log?.split("\n")[0]?.split(" ") ?? [];
  const has = parents.find((commit) => isIn(folder, commit, name));
  return has === undefined ? undefined : { has, lacks };
}

function isIn(folder: string, commit: string, name: string): boolean {
  return git(folder, "cat-file", "-e", `${commit}:${name}`) !== undefined;
}

/**
 * Throws `stale` for a lock that begins with a pool which another one of the repository has, where the clone lacks the
 * history that tells whether that one is this one under another name.
 */
export function refuseUnknownHistory(path: string, folder: string, begun: readonly PoolRecord[]): void {
  if (git(folder, "rev-parse", "--is-shallow-repository")?.trim() !== "true") return;
  for (const other of locksIn(folder, index)) {
    const text = git(folder, "show", `:${other}`) ?? "";
    const both = begun.find((pool) => text.includes(`\n${poolLine(pool)}`));
    if (both === undefined) continue;
    throw new IpamError("stale", `${path} would begin, and ${other} has pool ${both.name} already`, {
      hint: "Whether that one is this one under another name is in the history, which a shallow clone does not have. Fetch all of it (in a workflow, fetch-depth: 0), and plan again.",
    });
  }
}

/** The locks that a commit, or git's index, has, as paths from the top of the repository. */
function locksIn(folder: string, commit: string): string[] {
  const where = commit === index ? "--cached" : commit;
  const options = ["--no-color", "--full-name", "-l", "-z", "-F", "-e", heading];
  const found = git(folder, "grep", ...options, where, "--", ":/");
  const prefix = commit === index ? "" : `${commit}:`;
  return (found?.split("\0") ?? []).filter((path) => path !== "").map((path) => path.slice(prefix.length));
}

/** Addresses and their pools; who has them may have changed on the way. */
function placesIn(text: string): string[] {
  return text.match(/"address":"[^"]*","pool":"[^"]*"/g) ?? [];
}
