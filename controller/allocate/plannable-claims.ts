import {
  type Address,
  type Adoptable,
  type Allocation,
  BlockIndex,
  type Claim,
  choosePools,
  claimKey,
  contains,
  describeUse,
  formatBlock,
  formatOwner,
  identityOf,
  listed,
  ownerOfKey,
  type Pending,
  type Pool,
  poolsAsked,
  shownFor,
  wantedBy,
} from "../../core/index.ts";
import { partition } from "../../core/partition.ts";
import { inSentences } from "../../schema/issues.ts";
import type { LinesByOwner } from "../record/lines-by-owner.ts";
import type { ContestedLine } from "./contested-lines.ts";
import { placeOfClaim, type Question } from "./decide.ts";
import { type Observation, type Occupied, poolsByName, without } from "./occupied.ts";

export interface AskedBeside extends Pick<Question, "pools" | "claims" | "refused" | "isObserved"> {
  /** Owners that have what no claim of theirs gets, or nobody knows which: what was made for them shows it, so that stays. */
  readonly unclear: ReadonlySet<string>;
}

/** What a plan is asked for, where owners show to have this beside the record. */
export function plannableClaims(
  asking: readonly Claim[],
  sound: readonly Pool[],
  occupied: Occupied,
  contested: ReadonlyMap<string, readonly ContestedLine[]>,
  lines: LinesByOwner,
  isGone: (owner: string) => boolean,
): AskedBeside {
  const pools = sound.map((pool) => without(pool, occupied));
  const byName = poolsByName(pools);
  const contestedIn = (pool: string) => contested.get(pool) ?? [];
  const usesOf = (pool: string) => [...(occupied.own.get(pool) ?? []), ...contestedIn(pool).map(({ use }) => use)];
  const chosen = chosenBeside(
    asking.map((claim) => inShownPool(claim, usesOf, lines)),
    pools,
    lines,
  );
  const { claims } = chosen;
  const found = new Map(
    pools.flatMap((pool) => shownOf(pool, claims, usesOf(pool.name), contestedIn(pool.name), lines)),
  );
  const foundFor = (claim: Claim) => found.get(placeOfClaim(claim));
  const awaitedBy = (claim: Claim) => contestedFor(claim, foundFor(claim), contestedIn(claim.pool));
  const had = (claim: Claim) => (awaitedBy(claim) === undefined ? foundFor(claim) : undefined);
  const asked = claims
    .filter((claim) => !hasElsewhere(claim, byName.get(claim.pool), lines))
    .filter((claim) => !(isGone(formatOwner(claim.owner)) && isPast(claim, had(claim), lines)))
    .map((claim) => withShown(claim, had(claim)));
  const ofOthers = asked.filter((claim) => foundFor(claim) === undefined && !hasAnyLine(claim, lines));
  const unclear = [
    ...asked.flatMap((claim) => unclearFor(claim, had(claim)?.among)),
    ...asked.flatMap((claim) => waitsFor(claim, awaitedBy(claim))),
    ...ofOthers.flatMap((claim) => reservedElsewhere(claim, byName.get(claim.pool), occupied)),
  ];
  const lost = asked.flatMap((claim) => lostBy(claim, contestedIn(claim.pool), lines));
  const refused = [...chosen.pending, ...unclear, ...lost, ...refusedOf(asked, pools, occupied, lines)].map(withStep);
  const isObserved = (claim: Claim) => claim.wanted !== undefined && knownOf(had(claim)) === claim.wanted;
  return { pools, claims: asked, refused, isObserved, unclear: new Set(unclear.map(({ claim }) => ownerOfKey(claim))) };
}

/** What is told of a claim is one message: it ends in the next step. */
function withStep({ hint, ...one }: Pending): Pending {
  return { ...one, message: inSentences({ message: one.message, ...(hint && { hint: hint.replace(/\.$/, "") }) }) };
}

/** Of its pools, a claim without a line asks that of which its owner shows to have an address for it. */
function inShownPool(claim: Claim, usesOf: (pool: string) => readonly Observation[], lines: LinesByOwner): Claim {
  if (claim.choice === undefined || lines.hasLine(claim)) return claim;
  const owner = formatOwner(claim.owner);
  const isIts = (use: Observation) => use.owner === owner && use.interface === claim.interface;
  const pool = poolsAsked(claim).find((name) => usesOf(name).some(isIts));
  const { choice: _, ...rest } = claim;
  return pool === undefined ? claim : { ...rest, pool };
}

