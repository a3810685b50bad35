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
  const notes = strays.flatMap((line) => {
    const { address, claim, interface: nic } = line;
    if (written.has(address) || nic === undefined) return [];
    const where = `${nic} of ${ownerName(claim)}`;
    const text = formatAddress(address);
    return `Note: policy ${setters.get(listOf(line))} sets the IPv${familyOf(address)} addresses of ${where}: applying it takes ${text} off`;
  });
  return firstFew(notes);
}

/** The same, of lists that this plan gives an address of a policy, new or adopted. */
export function newStrayNotes({ assign, keep }: Plan, before: Snapshot, policies: readonly Policy[]): string[] {
  const adopted = keep.flatMap(({ allocation, was }) => (was?.set === importedSet ? [allocation] : []));
  const own = new Set(adopted.map(placeOf));
  const setters = new Map([...assign, ...adopted].map((line) => [listOf(line), policyOfKey(line.claim)]));
  return strayNotes(
    before.allocations.filter((line) => !own.has(placeOf(line))),
    setters,
    policies,
  );
}
