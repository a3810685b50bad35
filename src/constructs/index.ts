export type * from "../nmstate/desired-state.ts";
export type { AddressClaim } from "./address-claim.ts";
export { AddressPlan, type AddressPlanProps, type LoadedState, loadState } from "./address-plan.ts";
export { NodeIPPool, type NodeIPPoolProps } from "./node-ip-pool.ts";
export { NodeNetworkPolicy, type NodeNetworkPolicyProps } from "./node-network-policy.ts";
export { type NodeProps, Nodes } from "./nodes.ts";
