import { IpamError, type Snapshot } from "../core/index.ts";
import { decode } from "./codec.ts";
import { lockAt, mergeStages } from "./git.ts";
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
 * that is broken outside a merge stays `corrupt`.
 */
export function resolveLock(text: string, path: string, landed?: string): Resolved {
  const hasMarkers = /^<{7} /m.test(text);
  if (!hasMarkers) {
    try {
      return { snapshot: decode(text, path), losers: [], merged: false };
    } catch (error) {
      if (!(error instanceof IpamError) || (landed === undefined && mergeStages(path) === undefined)) throw error;
    }
  }
  const inForce = landed === undefined ? undefined : lockAt(path, landed);
  const stages = mergeStages(path);
  const merged = stages === undefined ? salvage(text, path, inForce) : mergeRecords(...stages, inForce);
  return { ...merged, merged: true };
}
