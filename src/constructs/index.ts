export type { AddressClaim } from "./address-claim.ts";
export { AddressPlan, type AddressPlanProps, type LoadedState, loadState } from "./address-plan.ts";
export type * from "./desired-state.ts";
export type * from "./interface.ts";
export type * from "./interface-sections.ts";
export { NodeIPPool, type NodeIPPoolProps } from "./node-ip-pool.ts";
export { NodeNetworkPolicy, type NodeNetworkPolicyProps, type PolicyMetadata } from "./node-network-policy.ts";
export { type NodeProps, Nodes } from "./nodes.ts";
