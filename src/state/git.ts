import { execFileSync } from "node:child_process";
import { basename, dirname } from "node:path";
import { emptySnapshot, IpamError, type Snapshot } from "../core/index.ts";
import { decode } from "./codec.ts";

/** The lock as a git revision has it; empty if that revision has none. Throws `invalid` for an unknown revision. */
export function lockAt(path: string, revision: string): Snapshot {
  if (git(dirname(path), "rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`) === undefined)
    throw new IpamError("invalid", `${revision} is not a revision of the git repository that ${path} lies in`);
  const text = git(dirname(path), "show", `${revision}:./${basename(path)}`);
  return text === undefined ? emptySnapshot : decode(text, `${revision}:${basename(path)}`);
}

/** The three versions of a lock in the middle of a merge or rebase: base, ours, theirs; undefined if git has none. */
export function mergeStages(path: string): [Snapshot, Snapshot, Snapshot] | undefined {
  if (!git(dirname(path), "ls-files", "-u", "--", basename(path))) return undefined;
  const stage = (n: number) => git(dirname(path), "show", `:${n}:./${basename(path)}`) ?? "";
  const side = (n: number) => (stage(n) === "" ? emptySnapshot : decode(stage(n), `${path} (git stage ${n})`));
  return [decodeBase(stage(1)), side(2), side(3)];
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

/** What git prints, or undefined if it fails: no repository, no such object, no git. */
export function git(folder: string, ...args: string[]): string | undefined {
  try {
    return execFileSync("git", args, {
      cwd: folder,
      encoding: "utf8",
      maxBuffer: 1024 ** 3,
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return undefined;
  }
}
