import { type Address, formatAddress, IpamError } from "../core/index.ts";
import type { Check } from "./next-step.ts";
import { addressBeside, type Nic, ownAddresses } from "./nics.ts";

/** The NIC of the pod network is the cluster's. */
const unasked = ["lo", "eth0"];

/** What is to be looked at. */
export interface CheckScope {
  /** None: all addresses of secondary NICs. */
  readonly addresses: readonly Address[];
  readonly gateways: readonly Address[];
  readonly conflicts: boolean;
  /** Whether there may be nothing to check: a policy that adds the container to any pod does not know its NICs. */
  readonly mayBeNone: boolean;
}

/**
 * The checks of a pod. Throws IpamError `invalid` where there is nothing to check: nothing found would look like good news.
 *
 *  addresses named | NICs                              | looked at for conflicts
 *  ----------------+-----------------------------------+---------------------------
 *  none            | all but lo and eth0, the first    | all of their addresses; where there are none, and there
 *                  |  NIC of every pod                 |  may be none, nothing
 *  some            | those that have them              | those
 *
 * A gateway is asked on each of these NICs that has an address in its subnet.
 */
export function checksOf(nics: readonly Nic[], { addresses, gateways, conflicts, mayBeNone }: CheckScope): Check[] {
  for (const wanted of addresses)
    if (!nics.some((nic) => has(nic, wanted)))
      throw new IpamError("invalid", `no NIC has ${formatAddress(wanted)}${foundOn(nics)}`);
  const isMeant = (nic: Nic, address: Address) =>
    addresses.length === 0 ? !unasked.includes(nic.name) : addresses.includes(address);
  const own = nics.flatMap((nic) =>
    ownAddresses(nic)
      .filter(({ address }) => isMeant(nic, address))
      .map(({ address, dadFailed }): Check => {
        return { kind: "conflict", address: formatAddress(address), nic: nic.name, dadFailed };
      }),
  );
  const chosen = nics.filter(({ name }) => own.some(({ nic }) => nic === name));
  if (own.length === 0 && mayBeNone) return [];
  if (own.length === 0) throw new IpamError("invalid", `no NIC but lo and eth0 has an address${foundOn(nics)}`);
  return [...(conflicts ? own : []), ...gateways.flatMap((gateway) => checksOfGateway(gateway, chosen))];
}

function checksOfGateway(gateway: Address, nics: readonly Nic[]): Check[] {
  const address = formatAddress(gateway);
  const near = nics.filter((nic) => addressBeside(nic, gateway) !== undefined);
  if (near.length === 0) throw new IpamError("invalid", `gateway ${address} is in no subnet${foundOn(nics)}`);
  return near.map(({ name }) => ({ kind: "gateway", address, nic: name }));
}

function has(nic: Nic, wanted: Address): boolean {
  return ownAddresses(nic).some(({ address }) => address === wanted);
}

function foundOn(nics: readonly Nic[]): string {
  const found = nics.flatMap((nic) =>
    ownAddresses(nic).map(({ address, prefix }) => `${nic.name} ${formatAddress(address)}/${prefix.length}`),
  );
  return `; found ${found.length === 0 ? "none" : found.join(", ")}`;
}
