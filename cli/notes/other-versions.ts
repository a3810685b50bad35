import {
  type Allocation,
  emptySnapshot,
  formatAddress,
  holdingOf,
  IpamError,
  ownerName,
  type Plan,
  placeOf,
  type Snapshot,
  shellWord,
} from "../../core/index.ts";
import {
  incomingHeads,
  isOfCommit,
  isUndoable,
  mergeBase,
  mergedHeads,
  mergedVersions,
} from "../../state/git-merge.ts";
import { conflictVersions, lockAt } from "../../state/git-versions.ts";
import type { Loser } from "../../state/merge.ts";
import { allocateAgain } from "../argv.ts";
import { isLockfile, type StateOptions } from "../state.ts";
import { firstFew } from "../terminal.ts";
import { forgetting, placeOfNic, placeOfOwner } from "./forgotten.ts";

/**
 * Who gets another address than a version of the lock that git has and the present one forgets, or loses it to somebody
 * else: a node may have it.
 * `losers` are those of a merge that has just been made: they are named already.
 */
export function otherVersionNotes(
  made: Plan,
  present: Snapshot,
  options: StateOptions,
  losers?: readonly Loser[],
): string[] {
  if (made.assign.length === 0 || !isLockfile(options)) return [];
  const incoming = incomingHeads(options.lock);
  const isForgotten = forgetting(made, present, givenUp(options.lock, incoming));
  const named = new Set(losers?.map(({ line }) => holdingOf(line)));
  const lostNotes = lostTo(made.assign);
  const forgottenIn = (revision: string) =>
    linesAt(options.lock, revision).filter((line) => isForgotten(line) && !named.has(holdingOf(line)));
  const coming = incoming.flatMap((revision) => {
    const lost = forgottenIn(revision);
    for (const line of lost) named.add(holdingOf(line));
    return lostNotes(lost, revision);
  });
  // Where both sides have been merged, what they say of this address would come out the same again.
  const advice = (isHead: boolean) => (losers === undefined ? adviceFor(options.lock, incoming, isHead) : []);
  if (coming.length > 0) return [...coming, ...advice(false)];
  const forgotten = forgottenIn("HEAD");
  // What has this very lock, it was taken from: nobody renamed anything here.
  const isTaken = forgotten.length > 0 && isOfCommit(options.lock);
  const lost = isTaken
    ? forgotten
    : notRenamed(forgotten, [...present.allocations, ...present.releasing], options.lock, incoming);
  if (lost.length > 0) return [...lostNotes(lost, "HEAD"), ...advice(true)];
  return incoming.length === 0 ? mergedNotes(made, present, options.lock, lostNotes) : [];
}

/** Did one side of the merge in progress give up what both began with? Git is asked once somebody wants to know. */
function givenUp(lock: string, incoming: readonly string[]): (line: Allocation) => boolean {
  return oneSideOnly(() =>
    incoming.length === 0 ? conflictVersions(lock) : versionsAt(lock, mergedVersions(lock, incoming)),
  );
}

/** Has a line of what these began with, the first of them, gone from any of the others? */
function oneSideOnly(read: () => readonly Snapshot[]): (line: Allocation) => boolean {
  let versions: readonly ReadonlySet<string>[] | undefined;
  return (line) => {
    versions ??= read().map(({ allocations }) => new Set(allocations.map(placeOfOwner)));
    const [before, ...sides] = versions;
    const place = placeOfOwner(line);
    return before?.has(place) === true && !sides.every((side) => side.has(place));
  };
}

/**
 * HEAD may be a merge that took one side's lock whole, and so forgot what the other side gave away; or one that git made by
 * itself, and a node is back that one side gave up.
 */
