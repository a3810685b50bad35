import { type Address, claimKey, IpamError } from "../../core/index.ts";
import type { Holdings } from "../contract/integration.ts";
import { claimOn, titleOfHost, type Unit } from "./infra.ts";
import { networksOf } from "./template.ts";

/** Finds the addresses of a host, by network. */
export type HeldBy = (unit: Unit, host: string) => ReadonlyMap<string, Address>;

/** Returns a lookup of the recorded addresses of a claim set's hosts. The lookup throws IpamError `stale` if the record lacks one. */
export function heldAddresses(holdings: Holdings): HeldBy {
  const recorded = recordedAddresses(holdings);
  return (unit, host) => {
    const addresses = recorded(unit, host);
    const missing = networksOf(unit.networkConfig).find((network) => !addresses.has(network));
    if (missing === undefined) return addresses;
    throw new IpamError("stale", `no address is recorded for ${titleOfHost(unit.name, host)} in network ${missing}`);
  };
}

/** The same, as far as they have any. */
export function recordedAddresses({ snapshot, set }: Holdings): HeldBy {
  const own = snapshot.allocations.filter((line) => line.set === set);
  const byClaim = new Map(own.map(({ claim, address }) => [claim, address]));
  return ({ name: unit, networkConfig }, host) =>
    new Map(
      networksOf(networkConfig).flatMap((network) => {
        const { owner, name } = claimOn(network, unit, host);
        const address = byClaim.get(claimKey(owner, name));
        return address === undefined ? [] : [[network, address] as const];
      }),
    );
}