/**
 * Has the owner of a claim what this wants, of a pool that it asked before? Then it has that, and gets no other one of a pool which
 * cannot give it.
 */
function hasElsewhere({ owner, pool, wanted }: Claim, asked: Pool | undefined, lines: LinesByOwner): boolean {
  if (wanted === undefined || asked === undefined || contains(asked.assignable, wanted)) return false;
  return lines.of(formatOwner(owner)).allocations.some((line) => line.address === wanted && line.pool !== pool);
}

/** What claims of a pool without a line have already, as far as their owners show it. */
function shownOf(
  pool: Pool,
  claims: readonly Claim[],
  uses: readonly Observation[],
  contested: readonly ContestedLine[],
  lines: LinesByOwner,
): [string, Adoptable][] {
  if (uses.length === 0) return [];
  const here = claims.filter((claim) => claim.pool === pool.name);
  const isContested = (line: Allocation) => contested.some((one) => one.line === line);
  // A releasing line comes back to its claim, whatever else the owner shows; but not where another address was given to it since.
  const comesBack = (claim: Claim) => {
    const its = uses.filter(({ owner }) => owner === formatOwner(claim.owner));
    if (its.some(({ isGiven }) => isGiven)) return false;
    const isObserved = ({ address }: Allocation) => its.some((use) => use.address === address);
    return lines.releasingOf(claim).some((line) => !isObserved(line) && !isContested(line));
  };
  const found = shownFor(pool, here, (claim) => lines.hasLine(claim) || comesBack(claim), uses);
  return [...found].map(([claim, one]) => [identityOf({ pool: pool.name, claim }), one]);
}

/** Chooses a pool for each claim, but for those that may have an address of one already: these wait until it can be read. */
function chosenBeside(asking: readonly Claim[], pools: readonly Pool[], lines: LinesByOwner) {
  const [waiting, others] = partition(
    asking,
    (claim) => claim.choice?.unread !== undefined && !hasAnyLine(claim, lines),
  );
  const chosen = choosePools(others, pools, lines.record);
  return { ...chosen, pending: [...waiting.map(mayHaveUnread), ...chosen.pending] };
}

function mayHaveUnread({ owner, name, pool, choice }: Claim): Pending {
  const message = `it may have an address in a part of the record that cannot be read, so it gets no other one: ${choice?.unread}`;
  return { claim: claimKey(owner, name), pool, code: "in-use", message };
}

function hasAnyLine(claim: Claim, lines: LinesByOwner): boolean {
  return lines.hasLine(claim) || lines.releasingOf(claim).length > 0;
}

/** What a claim has, if that is known. */
function knownOf(had: Adoptable | undefined): Address | undefined {
  return had?.among === undefined ? had?.line.address : undefined;
}

/** A claim asks for what its owner has already. */
function withShown(claim: Claim, had: Adoptable | undefined): Claim {
  const shown = knownOf(had);
  return shown === undefined || claim.wanted !== undefined ? claim : { ...claim, wanted: shown };
}

/** Where nobody knows which of its claims an owner has an address for, each of them would move it. */
function unclearFor(claim: Claim, among: readonly Allocation[] | undefined): Pending[] {
  if (among === undefined || claim.wanted !== undefined) return [];
  const message = `${formatOwner(claim.owner)} has ${listed(among.map(formatBlock))} already, and it is not known for which of its claims`;
  const hint = "Reserve each for its owner and claim, or without owner if it is for none.";
  return [{ claim: claimKey(claim.owner, claim.name), pool: claim.pool, code: "in-use", message, hint }];
}

/** Returns the contested address that a claim is to adopt: unless it wants another one. */
function contestedFor(
  claim: Claim,
  had: Adoptable | undefined,
  contested: readonly ContestedLine[],
): ContestedLine | undefined {
  const address = knownOf(had);
  if (address === undefined || (claim.wanted ?? address) !== address) return undefined;
  return contested.find(({ use }) => use.address === address && use.owner === formatOwner(claim.owner));
}

