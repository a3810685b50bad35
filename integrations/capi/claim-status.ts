import type { Bag } from "../../schema/objects.ts";

/** The state of a claim. */
export interface ClaimState {
  /** Why its pool cannot be used. */
  readonly rejected?: string | undefined;
  /** Why it gets no address, or its pool gives that no more. */
  readonly pending?: { readonly code: string; readonly message: string } | undefined;
  /** The message about the IPAddress that it keeps while it waits, which is not on record. */
  readonly kept?: string | undefined;
  /** Why the IPAddress of its name is not its own. */
  readonly refused?: string | undefined;
  /** In what its IPAddress differs from its pool. */
  readonly differs?: string | undefined;
  /** An IPAddress exists for it. */
  readonly hasAddress: boolean;
  /** Another program has deleted its IPAddress, which our finalizer keeps. */
  readonly isEnding: boolean;
}

/**
 * Returns the condition Ready of an IPAddressClaim, with the reasons of Cluster API's contract. A claim that was served stays Ready:
 * its address is its own, whatever becomes of the pool. The in-cluster provider leaves such a claim as it is, too.
 *
 *  the claim                  | Ready | reason           | message
 *  ---------------------------+-------+------------------+--------------------
 *  has its IPAddress, which is| True  | Ready            | where it is
 *   on record                 |       |                  |
 *  the same, and it differs   | True  | Ready            | in what
 *   from its pool             |       |                  |
 *  the same, and its pool is  | True  | Ready            | that it stays, and why its pool would not give it
 *   gone, cannot be used, or  |       |                  |
 *   gives it no more          |       |                  |
 *  the same, and it is being  | True  | Ready            | that it stays
 *   deleted                    |       |                  |
 *  names no pool that is there| False | PoolNotReady     | why
 *   and can be used           |       |                  |
 *  gets nothing, pool is full | False | PoolExhausted    | why
 *  gets nothing otherwise     | False | AllocationFailed | why
 *  the same, and keeps an     | False | the same         | why, and what it keeps, unless why already
 *   IPAddress of its name that|       |                  |  names the owner, the address and the next step
 *   is not on record          |       |                  |
 *  another program made an    | False | AllocationFailed | why it is not adopted
 *   IPAddress of its name     |       |                  |
 *  otherwise                  | none yet
 */
export function claimConditions(state: ClaimState): Bag[] {
  const { rejected, pending, kept, differs, hasAddress, isEnding } = state;
  const wrong = hasAddress && kept === undefined ? undefined : whyNotReady(state);
  if (wrong !== undefined) return [wrong];
  if (!hasAddress) return [];
  const why = rejected ?? pending?.message;
  const stays = why === undefined ? differs : `Its IPAddress stays as it is: ${why}`;
  const message = isEnding ? keptUntilGone : (stays ?? "Its IPAddress has its name");
  return [{ type: "Ready", status: "True", reason: "Ready", message }];
}

/** Returns the condition of a claim that has no IPAddress, or one that is not on record; undefined where nothing is wrong. */
function whyNotReady({ rejected, pending, kept, refused }: ClaimState): Bag | undefined {
  if (rejected !== undefined) return notReady("PoolNotReady", rejected);
  if (pending !== undefined) {
    const { code, message } = pending;
    const reason = code === "exhausted" ? "PoolExhausted" : "AllocationFailed";
    const suffices = kept === undefined || code === "in-use";
    return notReady(reason, suffices ? message : `${message}. ${kept}`);
  }
  return refused === undefined ? undefined : notReady("AllocationFailed", refused);
}

const keptUntilGone =
  "Its IPAddress is being deleted by another program, and stays until the claim is deleted: a machine may use it";

function notReady(reason: string, message: string): Bag {
  return { type: "Ready", status: "False", reason, message };
}
