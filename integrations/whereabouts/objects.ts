import { any, list, mapping, type Of, view } from "../../schema/shape.ts";
import { asMetadata } from "../contract/object-metadata.ts";

const range = { range: any, range_start: any, range_end: any, exclude: any };

/** One range of a network of whereabouts. */
export const asIpRange = view(range);

/** The IPAM configuration of a plugin of CNI, as whereabouts has it. */
export const asIpam = view({
  ...{ type: any, node_slice_size: any, gateway: any, network_name: any },
  ...range,
  ipRanges: list(asIpRange),
});

export type Ipam = Of<typeof asIpam>;

/** The slices of the nodes of a network. */
export const asNodeSlicePool = view({
  metadata: asMetadata,
  spec: view({ range: any, sliceSize: any }),
  status: view({ allocations: list(view({ nodeName: any, sliceRange: any })) }),
});

/** Which pod has which address of a range. */
export const asIPPool = view({ metadata: asMetadata, spec: view({ range: any, allocations: mapping }) });