function waitsFor({ owner, name, pool }: Claim, contested: ContestedLine | undefined): Pending[] {
  if (contested === undefined) return [];
  const { use, line } = contested;
  const has = `${formatOwner(owner)} has ${formatBlock(use)} already`;
  const message = `${has}, which is on record for ${ownerOfKey(line.claim)}: wait until it is free, then it is adopted`;
  return [{ claim: claimKey(owner, name), pool, code: "in-use", message }];
}

/** A contested line does not go back to its claim. */
function lostBy(claim: Claim, contested: readonly ContestedLine[], lines: LinesByOwner): Pending[] {
  if (lines.hasLine(claim)) return [];
  const wouldReturn = lines.releasingOf(claim).filter(({ address }) => (claim.wanted ?? address) === address);
  const [lost] = contested.filter(({ line }) => wouldReturn.includes(line));
  if (lost === undefined) return [];
  const { owner, name, pool } = claim;
  const has = `${formatBlock(lost.line)} is on record for ${formatOwner(owner)}, but ${describeUse(lost.use)} has it`;
  const message = `${has}: wait until it is free, then another address is allocated`;
  return [{ claim: claimKey(owner, name), pool, code: "in-use", message }];
}

/** What an object gives to the owner of a claim is reserved for another one: a new address would be a move. */
function reservedElsewhere({ owner, name, pool }: Claim, asked: Pool | undefined, { own }: Occupied): Pending[] {
  const [claim, holder] = [claimKey(owner, name), formatOwner(owner)];
  const given = (own.get(pool) ?? []).filter((use) => use.isGiven && use.owner === holder);
  for (const use of given) {
    const other = asked?.reservations.at(use.address)?.owner;
    if (other === undefined || other === holder) continue;
    const message = `${holder} has ${formatBlock(use)} already, which is reserved for ${other}`;
    return [{ claim, pool, code: "in-use", message, hint: "Take that reservation out." }];
  }
  return [];
}

/**
 * Is it nothing that an owner which is gone can ask for? Such a one only puts on record what it shows to have had, once: that is
 * free when it is known to be off it.
 */
function isPast(claim: Claim, had: Adoptable | undefined, lines: LinesByOwner): boolean {
  const shown = knownOf(had);
  return hasAnyLine(claim, lines) || shown === undefined || (claim.wanted ?? shown) !== shown;
}

/**
 * Claims that get nothing because of what is shown.
 *
 *  the claim     | the address that it wants, or that is reserved for it, | it
 *                |  is shown, and on record for nobody                    |
 *  --------------+--------------------------------------------------------+------------------------------------
 *  has a line    | any                                                    | keeps that, whatever it wants
 *  has no line   | of its owner: alone, or it is given to that one        | may get it
 *  has no line   | of anybody else, who only asks for it                  | may get it: the plan decides
 *  has no line   | of anybody else                                        | gets nothing, and is told who has it
 */
function refusedOf(
  claims: readonly Claim[],
  pools: readonly Pool[],
  { taken }: Occupied,
  lines: LinesByOwner,
): Pending[] {
  const inUse = new Map(pools.map((pool) => [pool.name, { pool, blocks: new BlockIndex(taken.get(pool.name) ?? []) }]));
  return claims.flatMap((claim): Pending[] => {
    const { pool, blocks } = inUse.get(claim.pool) ?? {};
    const wanted = pool && wantedBy(claim, pool);
    if (wanted === undefined || blocks === undefined) return [];
    const [owner, key] = [formatOwner(claim.owner), claimKey(claim.owner, claim.name)];
    const others = blocks.at(wanted).filter((one) => one.owner !== owner);
    const having = others.flatMap(({ shown }) => shown.filter((use) => use.owner !== owner && !use.isAsked));
    if (having.length === 0) return [];
    if (lines.hasLine(claim)) return [];
    const who = [...new Set(having.map(describeUse))].join(" and ");
    const message = `${formatBlock(wanted)} is in use by ${who}, and on record for nobody`;
    return [{ claim: key, pool: claim.pool, code: "in-use", message, hint: "Take it off there, or want another one." }];
  });
}
