import type { Authority, Pool } from "../core/index.ts";
import type { ClusterNode } from "../schema/node.ts";
import type { Bag } from "../schema/objects.ts";

/** What an integration is told of the world besides its own objects. */
export interface Facts {
  readonly nodes: readonly ClusterNode[];
  readonly pools: ReadonlyMap<string, Pool>;
  /** In a cluster: the uid of each NodeIPPool. */
  readonly poolUids?: ReadonlyMap<string, string>;
  /** In a cluster: claims, by their keys, for whose addresses hosts answer that are none of its own. */
  readonly conflicting?: ReadonlySet<string>;
  /** In a cluster: NodeIPPools that are there, and of which nothing may be taken now. `isPlanned`: the controller gives none of it in any case. */
  readonly unsound?: ReadonlyMap<string, { readonly why: string; readonly isPlanned: boolean }>;
  /** In a cluster: objects that ask for all owners and cannot be served now, such as networks, each with the reason. */
  readonly unserved?: ReadonlyMap<Bag, string>;
  /** Who asks: what a pool of the other authority gives is not decided here. Default `Plan`. */
  readonly authority?: Authority;
}
