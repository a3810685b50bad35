import type { System } from "../contract/system.ts";
import { capi } from "./in-cluster.ts";

/** Cluster API, whose IPAddressClaims are made at run time. */
export const capiSystem: System = {
  inCluster: ({ clusterApi: version }) => ({ integration: version === undefined ? undefined : capi(version) }),
};
