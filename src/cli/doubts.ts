import { type IpamError, type Plan, type Snapshot, shellWord } from "../core/index.ts";
import { incomingHeads, isUndoable } from "../state/git-merge.ts";
import type { Merge } from "./merged-record.ts";
import { otherVersionNotes } from "./other-versions.ts";
import { renameInMerge, renameNote } from "./rename-note.ts";
import { cameOverNotes } from "./set-note.ts";
import { isLockfile, type StateOptions } from "./state.ts";
import { swapQuestions } from "./swap-note.ts";

/** What may be a rename, in the middle of a merge. */
export function renamedIn(made: Plan, before: Snapshot, merge: Merge, lock: string): IpamError | undefined {
  return merge.merged || merge.isOpen ? renameInMerge(made, before, merge.losers, lock) : undefined;
}

/** What may be a mistake, though it is recorded; to be asked before that. */
export function doubtsOf(made: Plan, before: Snapshot, { merged, losers }: Merge, options: StateOptions): string[] {
  if (!isLockfile(options)) return [];
  if (merged) return otherVersionNotes(made, before, options, losers);
  const lock = shellWord(options.lock);
  const back = () =>
    isUndoable(options.lock, incomingHeads(options.lock))
      ? `bring both sides back (git checkout -m -- ${lock}), merge them again, and say so then`
      : `take the lock back (git checkout -- ${lock}; any mv since then is to be made again) and say so before you allocate again`;
  return [
    ...otherVersionNotes(made, before, options),
    ...renameNote(made, before, back),
    ...swapQuestions(made, back),
    ...cameOverNotes(made, before, back),
  ];
}
