import { type Allocation, byAddress, importedSet, isOfOtherSet, type PoolLines, sameLine } from "../allocation.ts";
import { blocksOverlap, formatBlock, holds, isSingle } from "../block.ts";
import { type Claim, formatOwner, isOfNode, ownerOfKey, policyOfKey } from "../claim.ts";
import type { Remedy } from "../errors.ts";
import { isOfAddresses, type Pool } from "../pool.ts";
import { fieldsOf } from "../pool-words.ts";
import type { Kept, Pending } from "./changes.ts";
import { inUse, lineFor, type Request, wantedBy } from "./request.ts";

/** What a plan goes by, beside pools and claims. */
export interface Options {
  readonly set: string;
  readonly allowMove: boolean;
  /** What a claim is called, and all that it was called before: the nearest name first. */
  readonly namesOf: (claim: string) => readonly string[];
  /** Only these owners are looked at; all, if undefined. */
  readonly owners: ReadonlySet<string> | undefined;
}

/** The line that a claim has. */
export interface Found {
  readonly line: Allocation;
  readonly releasing: boolean;
  /** Live as well, under a name that the claim had before that of `line`. */
  readonly former?: Allocation;
}

/**
 * Finds the line of a claim, under its own key or one that it was renamed from, nearest name first:
 *
 *  1. a live one: of its own key, or of no other set. Where moves are allowed, one of the set that would not do waits for 2
 *  2. one of the set that is releasing, would do, and has become nobody else's; the lowest
 *  3. a live one of another set, under a former name
 *  4. one of another set that is releasing; the lowest
 */
export function finder(lines: PoolLines, options: Options): (request: Request, pool: Pool) => Found | undefined {
  const live = new Map(lines.live.map((line) => [line.claim, line]));
  const leaving = Map.groupBy(lines.releasing.toSorted(byAddress), (line) => line.claim);
  const isOfSet = (line: Allocation) => line.set === options.set;
  return (request, pool) => {
    const { key, claim } = request;
    const names = options.namesOf(key);
    const held = names.flatMap((name) => live.get(name) ?? []);
    const [line, ...others] = held.filter((one) => one.claim === key || !isOfOtherSet(one, options.set));
    const former = others.find(isOfSet);
    if (line !== undefined && former !== undefined && !isOfOtherSet(line, options.set) && !options.allowMove)
      return { line, releasing: false, former };
    const mayMove = line !== undefined && isOfSet(line) && options.allowMove && !isAnotherObject(line, claim);
    if (line !== undefined && !(mayMove && !wouldDo(line, request, pool))) return { line, releasing: false };
    const left = names.flatMap((name) => leaving.get(name) ?? []);
    const back = left.find((one) => isOfSet(one) && wouldDo(one, request, pool) && !isAnothers(one, claim, pool));
    if (back !== undefined) return { line: back, releasing: true };
    if (held[0] !== undefined) return { line: line ?? held[0], releasing: false };
    const foreign = left.find((one) => !isOfSet(one));
    return foreign === undefined || isAnotherObject(foreign, claim) ? undefined : { line: foreign, releasing: true };
  };
}

function wouldDo(line: Allocation, { claim }: Request, pool: Pool): boolean {
  const wanted = wantedBy(claim, pool);
  return holds(pool.assignable, line) && (wanted === undefined || blocksOverlap(wanted, line));
}

/** Returns whether the claim may keep its line. If not, it asks anew. */
export function sticky(
  request: Request,
  found: Found,
  pool: Pool,
  options: Options,
): { readonly keep?: Kept; readonly refusal?: Pending } {
  const { line, releasing } = found;
  const refusal = refusedTaking(request, found, options.set);
  if (refusal !== undefined) return { refusal };
  const uid = line.uid === undefined ? {} : { uid: line.uid };
  const allocation = { ...uid, ...lineFor(request, options.set, line) };
  // What is reserved for its owner, another claim of that one has: this one stays as it is.
  if (request.isMet && !releasing && holds(pool.assignable, line) && sameLine(line, allocation))
    return { keep: { allocation: line } };
  if (!wouldDo(line, request, pool)) return options.allowMove ? {} : { refusal: refusedChange(request, line, pool) };
  return { keep: !releasing && sameLine(line, allocation) ? { allocation: line } : { allocation, was: line } };
}

/** Two lines would become one claim, or the line is that of another set, or of an object that had the name before. */
function refusedTaking(request: Request, { line, releasing, former }: Found, set: string): Pending | undefined {
  const text = formatBlock(line);
  if (former !== undefined) {
    const message = `${text} is that of ${line.claim}, and ${formatBlock(former)} of ${former.claim} cannot come by the rename`;
    return inUse(request, message, `Take that rename out; or free ${text} first, and declare it then.`);
  }
  if (line.set === importedSet && releasing)
    return inUse(request, `${text} is releasing, and was imported`, "Free it when it is off the node.", ["release"]);
  if (isOfOtherSet(line, set)) {
    const held = releasing ? "is releasing, as the same claim of" : `is already held by ${line.claim} in`;
    const whose = isOfNode(line) ? policyOfKey(line.claim) : ownerOfKey(line.claim);
    const takeOver: Remedy = ["to-set", whose, line.set, set];
    const hint = "Rename the claim; or declare that it came from there.";
    return inUse(request, `${text} ${held} set ${line.set}`, hint, takeOver);
  }
  if (!isAnotherObject(line, request.claim)) return undefined;
  const earlier = `an earlier ${formatOwner(request.claim.owner)} (uid ${line.uid})`;
  return inUse(request, `${text} is held by ${earlier}`, "Release it once the earlier one is gone.");
}

/** The line is the claim's own, or an import recorded it as that, and it would not do. */
function refusedChange(request: Request, line: Allocation, pool: Pool): Pending {
  const wanted = wantedBy(request.claim, pool);
  const by =
    line.set === importedSet ? `was imported for ${formatOwner(request.claim.owner)}` : `is held by ${line.claim}`;
  const held = `${formatBlock(line)} ${by}`;
  const move: Remedy = ["allow", "move"];
  if (wanted !== undefined && holds(pool.assignable, line)) {
    const message = `${held}, which now wants ${formatBlock(wanted)}`;
    return inUse(request, message, "Ask for the address it has, or allow the move.", move);
  }
  if (!isSingle(line) && isOfAddresses(pool)) {
    const message = `${held}, but pool ${pool.name} has no blockLength any more: it hands out single addresses`;
    return inUse(request, message, `Put blockLength: ${line.length} back into the pool.`);
  }
  const message = `${held}, but pool ${pool.name} hands it out no more (${fieldsOf(pool)})`;
  const ofDns = pool.words === undefined ? " (for a DNS server: a reservation with its owner)" : "";
  const hint = `Give the pool that address back${ofDns}, or allow the move.`;
  return inUse(request, message, hint, move);
}

/**
 * Has what is releasing become another owner's: is it reserved for one, or that of an object that had the name before? What
 * is reserved for another claim of the same owner comes back all the same: that claim waits, and no other owner.
 */
function isAnothers(line: Allocation, claim: Claim, pool: Pool): boolean {
  const reservation = pool.reservations.at(line.address);
  return (reservation !== undefined && reservation.owner !== formatOwner(claim.owner)) || isAnotherObject(line, claim);
}

function isAnotherObject(line: Allocation, claim: Claim): boolean {
  return claim.owner.kind !== "Node" && line.uid !== undefined && claim.uid !== undefined && line.uid !== claim.uid;
}
