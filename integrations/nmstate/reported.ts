import { asBag } from "../../schema/objects.ts";
import type { Path } from "../../schema/yaml.ts";
import { reportedName } from "./nic-names.ts";
import { asNumber } from "./truth.ts";

/** Why a part of a reported interface cannot be believed. */
export interface Doubt {
  readonly message: string;
  /** Inside the interface. */
  readonly path: Path;
}

/**
 * What keeps an interface of a NodeNetworkState from saying which addresses it has not. An interface has a name, and a
 * family that is on (and waits for no DHCP or router) has a list of `{ip, prefix-length}`. One without a family is fine:
 * ports have none.
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
  const { enabled, address, dhcp, autoconf, ...others } = family;
  if (Object.values(others).some(Array.isArray))
    return [{ message: "has a list that is not called address", path: [] }];
  if (address === undefined) {
    const mayBeEmpty = enabled === false || dhcp === true || autoconf === true;
    return mayBeEmpty ? [] : [{ message: "is on, but has no list of addresses", path: [] }];
  }
  if (!Array.isArray(address)) return [{ message: "must have a list of addresses", path: ["address"] }];
  return address.flatMap((entry, i): Doubt[] => {
    const { ip, "prefix-length": length } = asBag(entry) ?? {};
    if (typeof ip === "string" && asNumber(length) !== undefined) return [];
    return [{ message: "has an address that is not {ip, prefix-length}", path: ["address", i] }];
  });
}
