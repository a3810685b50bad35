import {
  type Allocation,
  type Claim,
  claimKey,
  formatOwner,
  identityOf,
  ownerOfKey,
  type Pending,
  type Plan,
  type Pool,
  plan,
  type Snapshot,
} from "../core/index.ts";

/** What the allocator decides from: these owners, and all that they ask for. */
export interface Question {
  readonly pools: readonly Pool[];
  /** Every claim of the owners. */
  readonly claims: readonly Claim[];
  readonly owners: ReadonlySet<string>;
  readonly set: string;
  /** Owners that keep what they have and get nothing new: a node that is not Ready. */
  readonly waiting: ReadonlySet<string>;
  /** Lines that stay although nobody asks for them now: their policy cannot be read, or their pool retains them. */
  readonly isHeld: (line: Allocation) => boolean;
  /** Releasing lines that are known to be off their owners. */
  readonly gone: readonly Allocation[];
}

/** What is to be recorded, and which claims get nothing. */
export interface Decision {
  readonly plan: Plan;
  readonly pending: readonly Pending[];
}

/**
 * One plan for all owners that are looked at.
 *
 *  an owner's claim                     | what becomes of it
 *  -------------------------------------+-------------------------------------------------------
 *  has a line                           | keeps it, also where its pool gives that address no more: but says so
 *  new, and the owner is waiting        | nothing yet
 *  new, all claims of the owner fit     | gets an address
 *  new, one claim of the owner does not | none of its new claims gets one: others may be served
 *  new, in place of one that goes        | nothing yet: that one is released first
 *
 *  a line without a claim               |
 *  live, held                           | stays
 *  live                                 | releasing
 *  releasing, and claimed again         | live again
 *  releasing, known to be off its owner | free
 */
export function decide(question: Question, snapshot: Snapshot): Decision {
  const { pools, owners, set, isHeld, gone } = question;
  const asked = new Set(question.claims.map(({ owner, name }) => claimKey(owner, name)));
  const held = new Set(snapshot.allocations.filter(({ claim }) => asked.has(claim)).map(identityOf));
  const isNew = (line: { readonly pool: string; readonly claim: string }) => !held.has(identityOf(line));
  const isNewClaim = ({ owner, name, pool }: Claim) => isNew({ pool, claim: claimKey(owner, name) });
  const unserved = new Set(question.waiting);
  const planFor = () => {
    const claims = question.claims.filter((claim) => !unserved.has(formatOwner(claim.owner)) || !isNewClaim(claim));
    return plan({ pools, claims, snapshot, owners, set });
  };
  const pending: Pending[] = [];
  let made = planFor();
  for (let some = withheld(made, isNew); some.size > 0; some = withheld(made, isNew)) {
    pending.push(...made.pending.filter((one) => isNew(one) && some.has(ownerOfKey(one.claim))));
    for (const owner of some) unserved.add(owner);
    made = planFor();
  }
  const returned = new Set(made.keep.map(({ was }) => was));
  const release = [
    ...made.release.filter(({ allocation }) => !isHeld(allocation)),
    ...gone.filter((line) => !returned.has(line)).map((allocation) => ({ allocation, to: "free" as const })),
  ];
  return { plan: { ...made, release }, pending: [...pending, ...made.pending] };
}

/** The owners that get nothing new in this plan: one new claim gets an address and another one does not, or would move one. */
function withheld({ assign, pending }: Plan, isNew: (one: Pending) => boolean): Set<string> {
  const served = new Set(assign.map(({ claim }) => ownerOfKey(claim)));
  const unserved = pending.filter(isNew);
  const some = unserved.filter(({ claim, remedy }) => remedy?.[0] === "rename" || served.has(ownerOfKey(claim)));
  return new Set(some.map(({ claim }) => ownerOfKey(claim)));
}
