import { basename } from "node:path";
import {
  type Allocation,
  formatBlock,
  IpamError,
  type Issue,
  identityOf,
  ownerName,
  ownerOfKey,
  type Plan,
  placeOf,
  type Snapshot,
  shellWord,
} from "../core/index.ts";
import type { Proposal } from "../pipeline/proposal.ts";
import { applyPlan } from "../state/apply.ts";
import { incomingHeads, isUnmerged } from "../state/git-merge.ts";
import { type LockStep, stepsOf } from "../state/lock-history.ts";
import { type Dropped, droppedLines, stillDropped } from "./dropped-lines.ts";
import { describeGivenAway, type GivenAway, givenAway, isCommitted, mendGivenAway } from "./given-away.ts";
import { claimedByCommit, type Inputs, keysOf } from "./history/claims-at.ts";
import { type Accepted, isReleased, releasedHint } from "./history/released.ts";
import { isLockfile, type StateOptions } from "./state.ts";

interface LostOptions extends StateOptions, Inputs, Accepted {}

/** A live line of another version of the lock, and the new line that the plan gives its owner in place of it. */
interface Lost {
  readonly line: Allocation;
  readonly fresh: Allocation;
}

/**
 * The live lines of another version of the record that the present one has lost, and whose owners a plan would move. A line
 * that one of `others` knows counts as one that the present one knows.
 *
 *  the plan gives a new address to    | the present record has    | lost
 *  -----------------------------------+---------------------------+-----
 *  neither the line's claim nor NIC   |                           | no
 *  its claim, or its owner's same NIC | the line's claim          | no: it is known to have moved
 *                                     | the NIC at the address    | no: under another name, or releasing
 *                                     | neither                   | yes, unless the plan gives it that very address
 */
export function lostLines(
  { assign }: Plan,
  present: Snapshot,
  version: Snapshot,
  others: readonly Snapshot[] = [],
): Lost[] {
  const fresh = Map.groupBy(
    assign.flatMap((line) => keysOf(line).map((key) => ({ key, line }))),
    ({ key }) => key,
  );
  const holder = (line: Allocation) => `${line.address} ${keysOf(line).at(-1)}`;
  const live = [present, ...others].flatMap(({ allocations }) => allocations);
  const releasing = [present, ...others].flatMap((record) => record.releasing);
  const holders = new Set([...live, ...releasing].map(holder));
  const claims = new Set(live.map(identityOf));
  return version.allocations.flatMap((line) => {
    const given = keysOf(line).flatMap((key) => fresh.get(key) ?? []);
    if (given[0] === undefined || given.some((one) => one.line.address === line.address)) return [];
    return claims.has(identityOf(line)) || holders.has(holder(line)) ? [] : { line, fresh: given[0].line };
  });
}

/**
 * `stale` for a plan that moves an owner because the lock was taken from one side of a merge, or from an older commit:
 * HEAD, a side of the merge in progress or a parent of the merge that HEAD is has another address for it, or one of the last
 * merges or commits has dropped that. Where both sides have been merged, just now (`isMerged`) or before `git add`, an owner
 * whose address somebody has who stays is to get another one; so is one whose address is put back to whom a commit took it
 * from. `stale`, too, for an address that the lock or the plan gives away. Undefined where nothing is lost.
 */
export function keepsLines(
  steps: readonly LockStep[],
  isMerged: boolean,
  options: LostOptions,
): (proposal: Proposed) => IpamError | undefined {
  return (proposal) => (isLockfile(options) ? refusalOfLost(proposal, steps, isMerged, options) : undefined);
}

/** Returns the steps of the lock in git; none of a record in a cluster. */
export function historyOf(options: StateOptions): LockStep[] {
  return isLockfile(options) ? stepsOf(options.lock) : [];
}

/** What is recorded, and on top of which record. */
type Proposed = Pick<Proposal, "plan" | "before">;

function refusalOfLost(
  { plan: proposed, before: present }: Proposed,
  steps: readonly LockStep[],
  isMerged: boolean,
  options: LostOptions,
): IpamError | undefined {
  const { lock } = options;
  const isMerging = incomingHeads(lock).length > 0;
  const isSettling = isMerged || isUnmerged(lock);
  const isAsked = !isSettling && !isMerging && proposed.assign.length > 0;
  const commits = isAsked ? steps.filter((step) => step.kind === "commit") : [];
  const dropped = droppedLines(commits, claimedByCommit(options));
  const settled = new Set(isSettling ? stayingPlaces(proposed, present) : putBackPlaces(present, dropped));
  const isOpen = ({ line }: Lost) => !settled.has(placeOf(line)) && !isReleased(line, options);
  for (const step of steps) {
    const others = othersOf(step);
    if (others === undefined) continue;
    const lost = lostLines(proposed, present, step.before, others).filter(isOpen);
    if (lost.length > 0) return new IpamError("stale", issuesOf(lost, step.revision, lock, isMerging, present));
  }
  for (const [{ commit }, allocations] of stillDropped(dropped, commits)) {
    const lost = lostLines(proposed, present, { ...present, allocations }).filter(isOpen);
    if (lost.length > 0) return new IpamError("stale", issuesOfDropped(lost, commit, lock, present));
  }
  const all = isSettling ? [] : givenAway(applyPlan(present, proposed) ?? present, steps);
  const given = all.filter((one) => !isCommitted(one) && !isReleased(one.line, options));
  return given.length === 0 ? undefined : new IpamError("stale", issuesOfGiven(given, lock));
}

