import { type Allocation, importedSet, placeOf, type Snapshot } from "../allocation.ts";
import { nameOfKey, ownerOfKey } from "../claim.ts";
import { byCodeUnit, IpamError } from "../errors.ts";
import { listed } from "../words.ts";
import type { Plan } from "./plan.ts";

/** As many owners as may well be replaced at once by others. */
const few = 3;

/** Throws what `replacedOwners` says of a plan. */
export function refuseReplaced(made: Plan, before: Snapshot): void {
  const replaced = replacedOwners(made, before);
  if (replaced !== undefined) throw replaced;
}

/**
 * `in-use` for a plan that gives up all that its claim set has and takes what has nothing in common with it: other owners,
 * which are sooner new names of the same machines, or somebody else's claims, than that many new machines at once; or, for
 * some of these owners, addresses of other pools, which is sooner another folder. What comes back from releasing,
 * or is adopted, comes, too. Undefined for others, and where owners that come take the claims of those that go, and both have claims of
 * one name in some other set: they are not the same.
 */
export function replacedOwners(
  { assign, keep, release, set }: Plan,
  { allocations, releasing }: Snapshot,
): IpamError | undefined {
  const left = release.map(({ allocation }) => allocation);
  const live = keep.flatMap((kept) => (kept.releasing ? [] : [kept.allocation]));
  const imported = allocations.filter((line) => line.set === importedSet);
  const free = new Set([...releasing, ...imported].map(placeOf));
  const coming = [...assign, ...live.filter((line) => free.has(placeOf(line)))];
  const [gone, come] = [ownersOf(left), ownersOf(coming)];
  if (gone.length <= few || come.length === 0 || coming.length < assign.length + live.length) return undefined;
  const nothing = `none of the ${release.length} addresses of claim set ${set} would stay:`;
  // What comes to an owner that goes is of pools that it had nothing of: a move inside of a pool is refused before.
  if (gone.some((owner) => come.includes(owner)))
    return new IpamError("in-use", `${nothing} ${listed(gone)} lose theirs, and ${coming.length} others come`, {
      hint: "Another folder or app needs a claim set of its own. If it is meant, allow it.",
      remedy: ["allow-move"],
    });
  const others = allocations.filter((line) => line.set !== set);
  const had = namesOf(others, gone);
  const isSamePlan = shareName(namesOf(left), namesOf(coming));
  if (isSamePlan && shareName(namesOf(others, come), had)) return undefined;
  return new IpamError("in-use", `${nothing} ${listed(gone)} go, and ${listed(come)} come`, {
    hint: "Another folder or app needs a claim set of its own. If these are new names, say so of each; if all are replaced, allow it.",
    remedy: ["rename", "Node/OLD", "Node/NEW", "claim", ...(set === "default" ? ([] as const) : ([set] as const))],
  });
}

/** The claims of these owners, by pool and name. */
function namesOf(lines: readonly Allocation[], owners: readonly string[] = ownersOf(lines)): Set<string> {
  const wanted = new Set(owners);
  const own = lines.filter(({ claim }) => wanted.has(ownerOfKey(claim)));
  return new Set(own.map(({ pool, claim }) => `${pool} ${nameOfKey(claim)}`));
}

function shareName(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  return [...some].some((name) => others.has(name));
}

function ownersOf(lines: readonly Allocation[]): string[] {
  return [...new Set(lines.map(({ claim }) => ownerOfKey(claim)))].sort(byCodeUnit);
}
