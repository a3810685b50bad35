import { type Allocation, holdingOf, type IpamError, type Plan, type Snapshot, shellWord } from "../../core/index.ts";
import { incomingHeads, isUndoable } from "../../state/git-merge.ts";
import { lockInIndex } from "../../state/git-versions.ts";
import type { Loser } from "../../state/merge.ts";
import { recordOptions } from "../argv.ts";
import type { Merge } from "../merged-record.ts";
import { isLockfile, type StateOptions } from "../state.ts";
import { otherVersionNotes } from "./other-versions.ts";
import { renameInMerge, renameNote } from "./rename-note.ts";
import { cameOverNotes } from "./set-note.ts";
import { swapQuestions } from "./swap-note.ts";

/** What may be a rename, in the middle of a merge. */
export function renamedIn(made: Plan, before: Snapshot, merge: Merge, lock: string): IpamError | undefined {
  return merge.merged || merge.isOpen ? renameInMerge(made, before, merge.losers, lock) : undefined;
}

/**
 * What may be a mistake, though it is recorded; to be asked before that. `present` is the record before all that is
 * recorded now.
 */
export function doubtsOf(
  made: Plan,
  before: Snapshot,
  { merged, losers }: Merge,
  options: StateOptions,
  present = before,
): string[] {
  if (!isLockfile(options)) return [];
  let back: string | undefined;
  // Git is asked only where there is a question, and once.
  const say = () => {
    back ??= wayBack(options.lock, present, made.set);
    return back;
  };
  return [
    ...otherVersionNotes(made, before, options, merged ? losers : undefined),
    ...questionsOn(made, before, say, losers),
  ];
}

/** How to say what should have been said before. What git has may be older than what was there, and then lacks addresses, even of others. */
function wayBack(path: string, present: Snapshot, set: string): string {
  const lock = shellWord(path);
  if (isUndoable(path, incomingHeads(path)))
    return `bring both sides back (git checkout -m -- ${lock}; any mv since then is to be made again), settle them alone (nodeippool allocate${recordOptions()} --landed REV -- true), and say so then`;
  const kept = new Set(linesOf(lockInIndex(path)).map(holdingOf));
  if (linesOf(present).every((line) => kept.has(holdingOf(line))))
    return `take the lock back (git checkout -- ${lock}; any mv since then is to be made again) and say so before you allocate again`;
  const [before, after] = linesOf(present).some((line) => line.set === set)
    ? ["manifests and nodes as they were before", ""]
    : [
        "a policy for no node in place of these (nodeSelector: {kubernetes.io/hostname: none})",
        "release what that gives up, ",
      ];
  return `allocate once more with ${before}, --allow-move where that is refused, ${after}and say so then`;
}

function linesOf(record: Snapshot | undefined): readonly Allocation[] {
  return record === undefined ? [] : [...record.allocations, ...record.releasing];
}

/** Is it what was meant? `say` tells how to say that it was not. */
export function questionsOn(made: Plan, before: Snapshot, say: () => string, losers: readonly Loser[] = []): string[] {
  return [...renameNote(made, before, say, losers), ...swapQuestions(made, say), ...cameOverNotes(made, before, say)];
}
