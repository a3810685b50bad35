import { basename, dirname } from "node:path";
import { emptySnapshot, IpamError, type Snapshot } from "../core/index.ts";
import { decode } from "./codec.ts";
import { git, gitAnywhere } from "./git.ts";
import { refuseUnknownMerge } from "./git-merge.ts";
import { withoutMark } from "./mark.ts";

/** The three versions of a lock in the middle of a merge or rebase. */
export interface Stages {
  readonly base: Snapshot;
  readonly ours: Snapshot;
  readonly theirs: Snapshot;
  /** Returns whether a text is one of the two sides, unchanged: they are not merged yet. */
  isSide(text: string): boolean;
}

/** What git's index says of a merge of the lock; undefined if there is none. */
export function mergeStages(path: string): Stages | undefined {
  const [folder, name] = [dirname(path), basename(path)];
  const unmerged = git(folder, "ls-files", "-u", "--", name);
  if (unmerged === undefined) refuseUnknownMerge(path);
  if (!unmerged) return undefined;
  const [before, ours, theirs] = [1, 2, 3].map((stage) => git(folder, "show", `:${stage}:./${name}`) ?? "") as Texts;
  const base = decodeBase(before);
  return {
    base,
    ours: decodeSide(ours, `${path} (git stage 2)`, base),
    theirs: decodeSide(theirs, `${path} (git stage 3)`, base),
    isSide: (text) => [ours, theirs].includes(text.replaceAll("\r\n", "\n")),
  };
}

type Texts = [base: string, ours: string, theirs: string];

/**
 * The lock as a git revision has it, empty where its record was elsewhere by then; undefined if that revision has none.
 * Throws `invalid` for an unknown revision.
 */
export function lockAt(path: string, revision: string): Snapshot | undefined {
  const [folder, name] = [dirname(path), `${revision}:${basename(path)}`];
  const commit = git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`)?.trim();
  if (commit === undefined) throw unknownRevision(path, revision);
  if (git(folder, "ls-tree", "--name-only", commit, "--", `./${basename(path)}`) === "") return undefined;
  const text = git(folder, "show", `${commit}:./${basename(path)}`);
  if (text === undefined) throw new IpamError("unavailable", `git cannot show ${name}`);
  const hint = `This revision has a broken lock itself: name one from before the merge that broke it, ${revision}~1 for example.`;
  return decodeMarked(text, name, hint);
}

/** The lock that an object of git is; empty where it is none that can be read. */
export function lockOfObject(path: string, object: string): Snapshot {
  try {
    return decodeMarked(git(dirname(path), "cat-file", "blob", object) ?? "", object, "");
  } catch (error) {
    if (error instanceof IpamError) return emptySnapshot;
    throw error;
  }
}

function decodeMarked(text: string, name: string, hint: string): Snapshot {
  const { mark, rest } = withoutMark(text, name);
  return decodeVersion(mark?.state === "left" ? rest : text, name, hint);
}

function unknownRevision(path: string, revision: string): IpamError {
  if (gitAnywhere(".", "--version") === undefined)
    return new IpamError("invalid", "git cannot be run", { hint: "Install it." });
  const isShallow = git(dirname(path), "rev-parse", "--is-shallow-repository")?.trim() === "true";
  const hint = "It is shallow: fetch the whole history (fetch-depth: 0 in GitHub's checkout action).";
  const message = `${revision} is not a revision of the git repository that ${path} lies in`;
  return new IpamError("invalid", message, isShallow ? { hint } : {});
}

/**
 * One side of a merge. Throws `conflict` where it has no lock any more although the base had one: nobody releases every
 * address that way.
 */
export function decodeSide(text: string, name: string, base: Snapshot): Snapshot {
  const hint = "This side was broken before: abort the merge or rebase, mend the lock on that branch, and merge again.";
  if (text.trim() !== "") return decodeVersion(text, name, hint);
  if (base.allocations.length + base.releasing.length === 0) return emptySnapshot;
  throw new IpamError("conflict", `one side of the merge has lost the whole lock (${name} is empty)`, {
    hint: "Take the whole lock of the other side (git checkout, git add), and plan on that.",
    remedy: ["record"],
  });
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

/** `decode`, where the text is one that git has: what helps with a broken line is `hint`. */
function decodeVersion(text: string, name: string, hint: string): Snapshot {
  try {
    return decode(text, name);
  } catch (error) {
    if (!(error instanceof IpamError)) throw error;
    const issues = error.issues.map((issue) => {
      const { remedy, ...rest } = issue;
      return remedy?.[1] === "landed" ? { ...rest, hint } : issue;
    });
    throw new IpamError(error.code, issues);
  }
}
