import type { Allocation, Snapshot } from "./allocation.ts";
import { nameOfKey, ownerOfKey } from "./claim.ts";
import { byCodeUnit, IpamError } from "./errors.ts";
import type { Plan } from "./plan.ts";

/** As many owners as may well be replaced at once by others. */
const few = 3;

/**
 * `in-use` for a plan that gives up all owners of its claim set and takes others: those are sooner new names of the same
 * machines, or somebody else's claims, than that many new machines at once. Undefined for others, and where those that
 * come and those that go have claims of one name in some other set: they are not the same.
 */
export function replacedOwners({ assign, keep, release, set }: Plan, { allocations }: Snapshot): IpamError | undefined {
  const gone = ownersOf(release.map(({ allocation }) => allocation));
  const come = ownersOf(assign);
  const stay = ownersOf(keep.flatMap(({ allocation, releasing }) => (releasing ? [] : [allocation])));
  if (gone.length <= few || come.length === 0 || stay.length > 0 || gone.some((owner) => come.includes(owner)))
    return undefined;
  const others = allocations.filter((line) => line.set !== set);
  const had = namesOf(others, new Set(gone));
  if ([...namesOf(others, new Set(come))].some((name) => had.has(name))) return undefined;
  return new IpamError(
    "in-use",
    `none of the ${release.length} addresses of claim set ${set} would stay: ${listed(gone)} go, and ${listed(come)} come`,
    {
      hint: "Another folder or app needs a claim set of its own. If these are new names, say so of each; if all are replaced, allow it.",
      remedy: ["rename", "Node/OLD", "Node/NEW", "claim", ...(set === "default" ? ([] as const) : ([set] as const))],
    },
  );
}

/** The claims of these owners, by pool and name. */
function namesOf(lines: readonly Allocation[], owners: ReadonlySet<string>): Set<string> {
  const own = lines.filter(({ claim }) => owners.has(ownerOfKey(claim)));
  return new Set(own.map(({ pool, claim }) => `${pool} ${nameOfKey(claim)}`));
}

function ownersOf(lines: readonly Allocation[]): string[] {
  return [...new Set(lines.map(({ claim }) => ownerOfKey(claim)))].sort(byCodeUnit);
}

/** As many names as a sentence can hold; `last` goes between them where these are all. */
export function listed(names: readonly string[], last = ", "): string {
  const more = names.length - few;
  return more > 0 ? `${names.slice(0, few).join(", ")} and ${more} more` : names.join(last);
}
