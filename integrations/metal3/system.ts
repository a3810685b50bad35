import type { System } from "../contract/system.ts";
import { metal3InCluster } from "./in-cluster.ts";
import { metal3 } from "./plan.ts";

/** The bare-metal hosts of Metal3. */
export const metal3System: System = {
  plan: metal3,
  inCluster: ({ metal3: namespace }) => ({
    integration: namespace === undefined ? undefined : metal3InCluster(namespace),
  }),
};
