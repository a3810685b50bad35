import type { ClusterApiVersion } from "./cluster-api.ts";
import type { ClusterIntegration } from "./cluster-integration.ts";
import type { FreeingNodes } from "./freeing-nodes.ts";
import type { Integration } from "./integration.ts";
import type { Reconciler } from "./reconciler.ts";

/** A foreign system: a folder beside this one, and a line in `pipeline/integrations.ts`. */
export interface System {
  /** What every surface knows of it; absent where all that asks for addresses is made at run time. */
  readonly plan?: Integration;
  /** What the controller does for it, as it is asked to; absent where that is nothing. */
  inCluster?(asked: AskedInCluster): Served;
}

/** What the controller does for one system. */
export interface Served {
  /** Absent where it decides no addresses. */
  readonly integration?: ClusterIntegration | undefined;
  /** What it sees to besides. */
  readonly reconcilers?: readonly Reconciler[];
}

/** What the controller is asked to serve besides the policies of nodes. */
export interface AskedInCluster {
  /** One policy for all nodes of a policy, where it can have that form. */
  readonly fleet?: boolean | undefined;
  /** The claims of Cluster API, at this version. */
  readonly clusterApi?: ClusterApiVersion | undefined;
  /** The bare-metal hosts of this namespace. */
  readonly metal3?: string | undefined;
  /** Networks with node slices, whose NodeSlicePools are in this namespace. */
  readonly nodeSlices?: string | undefined;
  /** IPAMClaims on networks that take addresses from NodeIPPools. */
  readonly ipamClaims?: boolean | undefined;
  /** The lives of the IPAMClaims of VMs. */
  readonly vmClaims?: boolean | undefined;
  /** The pods of VMs: their addresses are written into them. */
  readonly vmAddresses?: boolean | undefined;
  /** The pods of StatefulSets, Deployments and others: addresses for them, in a ConfigMap each, which are written into them. */
  readonly workloadAddresses?: boolean | undefined;
  /** Of these, pods that never end: on which nodes their addresses are free, so many milliseconds after they should have. */
  readonly freeTerminating?: FreeingNodes | undefined;
  readonly freeTerminatingAfter?: number | undefined;
}
