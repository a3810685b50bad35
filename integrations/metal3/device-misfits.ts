import {
  type Address,
  contains,
  familyOf,
  formatAddress,
  type Issue,
  parsePrefix,
  unwrap,
  whyNoHost,
} from "../../core/index.ts";
import { type Device, type DeviceRoute, flatDevices } from "./device.ts";

/**
 * What no host can have, each with its path:
 *
 *  what                                       | is wrong where
 *  -------------------------------------------+------------------------------------------------------------------
 *  mtu                                        | it is no whole number from 68 to 65535; below 1280 beside IPv6
 *  two default routes of one family           | they have one table and one metric
 *  a next hop that is neither link-local      | no address of these devices is in its subnet, or it is the network or
 *   nor the link itself                       |  broadcast address of that
 */
export function misfitsOf(devices: readonly Device[]): Issue[] {
  const all = flatDevices(devices);
  const routes = all.flatMap((device) => device.routes);
  const subnets = all.flatMap(({ addresses }) => addresses.map(({ prefix }) => prefix));
  return [
    ...all.flatMap(wrongMtu),
    ...twoDefaults(routes),
    ...routes.flatMap(({ gateway, fields, path }): Issue[] => {
      if (gateway === "self") return [];
      const subnet = [linkLocal, ...subnets].find((one) => contains([one], gateway));
      const hop = "next_hop" in fields ? "next_hop" : "nexthop";
      const strange = `no address here is in a network with the next hop ${formatAddress(gateway)}`;
      const message = subnet === undefined ? strange : whyNoHost(subnet, gateway);
      return message === undefined ? [] : [{ message, path: [...path, hop] }];
    }),
  ];
}

const linkLocal = unwrap(parsePrefix("fe80::/10"));

function wrongMtu({ fields: { mtu }, addresses, path }: Device): Issue[] {
  if (mtu === undefined) return [];
  const hasIPv6 = addresses.some(({ address }) => familyOf(address) === 6);
  const least = hasIPv6 ? 1280 : 68;
  if (typeof mtu === "number" && Number.isInteger(mtu) && mtu >= least && mtu <= 65535) return [];
  const message = `mtu is a whole number from ${least}${hasIPv6 ? " (IPv6)" : ""} to 65535, not ${mtu}`;
  return [{ message, path: [...path, "mtu"] }];
}

function twoDefaults(routes: readonly DeviceRoute[]): Issue[] {
  const defaults = routes.flatMap(({ destination, gateway, fields, path }) =>
    destination === undefined && gateway !== "self" ? [{ gateway, fields, path }] : [],
  );
  const groups = Map.groupBy(defaults, ({ gateway, fields: { table, metric } }) =>
    [familyOf(gateway), table, metric].join(" "),
  );
  return [...groups.values()].flatMap(([first, ...others]) =>
    others.map(({ gateway, path }) => ({ message: secondDefault(gateway, first?.gateway), path, hint })),
  );
}

function secondDefault(gateway: Address, first: Address | undefined): string {
  const other = first === undefined ? "" : ` over ${formatAddress(first)}`;
  return `there is a default route of IPv${familyOf(gateway)} already${other}`;
}

const hint = "A host has one: leave the other out, or let it have a destination.";
