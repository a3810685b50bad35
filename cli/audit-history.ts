import type { Finding, Snapshot } from "../core/index.ts";
import { gitProblem } from "../state/git.ts";
import { lacksChanges } from "../state/git-merge.ts";
import { versionsOf } from "../state/lock-history.ts";
import { describeGivenAway, givenAway } from "./given-away.ts";
import { isLockfile, type StateOptions } from "./state.ts";

/** A finding of the verb `audit`: of the record as it is, or of its history in git. One of the whole history has no address. */
export type AuditFinding = Omit<Finding, "kind" | "address"> & {
  readonly kind: Finding["kind"] | "given-away" | "unseen-history";
  readonly address?: Finding["address"];
};

/**
 * The addresses that a merge or an edit of the lock gave away, and whether there may be others that this clone cannot show. None
 * where the record is in a cluster, or git has no lock.
 */
export function auditHistory(snapshot: Snapshot, options: StateOptions): AuditFinding[] {
  if (!isLockfile(options)) return [];
  const why = whyCut(options.lock);
  const at = { file: options.lock, line: 1, column: 1 };
  const unseen = why === undefined ? [] : [{ kind: "unseen-history", message: `${notSeen}: ${why}`, at } as const];
  return [...unseen, ...givenAwayIn(snapshot, options)];
}

const notSeen = "audit cannot see whether a merge or an edit of the lock gave an address away";

function givenAwayIn(snapshot: Snapshot, options: StateOptions): AuditFinding[] {
  return givenAway(snapshot, versionsOf(options.lock)).map((one) => {
    const { line, holder } = one;
    const message = describeGivenAway(one, options.lock);
    return { kind: "given-away", address: line.address, message, ...(holder && { line: holder }) };
  });
}

/** The note of a plan: it sees the same history, and goes on. */
export function historyNote(options: StateOptions): string[] {
  const why = isLockfile(options) ? whyCut(options.lock) : undefined;
  return why === undefined
    ? []
    : [`Note: addresses that a merge or an edit of ${options.lock} gave away may not be seen: ${why}`];
}

/** Why the history of the lock cannot be seen as a whole, and what helps; undefined if it can, or git has no lock. */
function whyCut(lock: string): string | undefined {
  const problem = gitProblem(lock);
  if (problem !== undefined) return `git does not open this repository: ${problem.split("\n")[0]}`;
  if (!lacksChanges(lock)) return undefined;
  return "this clone is shallow: fetch the whole history (fetch-depth: 0 in GitHub's checkout action, or git fetch --unshallow)";
}
