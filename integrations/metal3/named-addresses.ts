import { type Address, parseAddress } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { any, mapping, view } from "../../schema/shape.ts";
import { controllers } from "./infra.ts";

const asNamed = view({ infra: view({ networks: mapping }), nodepools: mapping });
const asNetwork = view({ gateway: any, dnsServers: any });
const asUnit = view({ networkConfig: any });

/**
 * The addresses that a configuration names for something other than hosts: gateways and DNS servers of its networks, and what is
 * written out in the configuration of NICs, a `next_hop` for example. No host gets one.
 */
export function namedAddresses(document: Bag): ReadonlySet<Address> {
  const networks = Object.values(asNamed(document).infra.networks).map((network) => asNetwork(network));
  const units = [document[controllers], ...Object.values(asNamed(document).nodepools)];
  return new Set([
    ...networks.flatMap(({ gateway, dnsServers }) => addressesIn([gateway, dnsServers])),
    ...units.flatMap((unit) => addressesIn(asUnit(unit).networkConfig)),
  ]);
}

function addressesIn(value: unknown): Address[] {
  const address = typeof value === "string" ? parseAddress(value).value : undefined;
  if (address !== undefined) return [address];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(addressesIn) : [];
}
