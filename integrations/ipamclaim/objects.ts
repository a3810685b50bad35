import { any, list, maybe, view } from "../../schema/shape.ts";
import { asMetadata } from "../contract/object-metadata.ts";

export const asIpamClaim = view({
  metadata: asMetadata,
  spec: view({ network: any, interface: any }),
  status: view({ ips: list(any), conditions: any }),
});

/** A network of a VM. */
const asVmNetwork = view({ name: any, multus: maybe(view({ networkName: any, default: any })) });

export const asInstanceSpec = view({
  networks: list(asVmNetwork),
  domain: view({ devices: view({ interfaces: list(view({ name: any, state: any })) }) }),
});

export const asInstance = view({
  metadata: asMetadata,
  spec: asInstanceSpec,
  status: view({ interfaces: list(view({ name: any })) }),
});

export const asVirtualMachine = view({
  metadata: asMetadata,
  spec: view({ template: view({ metadata: asMetadata, spec: asInstanceSpec }) }),
});

export const asNodeIPPool = view({ spec: view({ authority: any, clusterRange: any }) });
