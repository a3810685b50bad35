import { any, view } from "../../schema/shape.ts";
import { asMetadata } from "../contract/object-metadata.ts";

/** The pool of an address, in a claim and in an IPAddress. */
const asPoolRef = view({ apiGroup: any, kind: any, name: any });

export const asAddressClaim = view({ metadata: asMetadata, spec: view({ poolRef: asPoolRef, clusterName: any }) });

export const asAddress = view({
  metadata: asMetadata,
  spec: view({ claimRef: view({ name: any }), poolRef: asPoolRef, address: any, prefix: any, gateway: any }),
});

export const asCluster = view({ spec: view({ paused: any }) });
