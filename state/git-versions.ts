import { basename, dirname } from "node:path";
import { emptySnapshot, IpamError, type Snapshot } from "../core/index.ts";
import { decode } from "./codec.ts";
import { git } from "./git.ts";
import { withoutMark } from "./mark.ts";

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

function decodeWhole(text: string | undefined, name: string): Snapshot | undefined {
  try {
    return text === undefined ? undefined : decode(text, name);
  } catch {
    return undefined;
  }
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
    remedy: ["record"],
  });
}

/**
 * The base of a merge. git may make one up from several (criss-cross merges), with conflict markers in it; then
 * nothing is known of the base, and a merge keeps whatever either side has.
 */
export function decodeBase(text: string): Snapshot {
  return decodeWhole(text, "the merge base") ?? emptySnapshot;
}

/** `decode`, where the text is one that git has: what helps with a broken one is `hint`. */
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
