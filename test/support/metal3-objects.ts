import type { Address } from "../../core/address.ts";
import { unwrap } from "../../core/errors.ts";
import { hostObjects, metaDataTemplate } from "../../integrations/metal3/host-objects.ts";
import type { Infra } from "../../integrations/metal3/infra.ts";
import { type MachineOptions, machineObjects, mappingSecret } from "../../integrations/metal3/machine-objects.ts";
import { annotatedHost, ipPool, poolTemplate } from "../../integrations/metal3/pool-objects.ts";
import { addressesOf, allocated } from "./metal3-infra.ts";

/** Every object of a configuration, in one of the three ways. */
export function objectsOfInfra(
  infra: Infra,
  way: MachineOptions["network"] | "hosts" | "pools",
  options: MachineOptions,
) {
  const all = allocated(infra);
  const held = infra.units.flatMap((unit) =>
    unit.hosts.map((host) => ({ unit, host, addresses: addressesOf(infra, unit, host.name, all) })),
  );
  if (way === "hosts")
    return [
      ...infra.units.map((unit) => metaDataTemplate(unit, options)),
      ...held.flatMap(({ unit, host, addresses }) => unwrap(hostObjects(infra, unit, host, addresses, options))),
    ];
  if (way === "pools") {
    const holders = (network: string) =>
      held.flatMap(({ unit, host, addresses }) => {
        const address = addresses.get(network) as Address;
        return address === undefined ? [] : [{ unit: unit.name, host: host.name, address }];
      });
    return [
      ...[...infra.networks].map(([name, network]) => ipPool(network, holders(name), options)),
      ...infra.units.map((unit) => {
        const first = held.find((one) => one.unit === unit)?.addresses ?? new Map();
        return unwrap(poolTemplate(infra, unit, first, options));
      }),
      ...held.map(({ unit, host }) => annotatedHost(unit, host, options)),
    ];
  }
  return [
    ...(way === "os-net-config" ? infra.units.map((unit) => mappingSecret(unit, options)) : []),
    ...held.flatMap(({ unit, host, addresses }) =>
      unwrap(machineObjects(infra, unit, host, addresses, { ...options, network: way })),
    ),
  ];
}
