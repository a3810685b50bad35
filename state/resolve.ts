import { IpamError, type Snapshot, shellWord } from "../core/index.ts";
import { decode } from "./codec.ts";
import { incomingHeads, sideAt, sideWith } from "./git-merge.ts";
import { lockAt, mergeStages, type Stages } from "./git-versions.ts";
import { hasMarkers } from "./lockfile.ts";
import { type Merged, mergeRecords } from "./merge.ts";
import { salvage } from "./salvage.ts";

export interface Resolved extends Merged {
  /** Whether there was anything to resolve. */
  readonly merged: boolean;
}

/**
 * Reads a lock that may be in the middle of a git merge or rebase, or broken by one. `landed` is the revision whose lines
 * keep their addresses.
 *
 *  text                     | git has its versions | landed | record
 *  -------------------------+----------------------+--------+-------------------------------------------------------
 *  whole                    | any                  | no     | as it is
 *  whole                    | any                  | yes    | `invalid`: nothing would see to that promise
 *  broken, or one side's    | yes                  | any    | merged from the versions; what collides is `conflict`
 *  broken, without markers  | no                   | no     | `corrupt`
 *  broken                   | no                   | else   | merged from the lines
 */
export function resolveLock(text: string, path: string, landed?: string): Resolved {
  const stages = mergeStages(path);
  const isSide = stages?.isSide(text) === true;
  const whole = isSide ? undefined : read(text, path);
  if (whole !== undefined && !(whole instanceof IpamError)) {
    if (landed !== undefined) throw nothingToMerge(path, landed, stages !== undefined);
    return { snapshot: whole, losers: [], merged: false };
  }
  const inForce = landed === undefined ? undefined : landedLock(path, landed, stages);
  if (stages !== undefined)
    try {
      const side = landed === undefined ? undefined : sideWith(path, landed);
      return { ...mergeRecords(stages.base, stages.ours, stages.theirs, inForce, side), merged: true };
    } catch (error) {
      throw isSide ? orSettled(error, path) : error;
    }
  if (whole !== undefined && landed === undefined && !hasMarkers(text)) throw whole;
  return { ...salvage(text, path, inForce), merged: true };
}

function nothingToMerge(path: string, landed: string, isConflict: boolean): IpamError {
  const asItIs = "plan on it as it is, without a revision.";
  const hint = isConflict
    ? `If it was settled just now, as for another folder that shares it, ${asItIs} If it was merged by hand, begin again: git checkout -m -- ${shellWord(path)}`
    : incomingHeads(path).length === 0
      ? `No merge is in progress here: ${asItIs}`
      : `Git, or its merge driver, has merged it without a collision, or it has been settled: ${asItIs}`;
  return new IpamError("invalid", `${path} has nothing to merge that ${landed} could decide`, { hint });
}

/** A lock that is one side as it was may be what somebody has settled on. */
function orSettled(error: unknown, path: string): unknown {
  if (!(error instanceof IpamError) || error.code !== "conflict") return error;
  const message = `${path} is one side of the merge as it was, and git has it as a conflict`;
  const hint = `Only if nothing uses the other side's new addresses, it may stay so: git add ${shellWord(path)}.`;
  return new IpamError(error.code, [...error.issues, { message, hint }]);
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
