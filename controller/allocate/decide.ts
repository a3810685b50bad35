import {
  type Allocation,
  type Claim,
  claimKey,
  formatOwner,
  type Issue,
  identityOf,
  ownerOfKey,
  type Pending,
  type Plan,
  type PlanInput,
  type Pool,
  plan,
  type Snapshot,
  unrecordable,
} from "../../core/index.ts";

/** What the allocator decides from: these owners, and all that they ask for. */
export interface Question {
  readonly pools: readonly Pool[];
  /** Every claim of the owners. */
  readonly claims: readonly Claim[];
  readonly owners: ReadonlySet<string>;
  readonly set: string;
  /** Returns whether a claim gets nothing new now, because its node is not Ready, for example. */
  readonly isWaiting: (claim: Claim) => boolean;
  /**
   * Claims, by their keys, that must get nothing new, and why: two policies for one address list or resolver of a node, two objects of
   * one name, or a policy or host that has addresses in another claim set. The later one gets nothing.
   */
  readonly conflicting: ReadonlyMap<string, Issue>;
  /** Returns whether the owner of a claim already shows what it asks for. */
  readonly isObserved: (claim: Claim) => boolean;
  /**
   * New claims that get nothing, whatever there is: what they ask for is in use without being on record, or goes back to somebody; it
   * is not known what their owner has; no pool serves them; the record has no room for a line, or has just lost some of their pool.
   */
  readonly refused: readonly Pending[];
  /** Claims of one word are served together or not at all: those that one object asks for one owner. */
  readonly shareOf: (claim: string) => string;
  /** Lines that stay although nobody asks for them now: their policy cannot be read, or their pool retains them. */
  readonly isHeld: (line: Allocation) => boolean;
  /** Releasing lines that are known to be off their owners. */
  readonly gone: readonly Allocation[];
}

/** What a line, or a claim that gets none, is of. */
type Named = Pick<Allocation, "pool" | "claim">;

/** What is to be recorded, and which claims get nothing. */
export interface Decision {
  readonly plan: Plan;
  /** One for each claim at most: its first reason. */
  readonly pending: readonly Pending[];
}

/**
 * One plan for all owners that are looked at.
 *
 *  an owner's claim                     | what becomes of it
 *  -------------------------------------+-------------------------------------------------------
 *  has a line                           | keeps it, also where its pool gives that address no more: but says so
 *  shown to have already, refused not   | gets that if a plan can give it, whatever becomes of its share
 *  new, and waiting                     | nothing yet
 *  new, all claims of its share fit     | gets an address
 *  new, one claim of its share does not | no new claim of the share gets one: others may be served
 *  new, what it asks for is in use, or  | nothing, nor does its share: it is refused before any plan
 *   the record has no room for it now   |
 *  new, in place of one that goes       | nothing yet: that one is released first
 *  new, beside a line that is held      | an address: its owner does not lose that line, unless it is on the same NIC
 *  such that it cannot hold together    | keeps what it has, and gets nothing new: but says so
 *   with what somebody has              |
 *  such that no record can hold it      | nothing: but says so
 *
 *  a line without a claim               |
 *  live, held                           | stays
 *  live                                 | releasing
 *  releasing, and claimed again         | live again
 *  releasing, known to be off its owner | free
 */
export function decide(question: Question, snapshot: Snapshot): Decision {
  const { pools, owners, set, isHeld, gone, isWaiting, shareOf } = question;
  const asking = question.claims.filter((claim) => unrecordable(claim) === undefined);
  const { lines, held } = placesOf(asking, question, snapshot);
  const isNew = (line: Named) => !held.has(identityOf(line));
  const unserved = new Set(question.refused.map(({ claim }) => shareOf(claim)));
  const isUnserved = (claim: Claim) =>
    !held.has(placeOfClaim(claim)) && unserved.has(shareOf(claimKey(claim.owner, claim.name)));
  const isConflicting = ({ owner, name }: Claim) => question.conflicting.has(claimKey(owner, name));
  const isLeftOut = (claim: Claim) => isWaiting(claim) || isUnserved(claim) || isConflicting(claim);
  const planFor = () => {
    const claims = asking.filter((claim) => lines.has(placeOfClaim(claim)) || !isLeftOut(claim));
    return planBeside({ pools, claims, snapshot, owners, set }, isHeld);
  };
  const pending = question.refused.filter(({ claim }) => owners.has(ownerOfKey(claim)));
  let made = planFor();
  const withheld = () => {
    // What a plan cannot give to one that is shown to have it, makes it a claim as any other.
    for (const one of made.pending) if (!lines.has(identityOf(one))) held.delete(identityOf(one));
    return withheldIn(made, isNew, shareOf);
  };
  for (let some = withheld(); some.size > 0; some = withheld()) {
    pending.push(...made.pending.filter((one) => isNew(one) && some.has(shareOf(one.claim))));
    for (const share of some) unserved.add(share);
    made = planFor();
  }
  const returned = new Set(made.keep.map(({ was }) => was));
  const release = [
    ...made.release.filter(({ allocation }) => !isHeld(allocation)),
    ...gone.filter((line) => !returned.has(line)).map((allocation) => ({ allocation, to: "free" as const })),
  ];
  const refusals = question.claims.flatMap((claim) => refusalOf(claim, question));
  return { plan: { ...made, release }, pending: firstOfEach([...pending, ...made.pending, ...refusals]) };
}

