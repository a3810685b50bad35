import {
  type Allocation,
  familyOf,
  formatAddress,
  importedSet,
  ownerName,
  type Plan,
  placeOf,
  policyOfKey,
  type Snapshot,
} from "../core/index.ts";
import { listOf } from "../nmstate/address-list.ts";
import { literals } from "../nmstate/hand-written.ts";
import type { Policy } from "../schema/index.ts";
import { firstFew } from "./terminal.ts";

/**
 * Imported addresses that no policy has, where one sets the list that they are in: nmstate replaces it as a whole.
 * `setters` are the policies that set lists (`addressList`).
 */
export function strayNotes(
  lines: readonly Allocation[],
  setters: ReadonlyMap<string, string>,
  policies: readonly Policy[],
): string[] {
  const strays = lines.filter((line) => line.set === importedSet && setters.has(listOf(line)));
  if (strays.length === 0) return [];
  const written = new Set(policies.flatMap(literals));
  return strays.flatMap((line) => {
    const { address, claim, interface: nic } = line;
    if (written.has(address) || nic === undefined) return [];
    const where = `${nic} of ${ownerName(claim)}`;
    const text = formatAddress(address);
    return `Note: policy ${setters.get(listOf(line))} sets the IPv${familyOf(address)} addresses of ${where}: applying it takes ${text} off`;
  });
}

/** The same, of lists that no policy sets by the record yet, and one does by this plan. */
export function newStrayNotes({ assign, keep }: Plan, before: Snapshot, policies: readonly Policy[]): string[] {
  const kept = keep.map(({ allocation }) => allocation);
  const own = new Set(kept.filter(isClaimed).map(placeOf));
  const known = new Set(before.allocations.filter(isClaimed).map(listOf));
  const fresh = [...assign, ...kept.filter(isClaimed)].filter((line) => !known.has(listOf(line)));
  const setters = new Map(fresh.map((line) => [listOf(line), policyOfKey(line.claim)]));
  const others = before.allocations.filter((line) => !own.has(placeOf(line)));
  return firstFew(strayNotes(others, setters, policies));
}

function isClaimed({ set }: Allocation): boolean {
  return set !== importedSet;
}
