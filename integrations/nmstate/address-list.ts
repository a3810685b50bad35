import { type Address, type Allocation, type Family, familyOf, ownerOfKey, parseAddress } from "../../core/index.ts";
import { raw } from "../../schema/shape.ts";
import { asDesiredState, type Nic } from "./objects.ts";
import { portsIn } from "./ports.ts";
import { asTruth } from "./truth.ts";

/*
 * nmstate replaces the addresses of one family on one NIC as a whole. That is an address list: no two policies may set it.
 */

/** Returns the name of a node's address list in messages. */
export function listText(family: number, nic: string | undefined): string {
  return `IPv${family} addresses of ${nic}`;
}

/** Returns the same with the owner; two with one name are one list. */
export function listName(family: number, nic: string | undefined, owner: string): string {
  return `${listText(family, nic)} on ${owner}`;
}

/** Returns the list that the address of a line is in. */
export function listNameOf(line: Allocation): string {
  return listName(familyOf(line.address), line.interface, ownerOfKey(line.claim));
}

export const portOf = "a port of another interface";

/** One address list in a desired state. */
export interface AddressList {
  /** A name, or a template of one. */
  readonly nic: string;
  readonly family: Family;
  /** What removes the addresses that another policy sets there; absent where nothing does. */
  readonly overrides?:
    | "state: absent"
    | "dhcp: true"
    | "enabled: false"
    | "an address list"
    | "state: down"
    | typeof portOf;
  /** The items of the list; undefined for one that is no literal address. */
  readonly addresses?: readonly (Address | undefined)[];
}

const families = [4, 6] as const;

/** Returns every address list that a desired state sets. */
export function addressListsOf(desiredState: unknown): AddressList[] {
  const { interfaces } = raw(asDesiredState(desiredState));
  // A list that a capture makes on the node may hold any NIC.
  if (typeof interfaces === "string") return families.map((family) => ({ nic: interfaces, family }));
  const lists = asDesiredState(desiredState).interfaces.flatMap((entry) => {
    const { name } = entry;
    // A bridge of Open vSwitch may share a name with its own port, which has the addresses.
    if (typeof name !== "string" || entry.type === "ovs-bridge") return [];
    return families.flatMap((family) => listIn(entry, name, family) ?? []);
  });
  const ports = portsIn(desiredState).flatMap((nic) =>
    families.map((family): AddressList => ({ nic, family, overrides: portOf })),
  );
  return [...lists, ...ports];
}

function listIn(entry: Nic, nic: string, family: Family): AddressList | undefined {
  if (entry.state === "ignore") return undefined;
  if (entry.state === "absent" || entry.state === "down") return { nic, family, overrides: `state: ${entry.state}` };
  if ((raw(entry)[`ipv${family}`] ?? undefined) === undefined) return undefined;
  const section = entry[`ipv${family}`];
  if (asTruth(section.enabled) === false) return { nic, family, overrides: "enabled: false" };
  if (asTruth(section.dhcp) === true) return { nic, family, overrides: "dhcp: true" };
  const { address } = raw(section);
  if (address === undefined || address === null) return { nic, family };
  const addresses = Array.isArray(address) ? section.address.map(({ ip }) => parseAddress(ip).value) : [undefined];
  return { nic, family, overrides: "an address list", addresses };
}
