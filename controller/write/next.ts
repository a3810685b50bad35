import { type Change, isEnd, isWrite } from "./change.ts";

/** What stands against a change of an object that the controller makes. */
export interface NextCircumstances {
  /** What asked for it cannot be acted upon, or it shows an address that may be in a part of the record that cannot be read. */
  readonly isRejected: boolean;
  /** It is not wanted, and stays all the same: for what asked for it, or for the owners that it lists. */
  readonly isHeldBySource: boolean;
  /** Its owner waits: it lacks its finalizer, say. */
  readonly isHeldByOwner: boolean;
  /** It was decided by a record that may be outdated by now (timing.ts). */
  readonly isOld: boolean;
  /** What it is to say is not in memory any more. */
  readonly isMissing: boolean;
  /** It is otherwise than wanted by its digest alone: a webhook may only have added to it. */
  readonly isOpen: boolean;
}

/**
 * What is done next about an object. The first row that holds counts.
 *
 *  the object, or its change                       | next
 *  ------------------------------------------------+----------------------------------------------
 *  rejected, or held by its source                 | nothing: it stays as it is
 *  is to go, and is held by its owner              | nothing
 *  is to be written or to go, by an old record     | its owner is decided anew
 *  is to say what is missing                       | the same
 *  open                                            | the server's is compared with what was applied
 *  any other                                       | the change
 */
export function nextOf(change: Change, about: NextCircumstances): "nothing" | "decide" | "compare" | "change" {
  if (about.isRejected || about.isHeldBySource) return "nothing";
  if (isEnd(change) && about.isHeldByOwner) return "nothing";
  if (about.isOld && (isWrite(change) || isEnd(change))) return "decide";
  if (about.isMissing) return "decide";
  return about.isOpen ? "compare" : "change";
}
