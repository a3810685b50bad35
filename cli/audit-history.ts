import type { Finding, Snapshot } from "../core/index.ts";
import { isHistoryCut, versionsOf } from "../state/lock-history.ts";
import { describeGivenAway, givenAway } from "./given-away.ts";
import { isLockfile, type StateOptions } from "./state.ts";

/** A finding of the verb `audit`: of the record as it is, or of its history in git. */
export type AuditFinding = Omit<Finding, "kind"> & { readonly kind: Finding["kind"] | "given-away" };

/** The addresses that a merge or an edit of the lock gave away. None where the record is in a cluster, or git has no lock. */
export function auditHistory(snapshot: Snapshot, options: StateOptions): AuditFinding[] {
  if (!isLockfile(options)) return [];
  return givenAway(snapshot, versionsOf(options.lock)).map((one) => {
    const { line, holder } = one;
    const message = describeGivenAway(one, options.lock);
    return { kind: "given-away", address: line.address, message, ...(holder && { line: holder }) };
  });
}

/** Says what `auditHistory` cannot see in a shallow clone. */
export function historyNote(options: StateOptions): string[] {
  if (!isLockfile(options) || !isHistoryCut(options.lock)) return [];
  return [
    `Note: this clone is shallow, so audit may not see addresses that a merge or an edit of ${options.lock} gave away. Fetch the whole history (fetch-depth: 0 in GitHub's checkout action).`,
  ];
}
