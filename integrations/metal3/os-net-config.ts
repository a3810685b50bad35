import type { Address } from "../../core/index.ts";
import { asList } from "../../schema/objects.ts";
import type { Infra, Unit } from "./infra.ts";
import { fillTemplates } from "./template.ts";

/** What os-net-config reads on a host. */
export interface OsNetConfig {
  readonly network_config: readonly unknown[];
}

/** Returns the configuration of a unit for one host that has these addresses, by network. */
export function osNetConfig(
  { networks }: Pick<Infra, "networks">,
  { networkConfig }: Pick<Unit, "networkConfig">,
  addresses: ReadonlyMap<string, Address>,
): OsNetConfig {
  return { network_config: asList(fillTemplates(networkConfig, networks, addresses)) };
}