/** The places whose owners stay. */
function stayingPlaces({ release }: Plan, present: Snapshot): string[] {
  const gone = new Set(release.map(({ allocation }) => ownerOfKey(allocation.claim)));
  const all = [...present.allocations, ...present.releasing];
  return all.filter(({ claim }) => !gone.has(ownerOfKey(claim))).map(placeOf);
}

/** The places of the lines that a commit has dropped, and that are there again. */
function putBackPlaces({ allocations }: Snapshot, dropped: readonly Dropped[]): string[] {
  const taken = new Set(dropped.map(({ line }) => `${placeOf(line)} ${line.claim}`));
  return allocations.filter((line) => taken.has(`${placeOf(line)} ${line.claim}`)).map(placeOf);
}

/**
 * What else may know what became of the lines of a version: of a merge before HEAD only what it dropped itself counts, as a
 * line that its base has was taken away by one side. Undefined where the lines of a version are not asked for: what a commit
 * took away, it released.
 */
function othersOf(step: LockStep): readonly Snapshot[] | undefined {
  if (step.kind === "commit") return undefined;
  return step.kind === "merge" ? [step.after, step.base] : [];
}

const maxNamed = 5;

function issuesOf(
  lost: readonly Lost[],
  revision: string,
  lock: string,
  isMerging: boolean,
  present: Snapshot,
): Issue[] {
  const taken = takenNote(lost, present);
  const back = isMerging
    ? `Bring both sides back, and settle them: git checkout -m -- ${shellWord(lock)} && nodeippool allocate --landed REV`
    : revision === "HEAD"
      ? `${taken}Take the lock of HEAD back: git checkout HEAD -- ${shellWord(lock)}`
      : revision.startsWith("HEAD")
        ? "Make that merge again, and settle the lock in it: nodeippool allocate --landed REV"
        : `${taken}${putBack(revision, lock)}`;
  return lostIssues(lost, revision, `${lock} has lost its line`, back);
}

function issuesOfDropped(lost: readonly Lost[], commit: string, lock: string, present: Snapshot): Issue[] {
  const why = `commit ${commit} removed its line from ${lock}`;
  return lostIssues(lost, `${commit}^`, why, `${takenNote(lost, present)}${putBack(`${commit}^`, lock)}`);
}

function putBack(revision: string, lock: string): string {
  return `Put the line back, and run nodeippool allocate: git show ${shellWord(`${revision}:./${basename(lock)}`)}`;
}

/** The owner that has the address now may use it: replace its line only after a look. */
function takenNote(lost: readonly Lost[], { allocations }: Snapshot): string {
  const owners = new Map(allocations.map((line) => [placeOf(line), ownerName(line.claim)]));
  const line = lost.map((one) => one.line).find((one) => owners.has(placeOf(one)));
  if (line === undefined) return "";
  const [owner, holder, address] = [ownerName(line.claim), owners.get(placeOf(line)), formatBlock(line)];
  return `${holder} has ${address} now: ${owner} may have released it. If ${owner} still uses it, take it off ${holder} first. `;
}

function lostIssues(lost: readonly Lost[], revision: string, why: string, back: string): Issue[] {
  const shown = lost.slice(0, maxNamed);
  const issues = shown.map(({ line, fresh }): Issue => {
    const [old, now] = [line, fresh].map(formatBlock);
    return { message: `${ownerName(line.claim)} has ${old} in ${revision}, and would get ${now}: ${why}` };
  });
  return hinted(issues, lost.length, `${back}. ${releasedHint(shown.map(({ line }) => line))}`);
}

function issuesOfGiven(given: readonly GivenAway[], lock: string): Issue[] {
  const shown = given.slice(0, maxNamed);
  const issues = shown.map((one): Issue => ({ message: describeGivenAway(one, lock) }));
  const mend = mendGivenAway(given[0] as GivenAway, lock);
  return hinted(issues, given.length, `${mend} ${releasedHint(shown.map(({ line }) => line))}`);
}

function hinted(issues: readonly Issue[], count: number, hint: string): Issue[] {
  const more = count > maxNamed ? `${count - maxNamed} more lines are lost. ` : "";
  return [...issues.slice(0, -1), { ...(issues.at(-1) as Issue), hint: `${more}${hint}` }];
}
