import type { Bag } from "../../schema/objects.ts";

/** The state of a claim. */
export interface ClaimState {
  /** Why its pool cannot be used. */
  readonly rejected?: string | undefined;
  /** Why it gets no address. */
  readonly pending?: { readonly code: string; readonly message: string } | undefined;
  /** The message about the IPAddress that it keeps while it waits. */
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
 * Returns the condition Ready of an IPAddressClaim, with the reasons of Cluster API's contract.
 *
 *  the claim                  | Ready | reason           | message
 *  ---------------------------+-------+------------------+--------------------
 *  names no pool that is there| False | PoolNotReady     | why
 *  gets nothing, pool is full | False | PoolExhausted    | why
 *  gets nothing otherwise     | False | AllocationFailed | why
 *  the same, and keeps an     | False | the same         | why, and what it keeps, unless why already
 *   IPAddress of its name     |       |                  |  names the owner, the address and the next step
 *  another program made an    | False | AllocationFailed | why it is not adopted
 *   IPAddress of its name     |       |                  |
 *  has its IPAddress          | True  | Ready            | where it is
 *  the same, and it differs   | True  | Ready            | in what
 *   from its pool             |       |                  |
 *  the same, and it is being  | True  | Ready            | that it stays
 *   deleted                    |       |                  |
 *  otherwise                  | none yet
 */
export function claimConditions(state: ClaimState): Bag[] {
  const { rejected, pending, kept, refused, differs, hasAddress, isEnding } = state;
  if (rejected !== undefined) return [notReady("PoolNotReady", rejected)];
  if (pending !== undefined) {
    const { code, message } = pending;
    const reason = code === "exhausted" ? "PoolExhausted" : "AllocationFailed";
    const suffices = kept === undefined || code === "in-use";
    return [notReady(reason, suffices ? message : `${message}. ${kept}`)];
  }
  if (refused !== undefined) return [notReady("AllocationFailed", refused)];
  if (!hasAddress) return [];
  const message = isEnding ? keptUntilGone : (differs ?? "Its IPAddress has its name");
  return [{ type: "Ready", status: "True", reason: "Ready", message }];
}

const keptUntilGone =
  "Its IPAddress is being deleted by another program, and stays until the claim is deleted: a machine may use it";

function notReady(reason: string, message: string): Bag {
  return { type: "Ready", status: "False", reason, message };
}
