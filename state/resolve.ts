import { IpamError, type Snapshot, shellWord } from "../core/index.ts";
import { decode } from "./codec.ts";
import { incomingHeads, mergeStages, type Stages, sideAt, sideWith } from "./git-merge.ts";
import { lockAt } from "./git-versions.ts";
import { hasMarkers } from "./lockfile.ts";
import { type Loser, mergeRecords } from "./merge.ts";
import { salvage } from "./salvage.ts";

export interface Resolved {
  readonly snapshot: Snapshot;
  /** Lines that must be planned anew. */
  readonly losers: readonly Loser[];
  /** Was there anything to resolve? */
  readonly merged: boolean;
}

/**
 * Reads a lock that may be in the middle of a git merge or rebase, or broken by one. Whole locks are just read.
 * `landed` is the revision whose lines keep their addresses; without it, a collision is a `conflict`, and a lock
 * that is broken outside a merge stays `corrupt`. With it, a lock that needs no merge is `invalid`, and so is a
 * revision without a lock: nothing would see to that promise.
 */
export function resolveLock(text: string, path: string, landed?: string): Resolved {
  const stages = mergeStages(path);
  const whole = stages?.isSide(text) ? undefined : read(text, path);
  if (whole !== undefined && !(whole instanceof IpamError)) {
    if (landed === undefined) return { snapshot: whole, losers: [], merged: false };
    throw new IpamError("invalid", `${path} has nothing to merge that ${landed} could decide`, {
      hint:
        stages === undefined
          ? wholeHint(path)
          : `If it was settled just now, as for another folder that shares it, plan on it as it is, without a revision. If it was merged by hand, begin again: git checkout -m -- ${shellWord(path)}`,
    });
  }
  const inForce = landed === undefined ? undefined : landedLock(path, landed, stages);
  if (stages !== undefined) {
    const { base, ours, theirs } = stages;
    const side = landed === undefined ? undefined : sideWith(path, landed);
    try {
      return { ...mergeRecords(base, ours, theirs, inForce, side), merged: true };
    } catch (error) {
      throw whole === undefined ? orSettled(error, path) : error;
    }
  }
  if (whole !== undefined && landed === undefined && !hasMarkers(text)) throw whole;
  return { ...salvage(text, path, inForce), merged: true };
}

/** A lock that is one side as it was may be what somebody has settled on. */
function orSettled(error: unknown, path: string): unknown {
  if (!(error instanceof IpamError) || error.code !== "conflict") return error;
  const message = `${path} is one side of the merge as it was, and git has it as a conflict`;
  return new IpamError(error.code, [
    ...error.issues,
    { message, hint: `If it is settled so: git add ${shellWord(path)}.` },
  ]);
}

/** Why a lock that git does not count among its conflicts needs nobody's decision. */
function wholeHint(path: string): string {
  if (incomingHeads(path).length === 0) return "No merge is in progress here: plan on it as it is, without a revision.";
  return "Git, or its merge driver, has merged it without a collision, or it has been settled: plan on it as it is, without a revision.";
}

function landedLock(path: string, landed: string, stages: Stages | undefined): Snapshot {
  const snapshot = lockAt(path, landed);
  if (snapshot !== undefined) return snapshot;
  const side = stages && sideAt(path, landed);
  if (side) return stages[side];
  throw new IpamError("invalid", `${landed} has no ${path} that could decide`, {
    hint: "Name the branch or commit whose addresses are in force.",
  });
}

/** The record, or why it is none. */
function read(text: string, path: string): Snapshot | IpamError {
  try {
    return decode(text, path);
  } catch (error) {
    if (error instanceof IpamError) return error;
    throw error;
  }
}