/** A claim set that nobody has: to a plan, its lines are in use by others. */
const heldSet = "held";

/** A plan in which lines that are held are not lost: they stay beside what their owner gets on other NICs. */
function planBeside(input: PlanInput & { readonly owners: ReadonlySet<string> }, isHeld: Question["isHeld"]): Plan {
  const { claims, owners, snapshot } = input;
  const made = plan(input);
  if (!made.pending.some(isMove)) return made;
  const asked = new Set(claims.map(({ owner, name }) => claimKey(owner, name)));
  const nics = new Set(claims.map(({ owner, interface: nic }) => `${formatOwner(owner)} ${nic}`));
  const isBeside = (line: Allocation) =>
    owners.has(ownerOfKey(line.claim)) &&
    !asked.has(line.claim) &&
    !nics.has(`${ownerOfKey(line.claim)} ${line.interface}`) &&
    isHeld(line);
  const allocations = snapshot.allocations.map((line) => (isBeside(line) ? { ...line, set: heldSet } : line));
  return plan({ ...input, snapshot: { ...snapshot, allocations } });
}

/** Would its owner lose another address for it? */
function isMove({ remedy }: Pending): boolean {
  return remedy?.[0] === "rename";
}

/** Where claims have lines, and where these or what they are shown to have is nothing new. */
function placesOf(asking: readonly Claim[], { isObserved, ...question }: Question, { allocations }: Snapshot) {
  const asked = new Set(asking.map(({ owner, name }) => claimKey(owner, name)));
  const refused = new Set(question.refused.map(identityOf));
  const lines = new Set(allocations.filter(({ claim }) => asked.has(claim)).map(identityOf));
  const shown = asking.filter((claim) => isObserved(claim) && !refused.has(placeOfClaim(claim)));
  return { lines, held: new Set([...lines, ...shown.map(placeOfClaim)]) };
}

/** Where a claim has its line. */
export function placeOfClaim({ owner, name, pool }: Claim): string {
  return identityOf({ pool, claim: claimKey(owner, name) });
}

/** Of each claim the first reason alone: no claim waits twice. */
function firstOfEach(pending: readonly Pending[]): Pending[] {
  return [...Map.groupBy(pending, ({ claim }) => claim).values()].flatMap(([first]) => first ?? []);
}

function refusalOf(claim: Claim, { conflicting, owners }: Question): Pending[] {
  const key = claimKey(claim.owner, claim.name);
  const issue = unrecordable(claim) ?? conflicting.get(key);
  if (issue === undefined || !owners.has(ownerOfKey(key))) return [];
  return [{ claim: key, pool: claim.pool, code: "invalid", message: issue.message }];
}

/** The shares that get nothing new in this plan: one new claim gets an address and another one does not, or would move one. */
function withheldIn(
  { assign, pending }: Plan,
  isNew: (one: Named) => boolean,
  shareOf: Question["shareOf"],
): Set<string> {
  const served = new Set(assign.filter(isNew).map(({ claim }) => shareOf(claim)));
  const unserved = pending.filter(isNew);
  const some = unserved.filter((one) => isMove(one) || served.has(shareOf(one.claim)));
  return new Set(some.map(({ claim }) => shareOf(claim)));
}

/** The lines that a plan changes: those that are new, that somebody has again, and that go. */
export function changedBy({ assign, keep, release }: Plan): Allocation[] {
  const again = keep.flatMap(({ allocation, was }) => (was === undefined ? [] : allocation));
  return [...assign, ...again, ...release.map(({ allocation }) => allocation)];
}
