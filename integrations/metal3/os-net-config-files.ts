import type { SourceFile } from "../../schema/yaml.ts";
import { yamlOf } from "../../schema/yaml-text.ts";
import type { Holdings } from "../contract/integration.ts";
import { heldAddresses } from "./held-addresses.ts";
import type { Infra } from "./infra.ts";
import { mappingScript } from "./mac-mapping.ts";
import { osNetConfig } from "./os-net-config.ts";

/**
 * A configuration as files, a folder for each unit:
 *
 *     controllers/node-0.yaml       what os-net-config reads on this host
 *     controllers/mac-mapping.sh    writes there what its NICs are called, on any host of the unit
 *
 * Throws IpamError `stale` if the record lacks an address.
 */
export function osNetConfigFiles(infra: Infra, holdings: Holdings): SourceFile[] {
  const heldBy = heldAddresses(holdings);
  return infra.units.flatMap((unit) => [
    ...unit.hosts.map(({ name }) => ({
      path: `${unit.name}/${name}.yaml`,
      text: yamlOf(osNetConfig(infra, unit, heldBy(unit, name))),
    })),
    { path: `${unit.name}/mac-mapping.sh`, text: mappingScript(unit) },
  ]);
}