function mergedNotes(made: Plan, present: Snapshot, lock: string, lostNotes: ReturnType<typeof lostTo>): string[] {
  const parents = mergedHeads(lock);
  const base = parents.length === 0 ? undefined : mergeBase(lock, parents);
  // Not for a shallow clone: what one side gave up in good order cannot be told there.
  if (base === undefined) return [];
  const isGivenUp = oneSideOnly(() => versionsAt(lock, [base, ...parents]));
  const isForgotten = forgetting(made, present, isGivenUp);
  const merged = linesAt(lock, "HEAD");
  // NICs that a template names are told apart by their claims alone.
  const keyOf = (line: Allocation) => (line.interface === undefined ? holdingOf(line) : placeOfNic(line));
  const told = new Set(merged.map(keyOf));
  const notes = parents.flatMap((revision) => {
    const lost = linesAt(lock, revision).filter((line) => isForgotten(line) && !told.has(keyOf(line)));
    for (const line of lost) told.add(keyOf(line));
    return lostNotes(notRenamed(lost, merged, lock, parents), revision);
  });
  if (notes.length === 0) return [];
  return [
    ...notes,
    `Note: if that is in force, this merge gave it up: make it again, and where git stops at ${shellWord(lock)}, settle that with ${allocateAgain("--landed REV")}`,
  ];
}

/**
 * The lines whose address has not just got another name. Where another line of the claim set has it now, that is a rename,
 * unless one of these revisions says so, too, or a side of the merge that git stopped at: a stash or a squash is no revision.
 */
function notRenamed(
  lines: readonly Allocation[],
  now: readonly Allocation[],
  lock: string,
  revisions: readonly string[],
): readonly Allocation[] {
  if (lines.length === 0) return lines;
  const [, ...sides] = conflictVersions(lock);
  const versions = [...revisions.flatMap((revision) => versionAt(lock, revision) ?? []), ...sides];
  const others = versions.flatMap(({ allocations, releasing }) => [...allocations, ...releasing]);
  const theirs = new Set(others.map(placeOfNic));
  const own = now.filter((line) => !theirs.has(placeOfNic(line)));
  const placeInSet = (line: Allocation) => `${line.set} ${placeOf(line)}`;
  const renamed = new Set(own.map(placeInSet));
  return lines.filter((line) => !renamed.has(placeInSet(line)));
}

/** Says what is lost of a revision, and to whom. */
function lostTo(assign: readonly Allocation[]): (lost: readonly Allocation[], revision: string) => string[] {
  const takers = new Map(assign.map((line) => [placeOf(line), ownerName(line.claim)]));
  return (lost, revision) =>
    firstFew(
      lost.map((line) => {
        const [owner, taker] = [ownerName(line.claim), takers.get(placeOf(line))];
        const whose = taker === undefined || taker === owner ? "" : `, which goes to ${taker}`;
        return `Note: ${owner} has ${formatAddress(line.address)} in ${revision}${whose}`;
      }),
    );
}

function adviceFor(lock: string, incoming: readonly string[], isHead: boolean): string[] {
  if (isUndoable(lock, incoming))
    return [
      `Note: if that is in force, git checkout -m -- ${shellWord(lock)} brings both sides back, and ${allocateAgain("--landed REV")} settles them`,
    ];
  // In a merge that did not stop at the lock, what HEAD has lacks the other side.
  if (!isHead || incoming.length > 0) return [];
  return [`Note: if that is in force, git checkout HEAD -- ${shellWord(lock)} brings the lock back`];
}

/** The live lines of a version of the lock. */
function linesAt(lock: string, revision: string): readonly Allocation[] {
  return versionAt(lock, revision)?.allocations ?? [];
}

function versionsAt(lock: string, revisions: readonly string[]): Snapshot[] {
  return revisions.map((revision) => versionAt(lock, revision) ?? emptySnapshot);
}

/** A version of the lock; undefined where git, or that version, cannot say. */
function versionAt(lock: string, revision: string): Snapshot | undefined {
  try {
    return lockAt(lock, revision);
  } catch (error) {
    if (error instanceof IpamError) return undefined;
    throw error;
  }
}
