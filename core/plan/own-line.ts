import { type Allocation, byAddress, importedSet, isOfOtherSet, type PoolLines, sameLine } from "../allocation.ts";
import { blocksOverlap, formatBlock, holds } from "../block.ts";
import { type Claim, formatOwner, policyOfKey } from "../claim.ts";
import type { Remedy } from "../errors.ts";
import type { Pool } from "../pool.ts";
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
 * Finds the line of a claim, under its own key or one that it was renamed from: a live one, else one that is
 * releasing and would do, of several the lowest, else one that another set has under a former name, or releasing. Where
 * moves are allowed, one that would do comes first.
 */
export function finder(lines: PoolLines, options: Options): (request: Request, pool: Pool) => Found | undefined {
  const live = new Map(lines.live.map((line) => [line.claim, line]));
  const sorted = lines.releasing.toSorted(byAddress);
  const leavingOf = (isOwn: boolean) =>
    Map.groupBy(
      sorted.filter((line) => (line.set === options.set) === isOwn),
      (line) => line.claim,
    );
  const [releasing, elsewhere] = [leavingOf(true), leavingOf(false)];
  const isOurs = (line: Allocation) => !isOfOtherSet(line, options.set);
  return (request, pool) => {
    const names = options.namesOf(request.key);
    const found = names.flatMap((name) => live.get(name) ?? []);
    const [line, ...others] = found.filter((one) => one.claim === request.key || isOurs(one));
    const former = others.find((one) => one.set === options.set);
    if (line !== undefined && isOurs(line) && former !== undefined && !options.allowMove)
      return { line, releasing: false, former };
    const mayMove = line?.set === options.set && options.allowMove && !isAnotherObject(line, request.claim);
    if (line !== undefined && !(mayMove && !wouldDo(line, request, pool))) return { line, releasing: false };
    const leaving = names
      .flatMap((name) => releasing.get(name) ?? [])
      .find((one) => wouldDo(one, request, pool) && !isAnothers(one, request.claim, pool));
    if (leaving !== undefined) return { line: leaving, releasing: true };
    const held = line ?? found[0];
    if (held !== undefined) return { line: held, releasing: false };
    const [other] = names.flatMap((name) => elsewhere.get(name) ?? []);
    return other === undefined || isAnotherObject(other, request.claim) ? undefined : { line: other, releasing: true };
  };
}

function wouldDo(line: Allocation, { claim }: Request, pool: Pool): boolean {
  const wanted = wantedBy(claim, pool);
  return holds(pool.assignable, line) && (wanted === undefined || blocksOverlap(wanted, line));
}

interface Sticky {
  readonly line?: Allocation;
  readonly keep?: Kept;
  readonly refusal?: Pending;
}

/** May the claim keep the line it has? */
export function sticky(request: Request, found: Found | undefined, pool: Pool, options: Options): Sticky {
  if (found === undefined) return {};
  const { line, releasing, former } = found;
  if (former !== undefined) return { line, refusal: refusedRename(request, line, former) };
  const foreign = refusedForeign(request, found, options.set);
  if (foreign !== undefined) return { line, refusal: foreign };
  if (wouldDo(line, request, pool)) {
    const allocation = {
      ...(line.uid === undefined ? {} : { uid: line.uid }),
      ...lineFor(request, options.set, line),
    };
    return { line, keep: !releasing && sameLine(line, allocation) ? { allocation: line } : { allocation, was: line } };
  }
  return options.allowMove ? {} : { line, refusal: refusedChange(request, line, pool) };
}

/** The line is that of another claim set, or of an object that had the name before. */
function refusedForeign(request: Request, { line, releasing }: Found, set: string): Pending | undefined {
  const text = formatBlock(line);
  if (isOfOtherSet(line, set) && line.claim !== request.key) {
    const message = `${text} of ${line.claim} is that of set ${line.set}, and cannot come by the rename`;
    return inUse(request, message, "Take that rename out.");
  }
  if (line.set === importedSet && releasing)
    return inUse(request, `${text} is releasing, and was imported`, "Free it when it is off the node.", ["release"]);
  if (line.set !== set && line.set !== importedSet) {
    const held = releasing ? "is releasing, as the same claim of" : `is already held by ${line.claim} in`;
    const takeOver: Remedy = ["to-set", policyOfKey(line.claim), line.set, set];
    const hint = "Rename the claim; or declare that it came from there.";
    return inUse(request, `${text} ${held} set ${line.set}`, hint, takeOver);
  }
  if (!isAnotherObject(line, request.claim)) return undefined;
  const earlier = `an earlier ${formatOwner(request.claim.owner)} (uid ${line.uid})`;
  return inUse(request, `${text} is held by ${earlier}`, "Release it once the earlier one is gone.");
}

/** Two lines cannot become one claim. */
function refusedRename(request: Request, line: Allocation, former: Allocation): Pending {
  const [has, stays] = [line, former].map(formatBlock);
  const message = `it ${line.claim === request.key ? "has" : "gets"} ${has}, and ${stays} of ${former.claim} cannot come by the rename`;
  return inUse(request, message, `Take that rename out; or free ${has} first, and declare it then.`);
}

/** The line is the claim's own, or an import recorded it as that, and it would not do. */
function refusedChange(request: Request, line: Allocation, pool: Pool): Pending {
  const wanted = wantedBy(request.claim, pool);
  const by =
    line.set === importedSet ? `was imported for ${formatOwner(request.claim.owner)}` : `is held by ${line.claim}`;
  const held = `${formatBlock(line)} ${by}`;
  const [message, hint] =
    wanted !== undefined && holds(pool.assignable, line)
      ? [`${held}, which now wants ${formatBlock(wanted)}`, "Ask for the address it has, or allow the move."]
      : [
          `${held}, but pool ${pool.name} hands it out no more (range, exclude, gateway, DNS servers or reservations)`,
          "Give the pool that address back (for a DNS server: a reservation with its owner), or allow the move.",
        ];
  return inUse(request, message, hint, ["allow", "move"]);
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
