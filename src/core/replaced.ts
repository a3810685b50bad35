import type { Allocation, Snapshot } from "./allocation.ts";
import { nameOfKey, ownerOfKey } from "./claim.ts";
import { byCodeUnit, IpamError, listed } from "./errors.ts";
import type { Plan } from "./plan.ts";

/** As many owners as may well be replaced at once by others. */
const few = 3;

/**
 * `in-use` for a plan that gives up all that its claim set has and takes what has nothing in common with it: other owners,
 * which are sooner new names of the same machines, or somebody else's claims, than that many new machines at once; or, for
 * some of these owners, addresses of other pools, which is sooner another folder. Undefined for others, and where the
 * owners that come and those that go have claims of one name in some other set: they are not the same.
 */
export function replacedOwners({ assign, keep, release, set }: Plan, { allocations }: Snapshot): IpamError | undefined {
  const gone = ownersOf(release.map(({ allocation }) => allocation));
  const come = ownersOf(assign);
  const stay = ownersOf(keep.flatMap(({ allocation, releasing }) => (releasing ? [] : [allocation])));
  if (gone.length <= few || come.length === 0 || stay.length > 0) return undefined;
  const nothing = `none of the ${release.length} addresses of claim set ${set} would stay:`;
  // What comes to an owner that goes is of pools that it had nothing of: a move inside of a pool is refused before.
  if (gone.some((owner) => come.includes(owner)))
    return new IpamError("in-use", `${nothing} ${listed(gone)} lose theirs, and ${assign.length} new ones come`, {
      hint: "Another folder or app needs a claim set of its own. If it is meant, allow it.",
      remedy: ["allow-move"],
    });
  const others = allocations.filter((line) => line.set !== set);
  const had = namesOf(others, new Set(gone));
  if ([...namesOf(others, new Set(come))].some((name) => had.has(name))) return undefined;
  return new IpamError("in-use", `${nothing} ${listed(gone)} go, and ${listed(come)} come`, {
    hint: "Another folder or app needs a claim set of its own. If these are new names, say so of each; if all are replaced, allow it.",
    remedy: ["rename", "Node/OLD", "Node/NEW", "claim", ...(set === "default" ? ([] as const) : ([set] as const))],
  });
}

/** The claims of these owners, by pool and name. */
function namesOf(lines: readonly Allocation[], owners: ReadonlySet<string>): Set<string> {
  const own = lines.filter(({ claim }) => owners.has(ownerOfKey(claim)));
  return new Set(own.map(({ pool, claim }) => `${pool} ${nameOfKey(claim)}`));
}

function ownersOf(lines: readonly Allocation[]): string[] {
  return [...new Set(lines.map(({ claim }) => ownerOfKey(claim)))].sort(byCodeUnit);
}
