import type { System } from "../contract/system.ts";
import { ipamClaimsAndPods } from "./claims-and-pods.ts";
import { ipamClaimsInCluster } from "./in-cluster.ts";
import { ipamclaim } from "./plan.ts";
import { virtualMachines } from "./vm-in-cluster.ts";

/** VMs of KubeVirt, which keep their addresses in IPAMClaims. */
export const ipamClaimSystem: System = {
  plan: ipamclaim,
  inCluster: ({ ipamClaims = false, vmClaims = false, vmAddresses = false }) => ({
    integration: !ipamClaims ? undefined : vmAddresses ? ipamClaimsAndPods : ipamClaimsInCluster,
    reconcilers: vmClaims || vmAddresses ? [virtualMachines({ claims: vmClaims, addresses: vmAddresses })] : [],
  }),
};
