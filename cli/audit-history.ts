import { type Finding, identityOf, nameOfKey, nodeOwner, ownerOfKey, placeOf, type Snapshot } from "../core/index.ts";
import type { ClusterNode } from "../schema/index.ts";
import { gitProblem } from "../state/git.ts";
import { lacksChanges } from "../state/git-merge.ts";
import { type LockStep, stepsOf } from "../state/lock-history.ts";
import { droppedLines, stillDropped } from "./dropped-lines.ts";
import { describeGivenAway, type GivenAway, givenAway, isCommitted } from "./given-away.ts";
import { claimedByCommit, type Inputs } from "./history/claims-at.ts";
import { type Accepted, isReleased, releasedHint } from "./history/released.ts";
import { isLockfile, type StateOptions } from "./state.ts";

/** A finding of the verb `audit`: of the record as it is, or of its history in git. One of the whole history has no address. */
export type AuditFinding = Omit<Finding, "kind" | "address"> & {
  readonly kind: Finding["kind"] | "given-away" | "unseen-history";
  readonly address?: Finding["address"];
};

interface HistoryOptions extends StateOptions, Inputs, Accepted {}

/**
 * The addresses that a merge or an edit of the lock gave away, those of `nodes` that a commit did, and whether there may be
 * others that this clone cannot show. None where the record is in a cluster, or git has no lock.
 */
export function auditHistory(
  snapshot: Snapshot,
  options: HistoryOptions,
  nodes: readonly ClusterNode[],
): AuditFinding[] {
  if (!isLockfile(options)) return [];
  const why = whyCut(options.lock);
  const at = { file: options.lock, line: 1, column: 1 };
  const unseen = why === undefined ? [] : [{ kind: "unseen-history", message: `${notSeen}: ${why}`, at } as const];
  return [...unseen, ...givenAwayIn(snapshot, options, nodes)];
}

const notSeen = "audit cannot see whether a merge or an edit of the lock gave an address away";

function givenAwayIn(snapshot: Snapshot, options: HistoryOptions, nodes: readonly ClusterNode[]): AuditFinding[] {
  const { lock } = options;
  const steps = stepsOf(lock);
  const dropped = nodes.length === 0 ? [] : droppedFrom(snapshot, steps, options, nodes);
  const all = [...givenAway(snapshot, steps), ...dropped];
  const each = new Map(all.map((one) => [`${placeOf(one.line)} ${one.line.claim}`, one]));
  const open = [...each.values()].filter(({ line }) => !isReleased(line, options));
  return open.map((one) => {
    const { line, holder } = one;
    const message = `${describeGivenAway(one, lock)}. ${releasedHint([line])}`;
    return { kind: "given-away", address: line.address, message, ...(holder && { line: holder }) };
  });
}

/**
 * The dropped lines of owners that are there and have no address for that claim, where another owner got the address for a
 * claim of the same name. A claim of another name may have it because the policy of this one is gone.
 */
function droppedFrom(
  { allocations, releasing }: Snapshot,
  steps: readonly LockStep[],
  options: HistoryOptions,
  nodes: readonly ClusterNode[],
): GivenAway[] {
  const owners = new Set(nodes.map(({ name }) => nodeOwner(name)));
  const commits = steps.filter((step) => step.kind === "commit");
  const claims = new Set([...allocations, ...releasing].map(identityOf));
  const holders = new Map(allocations.map((line) => [`${placeOf(line)} ${nameOfKey(line.claim)}`, line]));
  const still = stillDropped(droppedLines(commits, claimedByCommit(options)), commits);
  return [...still].flatMap(([step, lines]) =>
    lines.flatMap((line): GivenAway[] => {
      const holder = holders.get(`${placeOf(line)} ${nameOfKey(line.claim)}`);
      const isOpen = owners.has(ownerOfKey(line.claim)) && !claims.has(identityOf(line));
      return isOpen && holder !== undefined ? [{ line, step, holder }] : [];
    }),
  );
}

/** The notes of a plan: what commits gave away, whose owners have other addresses since, and whether all can be seen. */
export function historyNotes(snapshot: Snapshot, history: readonly LockStep[], options: HistoryOptions): string[] {
  if (!isLockfile(options)) return [];
  const why = whyCut(options.lock);
  const given = givenAway(snapshot, history).filter((one) => isCommitted(one) && !isReleased(one.line, options));
  return [
    ...(why === undefined
      ? []
      : [`Note: addresses that a merge or an edit of ${options.lock} gave away may not be seen: ${why}`]),
    ...given.map((one) => `Note: ${describeGivenAway(one, options.lock)}. ${releasedHint([one.line])}`),
  ];
}

/** Why the history of the lock cannot be seen as a whole, and what helps; undefined if it can, or git has no lock. */
function whyCut(lock: string): string | undefined {
  const problem = gitProblem(lock);
  if (problem !== undefined) return `git does not open this repository: ${problem.split("\n")[0]}`;
  if (!lacksChanges(lock)) return undefined;
  return "this clone is shallow: fetch the whole history (fetch-depth: 0 in GitHub's checkout action, or git fetch --unshallow)";
}
