import { any, list, mapping, maybe, type Of, view } from "../../schema/shape.ts";
import { asMetadata } from "../contract/object-metadata.ts";

/** An item of an address list. */
export const asListed = view({ ip: any, "prefix-length": any });

/** IPv4 or IPv6 of a NIC. */
export const asFamily = view({ enabled: any, dhcp: any, autoconf: any, "auto-dns": any, address: list(asListed) });

/** The ports of a bond or a bridge: names, or mappings with one. nmstate takes either word. */
export const asPorts = view({ port: list(any), ports: list(any), "ports-config": list(any) });

/** A port of a bridge may be a bond. */
export const asPort = view({ name: any, bond: any, "link-aggregation": any });

/** A NIC, in a desired state or in a report. */
export const asNic = view({
  ...{ name: any, type: any, state: any, identifier: any, controller: any, ipv4: asFamily, ipv6: asFamily },
  ...{ "profile-name": any, "mac-address": any, "permanent-mac-address": any, "pci-address": any },
  "alt-names": list(view({ name: any })),
  ethernet: view({ "sr-iov": view({ vfs: list(view({ id: any, "iface-name": any })) }) }),
  ...{ bridge: asPorts, bond: any, "link-aggregation": any, hsr: view({ port1: any, port2: any }) },
});

export const asDesiredState = view({
  interfaces: list(asNic),
  routes: view({ config: any }),
  "dns-resolver": view({ config: maybe(view({ server: list(any), search: list(any), options: list(any) })) }),
});

export const asPolicy = view({
  metadata: asMetadata,
  spec: view({ nodeSelector: mapping, capture: maybe(mapping), desiredState: any, maxUnavailable: any }),
  status: view({ conditions: any, unavailableNodeCountMap: mapping }),
});

export const asEnactment = view({
  status: view({ policyGeneration: any, conditions: any, capturedStates: mapping, desiredState: any, isDesired: any }),
});

/** What an enactment has captured by one name. */
export const asCaptured = view({ state: asDesiredState });

export const asReport = view({
  metadata: asMetadata,
  status: view({
    currentState: view({ interfaces: list(any) }),
    conditions: list(view({ type: any, status: any })),
    lastSuccessfulUpdateTime: any,
  }),
});

export type Nic = Of<typeof asNic>;
export type Section = Of<typeof asFamily>;
