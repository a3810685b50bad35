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
} from "../../core/index.ts";
import { listOf } from "../../integrations/nmstate/address-list.ts";
import { literals } from "../../integrations/nmstate/hand-written.ts";
import type { Policy } from "../../schema/index.ts";
import { firstFew } from "../terminal.ts";

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
    return `Note: policy ${setters.get(listOf(line))} sets the IPv${familyOf(address)} addresses of ${where}: applying it takes ${text} off; release it, once it is off`;
  });
}

/** The same, of the record after a plan, which may have come by a merge: whatever is imported the node has, until it is released. */
export function leftStrayNotes({ assign, keep }: Plan, before: Snapshot, policies: readonly Policy[]): string[] {
  const imported = before.allocations.filter(({ set }) => set === importedSet);
  if (imported.length === 0) return [];
  const kept = keep.flatMap(({ allocation }) => (allocation.set === importedSet ? [] : [allocation]));
  const adopted = new Set(kept.map(placeOf));
  const setters = new Map([...assign, ...kept].map((line) => [listOf(line), policyOfKey(line.claim)]));
  const left = imported.filter((line) => !adopted.has(placeOf(line)));
  return firstFew(strayNotes(left, setters, policies));
}
