import type { System } from "../contract/system.ts";
import { cleanups } from "./cleanups.ts";
import { gates } from "./gate.ts";
import { fleetInCluster, nmstateInCluster } from "./in-cluster.ts";
import { nmstate } from "./plan.ts";

/** Nodes, by the policies of kubernetes-nmstate. The controller always serves them. */
export const nmstateSystem: System = {
  plan: nmstate,
  inCluster: ({ fleet = false }) => ({
    integration: fleet ? fleetInCluster : nmstateInCluster,
    reconcilers: [gates(fleet), cleanups],
  }),
};
