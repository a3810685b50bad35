import {
  type Allocation,
  formatBlock,
  type Issue,
  identityOf,
  nameOfKey,
  ownerName,
  ownerOfKey,
  placeOf,
  type Snapshot,
  shellWord,
} from "../core/index.ts";
import type { LockStep } from "../state/lock-history.ts";

/** A line of an earlier version of the lock whose address was taken from its owner, without being released. */
export interface GivenAway {
  readonly line: Allocation;
  readonly step: LockStep;
  /** What the claim has now in place of it. */
  readonly now?: Allocation;
  /** The line that has the address now. */
  readonly holder?: Allocation;
}

/**
 * The addresses that the history of the lock allocated, and that another owner has now although nobody released them. The
 * step is what followed the earlier version: a merge, another commit, or the lock as it is now. Who wrote the file does not
 * matter. Of commits that are no merges the last three count. Whoever has the address at the end of the step, or the claim, may be of another owner; nothing is given away where
 * the address is its owner's again, or the claim's.
 *
 *  the step was         | the step left the claim with    | it gave the address to      | given away
 *  ---------------------+---------------------------------+-----------------------------+-----------
 *  an edit or a commit  | no address: gone, or renamed    | anybody                     | no
 *                       | another address                 | nobody                      | no
 *                       | another address                 | whom an older version has   | no: it was put back
 *                       | another address                 | somebody else               | yes
 *  a merge, the version | no address                      | the other side's owner      | yes, until the claim has one
 *  is of the main       | no address                      | nobody                      | yes, until the claim has one
 *  branch, and its base | no address                      | somebody else               | no: renamed in the merge
 *  lacks the line       | the one that the other side had | the other side's owner      | yes
 *                       | a new one                       | anybody                     | no: the merge was settled
 *  any other merge      | any                             | anybody                     | no: one side may have released it
 */
export function givenAway(present: Snapshot, all: readonly LockStep[]): GivenAway[] {
  const commits = all.filter(({ kind }) => kind === "commit").slice(0, 3);
  const steps = all.filter((step) => step.kind !== "commit" || commits.includes(step));
  const after = new Places(present);
  const places = new Map<Snapshot, Places>();
  const of = (record: Snapshot) => {
    const known = places.get(record) ?? new Places(record);
    places.set(record, known);
    return known;
  };
  const seen = new Set<string>();
  return steps.flatMap((step, i) => {
    if (step.kind === "side") return [];
    const older = steps.slice(i + 1);
    const isTaken = step.kind === "merge" ? isDropped : isExchanged;
    return step.before.allocations.flatMap((line): GivenAway[] => {
      if (after.isOf(line) || seen.has(`${placeOf(line)} ${line.claim}`)) return [];
      const [holder, now] = [after.at(line), after.of(line)];
      if (!isTaken(line, step, { after, older, of })) return [];
      seen.add(`${placeOf(line)} ${line.claim}`);
      return [{ line, step, ...(now && { now }), ...(holder && { holder }) }];
    });
  });
}

interface Around {
  readonly after: Places;
  readonly older: readonly LockStep[];
  readonly of: (record: Snapshot) => Places;
}

/** By an edit or a commit: the claim is moved, and another owner has its address. */
function isExchanged(line: Allocation, step: LockStep, { after, older, of }: Around): boolean {
  const then = step.kind === "commit" ? of(step.after) : after;
  const holder = then.at(line);
  if (holder === undefined || then.isOf(line) || !then.live(line) || !after.live(line)) return false;
  if (after.at(line) === undefined) return false;
  return !older.some(({ before }) => of(before).at(line)?.claim === holder.claim);
}

/** By a merge: a line that only the main branch had is neither there nor planned anew. */
function isDropped(line: Allocation, step: LockStep, { after, of }: Around): boolean {
  if (step.kind !== "merge" || !step.hadLanded) return false;
  const { others } = step;
  if (of(step.base).has(line) || of(step.after).isOf(line)) return false;
  const holder = of(step.after).at(line);
  if (holder !== undefined && !others.some((other) => of(other).has(holder))) return false;
  const now = after.of(line);
  return now === undefined || (after.at(line) !== undefined && others.some((other) => of(other).has(now)));
}

/** The lines of a record by address and by claim. */
class Places {
  private readonly lines: ReadonlyMap<string, Allocation>;
  private readonly claims: ReadonlyMap<string, Allocation>;
  private readonly liveClaims: ReadonlySet<string>;

  constructor({ allocations, releasing }: Snapshot) {
    const all = [...releasing, ...allocations];
    this.lines = new Map(all.map((line) => [placeOf(line), line]));
    this.claims = new Map(all.map((line) => [identityOf(line), line]));
    this.liveClaims = new Set(allocations.map(identityOf));
  }

  /** Returns the line that has the address of this line. */
  at(line: Allocation): Allocation | undefined {
    return this.lines.get(placeOf(line));
  }

  /** What the claim of this line has. */
  of(line: Allocation): Allocation | undefined {
    return this.claims.get(identityOf(line));
  }

  /** Returns whether the claim of this line has an address that is not releasing. */
  live(line: Allocation): boolean {
    return this.liveClaims.has(identityOf(line));
  }

  /** Returns whether the owner of this line has its address. */
  isOf(line: Allocation): boolean {
    const holder = this.at(line);
    return holder !== undefined && ownerOfKey(holder.claim) === ownerOfKey(line.claim);
  }

  /** Returns whether this line is in the record. */
  has(line: Allocation): boolean {
    return this.at(line)?.claim === line.claim;
  }
}

/** `10.0.0.5 was allocated to n6 (pol/a) in 1a2b^1; merge 1a2b gave it to n7`. */
export function describeGivenAway({ line, step, now, holder }: GivenAway, lock: string): string {
  const was = `${formatBlock(line)} was allocated to ${ownerName(line.claim)} (${nameOfKey(line.claim)}) in ${step.revision}`;
  const actor = "commit" in step ? `${step.kind} ${step.commit}` : lock;
  const what = holder === undefined ? "removed the line" : `gave it to ${ownerName(holder.claim)}`;
  const has = now === undefined ? "" : `, and ${formatBlock(now)} to ${ownerName(line.claim)}`;
  return `${was}; ${actor} ${what}${has}`;
}

/** Whether a commit that is no merge did it. A release or a rename that it squashed is not to be seen. */
export function isCommitted({ step }: GivenAway): boolean {
  return step.kind === "commit";
}

/** What to do about an address that was given away. */
export function mendGivenAway({ line, step }: GivenAway, lock: string): Issue["hint"] {
  const owner = ownerName(line.claim);
  if (step.kind === "edit")
    return `Take the lock of HEAD back: git checkout HEAD -- ${shellWord(lock)}. If the names were exchanged with nodeippool mv, commit after each mv.`;
  return `If ${owner} may be using it: make that merge again, and settle the lock in it: nodeippool allocate --landed REV.`;
}
