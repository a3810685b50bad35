import { asBag } from "../../schema/objects.ts";
import { raw } from "../../schema/shape.ts";
import type { Path } from "../../schema/yaml.ts";
import { reportedName } from "./nic-names.ts";
import { asListed, type Section } from "./objects.ts";
import { asNumber } from "./truth.ts";

/** Why a part of a reported interface cannot be believed. */
export interface Doubt {
  readonly message: string;
  /** Inside the interface. */
  readonly path: Path;
}

/**
 * Returns what is malformed in an interface of a NodeNetworkState, and so may hide an address. An interface has a name, and a
 * list of addresses has entries `{ip, prefix-length}`. One without a family is fine: ports have none.
 */
export function doubtsAbout(reported: unknown): Doubt[] {
  const nic = asBag(reported);
  const name = nic === undefined ? undefined : reportedName(nic);
  if (nic === undefined || name === undefined)
    return [{ message: "an interface must be a mapping with a name", path: [] }];
  return Object.entries(nic).flatMap(([field, value]): Doubt[] => {
    if (field === "ipv4" || field === "ipv6")
      return doubtsAboutFamily(value).map(({ message, path }) => ({
        message: `${field} of interface ${name} ${message}`,
        path: [field, ...path],
      }));
    return [];
  });
}

function doubtsAboutFamily(value: unknown): Doubt[] {
  const family = asBag(value);
  if (family === undefined) return [{ message: "must be a mapping", path: [] }];
  const { address, ...others } = family;
  if (Object.values(others).some(Array.isArray))
    return [{ message: "has a list that is not called address", path: [] }];
  if (address === undefined) return [];
  if (!Array.isArray(address)) return [{ message: "must have a list of addresses", path: ["address"] }];
  return address.flatMap((entry, i): Doubt[] => {
    const { ip, "prefix-length": length } = asListed(entry);
    if (typeof ip === "string" && asNumber(length) !== undefined) return [];
    return [{ message: "has an address that is not {ip, prefix-length}", path: ["address", i] }];
  });
}

/**
 * Returns whether a reported family lists all addresses of its NIC. nmstate reports one as on, without DHCP and without a list, where
 * NetworkManager's profile has addresses that the kernel does not have at the moment, as while a link is down: they come back.
 *
 *  the family                                 | lists them
 *  -------------------------------------------+-----------
 *  none                                       | no
 *  off, or by DHCP or a router                | yes
 *  on, with a list                            | yes
 *  on, with no list                           | no
 */
export function listsAddresses(family: Section): boolean {
  const { enabled, address, dhcp, autoconf } = raw(family);
  return address !== undefined || enabled === false || dhcp === true || autoconf === true;
}
