import { any, list, mapping, maybe, view } from "../../schema/shape.ts";
import { asMetadata } from "../contract/object-metadata.ts";

export const asBareMetalHost = view({
  metadata: asMetadata,
  spec: view({
    networkData: maybe(view({ name: any, namespace: any })),
    preprovisioningNetworkDataName: any,
    automatedCleaningMode: any,
  }),
  status: view({ provisioning: view({ state: any }) }),
});

/** What is in the data of a ConfigMap or a Secret. */
export const asData = view({ data: mapping, stringData: mapping });

/** Network data, as cloud-init reads it. */
export const asNetworkData = view({
  networks: list(view({ ip_address: any, link: any, network_id: any, netmask: any })),
});

/** An entry of addresses of os-net-config. */
export const asDeviceAddress = view({ ip_netmask: any });

export const asKubeadmSpec = view({ files: list(any), preKubeadmCommands: list(any) });
