export type * from "../integrations/nmstate/desired-state.ts";
export type * from "../integrations/nmstate/interface.ts";
export type * from "../integrations/nmstate/interface-sections.ts";
export { AllocationSet } from "./allocation-set.ts";
export { Manifests, type ManifestsArgs } from "./manifests.ts";
export { NodeIPPool, type NodeIPPoolArgs } from "./node-ip-pool.ts";
export {
  type Inputs,
  type MetadataArgs,
  type NodeArgs,
  NodeNetworkPolicy,
  type NodeNetworkPolicyArgs,
} from "./node-network-policy.ts";
export type { AllocationSetArgs, ClaimArgs } from "./set-args.ts";
export type { Addresses, StateArgs } from "./set-state.ts";
