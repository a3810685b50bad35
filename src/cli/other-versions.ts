import {
  type Allocation,
  formatAddress,
  IpamError,
  identityOf,
  ownerName,
  type Plan,
  placeOf,
  type Snapshot,
} from "../core/index.ts";
import { incomingHeads, lockAt } from "../state/git.ts";
import { isInCluster, type StateOptions } from "./state.ts";

const most = 5;

/** Who gets another address than a version of the lock that git has and the present one forgets: a node may have it. */
export function otherVersionNotes(made: Plan, present: Snapshot, options: StateOptions): string[] {
  if (made.assign.length === 0 || isInCluster(options)) return [];
  const lines = [...present.allocations, ...present.releasing];
  const [known, held] = [lineKey, placeOf].map((keyOf) => new Set(lines.map(keyOf))) as [Set<string>, Set<string>];
  const fresh = new Map(made.assign.map((line) => [claimOf(line), line]));
  for (const revision of [...incomingHeads(options.lock), "HEAD"]) {
    const lost = linesAt(options.lock, revision).filter((line) => {
      const now = fresh.get(claimOf(line));
      const isRenamed = revision === "HEAD" && held.has(placeOf(line));
      return now !== undefined && now.address !== line.address && !known.has(lineKey(line)) && !isRenamed;
    });
    if (lost.length > 0) return lostNotes(lost, revision, options.lock);
  }
  return [];
}

function lostNotes(lost: readonly Allocation[], revision: string, lock: string): string[] {
  const more = lost.length > most ? [`Note: and ${lost.length - most} more`] : [];
  const help =
    revision === "HEAD"
      ? `git checkout HEAD -- ${lock} brings the lock back`
      : `git checkout -m -- ${lock} brings both sides back, and nodeippool allocate --landed REV settles them`;
  return [
    ...lost
      .slice(0, most)
      .map(({ claim, address }) => `Note: ${ownerName(claim)} has ${formatAddress(address)} in ${revision}`),
    ...more,
    `Note: if that is in force, ${help}`,
  ];
}

/** The live lines of a version of the lock; none where git, or that version, cannot say. */
function linesAt(lock: string, revision: string): readonly Allocation[] {
  try {
    return lockAt(lock, revision)?.allocations ?? [];
  } catch (error) {
    if (error instanceof IpamError) return [];
    throw error;
  }
}

function claimOf(line: Allocation): string {
  return `${line.set} ${identityOf(line)}`;
}

function lineKey(line: Allocation): string {
  return `${line.address} ${claimOf(line)}`;
}
