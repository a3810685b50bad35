import { basename, dirname } from "node:path";
import { emptySnapshot, IpamError, type Snapshot } from "../core/index.ts";
import { git, mayHaveRepository } from "./git.ts";
import {
  incomingHeads,
  lastChanges,
  lastLinearChanges,
  mergedHeads,
  onMainline,
  type PastChange,
} from "./git-merge.ts";
import { lockAt, lockOfObject } from "./git-versions.ts";

/** An earlier version of the lock, and what came after it. */
export interface Version {
  /** As git calls it. */
  readonly revision: string;
  readonly record: Snapshot;
  /** `present`: the lock as it is. `side`: nothing is known but that HEAD, or the merge in progress, is made of it. */
  readonly next: Step | "present" | "side";
}

/** What a commit made of an earlier version. */
interface Step {
  readonly commit: string;
  readonly record: Snapshot;
  readonly merge?: MergeStep;
}

interface MergeStep {
  readonly base: Snapshot;
  /** The other parents. */
  readonly others: readonly Snapshot[];
  /** The version is that of the main branch, so its addresses were in force. */
  readonly hadLanded: boolean;
}

/**
 * The versions that a record is compared with, newest first: HEAD, the sides of a merge in progress or the parents of HEAD,
 * and what the last merges and commits that changed the lock were made from. A version without a readable lock is empty.
 */
export function versionsOf(lock: string): Version[] {
  if (!mayHaveRepository(dirname(lock))) return [];
  const read = reader(lock);
  const incoming = incomingHeads(lock);
  const side = (revision: string): Version => ({ revision, record: read(revision), next: "side" });
  if (incoming.length > 0) return [...incoming, "HEAD"].map(side);
  return [
    { revision: "HEAD", record: read("HEAD"), next: "present" },
    ...mergedHeads(lock).map(side),
    ...lastChanges(lock).flatMap((change) => parentsOf(change, lock, read)),
  ];
}

/** What one commit that is no merge made of the lock: `record` became `after`. */
export interface LinearStep {
  readonly commit: string;
  readonly record: Snapshot;
  readonly after: Snapshot;
}

/** Returns what the last 20 commits that are no merges made of the lock, newest first: a rebase rewrites many at once. */
export function linearSteps(lock: string): LinearStep[] {
  const known = new Map<string, Snapshot>();
  const read = (object: string) => {
    const record = known.get(object) ?? lockOfObject(lock, object);
    known.set(object, record);
    return record;
  };
  return lastLinearChanges(lock, 20).map(({ commit, before, after }) => {
    return { commit, record: read(before), after: read(after) };
  });
}

type Read = (revision: string) => Snapshot;

function parentsOf({ commit, parents, base }: PastChange, lock: string, read: Read): Version[] {
  const record = read(commit);
  if (base === undefined) return [{ revision: `${commit}^`, record: read(`${commit}^`), next: { commit, record } }];
  const landed = onMainline(lock, parents);
  const sides = parents.map(read);
  return sides.map((version, i) => {
    const others = sides.filter((_, other) => other !== i);
    const merge = { base: read(base), others, hadLanded: landed.includes(parents[i] as string) };
    return { revision: `${commit}^${i + 1}`, record: version, next: { commit, record, merge } };
  });
}

/** Reads a version of the lock once, however many commits have it. */
function reader(lock: string): Read {
  const known = new Map<string, Snapshot>();
  return (revision) => {
    const blob = git(dirname(lock), "rev-parse", "--verify", "--quiet", `${revision}:./${basename(lock)}`) ?? "";
    const record = known.get(blob) ?? versionAt(lock, revision);
    known.set(blob, record);
    return record;
  };
}

function versionAt(lock: string, revision: string): Snapshot {
  try {
    return lockAt(lock, revision) ?? emptySnapshot;
  } catch (error) {
    if (error instanceof IpamError) return emptySnapshot;
    throw error;
  }
}
