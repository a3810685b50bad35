import type { System } from "../contract/system.ts";
import { freedPods } from "./freed-pods.ts";
import { workloadsInCluster } from "./in-cluster.ts";
import { workload } from "./plan.ts";
import { podDelivery } from "./pod-delivery.ts";

/** The pods of StatefulSets, Deployments and others. */
export const workloadSystem: System = {
  plan: workload,
  inCluster: ({ workloadAddresses = false, freeTerminating = "never", freeTerminatingAfter = 60_000 }) => {
    if (!workloadAddresses) return {};
    const freed = freeTerminating === "never" ? [] : [freedPods(freeTerminating, freeTerminatingAfter)];
    return { integration: workloadsInCluster, reconcilers: [podDelivery, ...freed] };
  },
};
