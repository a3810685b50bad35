import { type Allocation, compareAddresses, type Family, familyOf, parseAddress } from "../../core/index.ts";
import { raw } from "../../schema/shape.ts";
import { reportedName } from "./nic-names.ts";
import { asDesiredState, type Section } from "./objects.ts";
import { asTruth } from "./truth.ts";

/** The address lists that a policy gives: NIC, family, addresses. */
export type Lists = readonly (readonly [nic: string, family: Family, addresses: readonly string[]])[];

/**
 * Returns the address lists that NICs have once nmstate has applied a desired state.
 *
 *  an interface in it                     | its section of a family       | the addresses of that family
 *  ---------------------------------------+-------------------------------+-----------------------------
 *  found by another mark than its name    | any                           | unknown: so is the NIC
 *  found by its name                      | none                          | unknown: they stay
 *  found by its name                      | off                           | none
 *  found by its name                      | on, with a list               | those
 *  found by its name                      | on, with no list, or by DHCP  | unknown
 */
export function listsOf(desiredState: unknown): Lists {
  return asDesiredState(desiredState).interfaces.flatMap((entry) => {
    const nic = reportedName(entry);
    if (nic === undefined || (entry.identifier ?? "name") !== "name" || entry["profile-name"] !== undefined) return [];
    return ([4, 6] as const).flatMap((family): Lists => {
      const addresses = listOf(entry[`ipv${family}`]);
      return addresses === undefined ? [] : [[nic, family, addresses]];
    });
  });
}

function listOf(section: Section): string[] | undefined {
  if (asTruth(section.enabled) === false) return [];
  const isLearned = [section.dhcp, section.autoconf].some((one) => asTruth(one ?? false) !== false);
  if (isLearned || !Array.isArray(raw(section).address)) return undefined;
  return section.address.map(({ ip }) => `${ip}`);
}

/** Returns whether an address is off its NIC once these lists are applied. */
export function isTakenOff({ address, interface: nic }: Allocation, lists: Lists): boolean {
  const about = lists.filter(([name, family]) => name === nic && family === familyOf(address));
  const others = about.flatMap(([, , addresses]) => addresses).map((text) => parseAddress(text).value);
  return about.length > 0 && others.every((other) => other !== undefined && compareAddresses(other, address) !== 0);
}

/** Returns whether an address is in these lists, on any NIC. */
export function isGivenBy({ address }: Allocation, lists: Lists): boolean {
  const all = lists.flatMap(([, , addresses]) => addresses).map((text) => parseAddress(text).value);
  return all.some((other) => other !== undefined && compareAddresses(other, address) === 0);
}
