export type * from "../nmstate/desired-state.ts";
export type * from "../nmstate/interface.ts";
export type * from "../nmstate/interface-sections.ts";
export type { AddressClaim } from "./address-claim.ts";
export { AddressPlan, type AddressPlanProps, type LoadedState, loadState } from "./address-plan.ts";
export type { DesiredState, Interface, Ipv4, Ipv6 } from "./desired-state.ts";
export { NodeIPPool, type NodeIPPoolProps } from "./node-ip-pool.ts";
export { NodeNetworkPolicy, type NodeNetworkPolicyProps, type PolicyMetadata } from "./node-network-policy.ts";
export { type NodeProps, Nodes } from "./nodes.ts";
