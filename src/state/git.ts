import { execFileSync } from "node:child_process";
import { basename, dirname } from "node:path";
import { emptySnapshot, IpamError, type Snapshot } from "../core/index.ts";
import { decode } from "./codec.ts";

/** The lock as a git revision has it; undefined if that revision has none. Throws `invalid` for an unknown revision. */
export function lockAt(path: string, revision: string): Snapshot | undefined {
  const [folder, name] = [dirname(path), basename(path)];
  const commit = git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`)?.trim();
  if (commit === undefined) {
    if (git(".", "--version") === undefined)
      throw new IpamError("invalid", "git cannot be run", { hint: "Install it." });
    throw new IpamError("invalid", `${revision} is not a revision of the git repository that ${path} lies in`);
  }
  if (git(folder, "ls-tree", "--name-only", commit, "--", `./${name}`) === "") return undefined;
  const text = git(folder, "show", `${commit}:./${name}`);
  if (text === undefined) throw new IpamError("unavailable", `git cannot show ${name} of ${revision}`);
  return decode(text, `${revision}:${name}`);
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
  if (!git(dirname(path), "ls-files", "-u", "--", basename(path))) return undefined;
  const [base = "", ours = "", theirs = ""] = [1, 2, 3].map((stage) =>
    git(dirname(path), "show", `:${stage}:./${basename(path)}`),
  );
  const side = (text: string, stage: number) =>
    text === "" ? emptySnapshot : decode(text, `${path} (git stage ${stage})`);
  return {
    base: decodeBase(base),
    ours: side(ours, 2),
    theirs: side(theirs, 3),
    isSide: (text) => [ours, theirs].includes(text.replaceAll("\r\n", "\n")),
  };
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
