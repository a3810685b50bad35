import type { Claim, Pool } from "../../core/index.ts";
import { claimOn, type Infra } from "./infra.ts";
import { networksOf } from "./template.ts";

/** Returns a pool for each network. */
export function poolsOf({ networks }: Infra): Pool[] {
  return [...networks.values()].map(({ pool }) => pool);
}

/** One claim for each host and network that its unit's configuration takes an address of. */
export function infraClaims({ units }: Infra): Claim[] {
  return units.flatMap(({ name: unit, networkConfig, hosts }) => {
    const networks = networksOf(networkConfig);
    return hosts.flatMap((host) => networks.map((network) => claimOn(network, unit, host.name)));
  });
}
