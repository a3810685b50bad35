import { any, view } from "../../schema/shape.ts";
import { asMetadata } from "../contract/object-metadata.ts";

/** Where an address is from, as both kinds say it. */
const asPoolRef = view({ apiGroup: any, kind: any, name: any });

export const asAddressClaim = view({ metadata: asMetadata, spec: view({ poolRef: asPoolRef, clusterName: any }) });

export const asAddress = view({
  metadata: asMetadata,
  spec: view({ claimRef: view({ name: any }), poolRef: asPoolRef, address: any, prefix: any, gateway: any }),
});

export const asCluster = view({ spec: view({ paused: any }) });
