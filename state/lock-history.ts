import { basename, dirname } from "node:path";
import type { Snapshot } from "../core/index.ts";
import { git, mayHaveRepository } from "./git.ts";
import { incomingHeads, lastChanges, mergedHeads, onMainline, type PastChange } from "./git-merge.ts";
import { lockOfObject } from "./git-versions.ts";

/** An earlier version of the lock, and what followed it. A version without a readable lock is empty. */
export type LockStep = Edit | Commit | Merge;

interface Before {
  /** The version, as git calls it. */
  readonly revision: string;
  readonly before: Snapshot;
}

/** `edit`: HEAD, and the lock as it is. `side`: nothing is known but that HEAD, or the merge in progress, is made of it. */
interface Edit extends Before {
  readonly kind: "edit" | "side";
}

export interface Commit extends Before {
  readonly kind: "commit";
  readonly commit: string;
  readonly after: Snapshot;
}

/** What a merge made of one of its parents. */
interface Merge extends Before {
  readonly kind: "merge";
  readonly commit: string;
  readonly after: Snapshot;
  readonly base: Snapshot;
  /** The other parents. */
  readonly others: readonly Snapshot[];
  /** The version is that of the main branch, so its addresses were in force. */
  readonly hadLanded: boolean;
}

/**
 * The steps of the lock to what it is, newest first: from HEAD, from the sides of a merge in progress or the parents of HEAD, and
 * those of the last merges and commits that changed it (`lastChanges`).
 */
export function stepsOf(lock: string): LockStep[] {
  if (!mayHaveRepository(dirname(lock))) return [];
  const read = reader(lock);
  const incoming = incomingHeads(lock);
  const side = (revision: string): LockStep => ({ kind: "side", revision, before: read(revision) });
  if (incoming.length > 0) return [...incoming, "HEAD"].map(side);
  return [
    { kind: "edit", revision: "HEAD", before: read("HEAD") },
    ...mergedHeads(lock).map(side),
    ...lastChanges(lock).flatMap((change) => stepsOfChange(change, lock, read)),
  ];
}

function stepsOfChange({ commit, parents, base, objects }: PastChange, lock: string, read: Read): LockStep[] {
  if (objects !== undefined) {
    const [before, after] = objects.map((object) => read("", object)) as [Snapshot, Snapshot];
    return [{ kind: "commit", revision: `${commit}^`, before, commit, after }];
  }
  if (base === undefined) return [];
  const landed = onMainline(lock, parents);
  const sides = parents.map((parent) => read(parent));
  return parents.map((parent, i) => ({
    kind: "merge",
    revision: `${commit}^${i + 1}`,
    before: sides[i] as Snapshot,
    commit,
    after: read(commit),
    base: read(base),
    others: sides.filter((_, other) => other !== i),
    hadLanded: landed.includes(parent),
  }));
}

type Read = (revision: string, object?: string) => Snapshot;

/** Reads a version of the lock once, however many commits have it. */
function reader(lock: string): Read {
  const known = new Map<string, Snapshot>();
  const objectAt = (revision: string) =>
    git(dirname(lock), "rev-parse", "--verify", "--quiet", "--short", `${revision}:./${basename(lock)}`)?.trim() ?? "";
  return (revision, object = objectAt(revision)) => {
    const record = known.get(object) ?? lockOfObject(lock, object);
    known.set(object, record);
    return record;
  };
}
