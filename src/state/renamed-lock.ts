import { relative } from "node:path";
import { IpamError, type PoolRecord } from "../core/index.ts";
import { heading, poolLine } from "./codec.ts";
import { git } from "./git.ts";

/** As many commits are looked through: in a large history more would take long, and each first plan asks. */
const recent = 500;

/**
 * Throws `stale` for a lock that git does not have any more, where another one has come since that has addresses of it: it
 * was renamed, in the index or in a recent commit, perhaps on a branch that was merged into one whose bots know the old name.
 */
export function refuseRenamed(path: string, folder: string): void {
  const name = relative(folder, path);
  const last = lastWith(folder, name);
  const text = last && git(folder, "show", `${last}:./${name}`);
  if (last === undefined || !text) return;
  const places = new Set(placesIn(text));
  const now = trackedLocks(folder).find(
    (other) =>
      git(folder, "ls-tree", "-r", "--full-tree", "--name-only", last, "--", other) === "" &&
      placesIn(git(folder, "show", `:${other}`) ?? "").some((place) => places.has(place)),
  );
  if (now === undefined) return;
  throw new IpamError("stale", `${path} is not there: it has had another name since ${shortOf(folder, last)}, ${now}`, {
    hint: "Name that one: what is planned without it could move everybody. A new record begins under a name of its own.",
  });
}

/** The newest commit that has this file; a merge may have been the one that took it away. */
function lastWith(folder: string, name: string): string | undefined {
  const isIn = (commit: string) => git(folder, "cat-file", "-e", `${commit}:./${name}`) !== undefined;
  if (isIn("HEAD")) return "HEAD";
  const old = git(folder, "rev-parse", "--verify", "--quiet", `HEAD~${recent}`)?.trim();
  const range = old === undefined ? "HEAD" : `${old}..HEAD`;
  const log = git(folder, "log", "-1", "-m", "--format=%P", "--diff-filter=D", range, "--", name);
  const [parents = ""] = log?.split("\n") ?? [];
  return parents.split(" ").find((commit) => commit !== "" && isIn(commit));
}

/**
 * Throws `stale` for a lock that begins with a pool which another one of the repository has, where the clone lacks the
 * history that tells whether that one is this one under another name.
 */
export function refuseUnknownHistory(path: string, folder: string, begun: readonly PoolRecord[]): void {
  if (git(folder, "rev-parse", "--is-shallow-repository")?.trim() !== "true") return;
  for (const other of trackedLocks(folder)) {
    const text = git(folder, "show", `:${other}`) ?? "";
    const both = begun.find((pool) => text.includes(`\n${poolLine(pool)}`));
    if (both === undefined) continue;
    throw new IpamError("stale", `${path} would begin, and ${other} has pool ${both.name} already`, {
      hint: "Whether that one is this one under another name is in the history, which a shallow clone does not have. Fetch all of it (in a workflow, fetch-depth: 0), and plan again.",
    });
  }
}

/** The locks that git's index has, as paths from the top of the repository. */
function trackedLocks(folder: string): string[] {
  const found = git(folder, "grep", "--cached", "--full-name", "-l", "-z", "-F", "-e", heading, "--", ":/");
  return found?.split("\0").filter((path) => path !== "") ?? [];
}

/** Addresses and their pools; who has them may have changed on the way. */
function placesIn(text: string): string[] {
  return text.match(/"address":"[^"]*","pool":"[^"]*"/g) ?? [];
}

function shortOf(folder: string, commit: string): string {
  return commit === "HEAD" ? commit : (git(folder, "rev-parse", "--short", commit)?.trim() ?? commit);
}
