import type { Place } from "../core/index.ts";

/** A cluster node: what selectors see of it. */
export interface ClusterNode {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** Given by name alone: nothing is known of its labels but the hostname, which is taken to be the name. */
  readonly bare: boolean;
  /** As a cluster has it; a list of nodes says neither. */
  readonly uid?: string;
  readonly isReady?: boolean;
  /** Where a list or a manifest has it. */
  readonly at?: Place;
}

export const hostnameLabel = "kubernetes.io/hostname";

/** Labels and annotations whose names begin so are ours. */
export const ownPrefix = "nodeippool.nmstate.io/";

/** On the policies that were rendered: whose they are. */
export const childLabels = { policy: `${ownPrefix}policy`, node: `${ownPrefix}node` };
