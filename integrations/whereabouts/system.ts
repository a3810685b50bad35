import type { System } from "../contract/system.ts";
import { slicesInCluster } from "./in-cluster.ts";
import { whereabouts } from "./plan.ts";

/** Slices of networks, one for each node, from which whereabouts gives pods their addresses. */
export const whereaboutsSystem: System = {
  plan: whereabouts,
  inCluster: ({ nodeSlices: namespace }) => ({
    integration: namespace === undefined ? undefined : slicesInCluster(namespace),
  }),
};
