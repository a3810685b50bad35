import { any, list, type Of, view } from "../../schema/shape.ts";

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
