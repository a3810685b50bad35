import type { Authority, Family, Pool } from "../../core/index.ts";
import type { ClusterNode } from "../../schema/node.ts";
import type { Bag } from "../../schema/objects.ts";

/** What an integration is told of the world besides its own objects. */
export interface Facts {
  readonly nodes: readonly ClusterNode[];
  readonly pools: ReadonlyMap<string, Pool>;
  /** In a cluster: the uid of each NodeIPPool. */
  readonly poolUids?: ReadonlyMap<string, string>;
  /** In a cluster: claims, by their keys, for whose addresses hosts answer that are none of its own. */
  readonly conflicting?: ReadonlySet<string>;
  /** In a cluster: NodeIPPools that are there, and of which nothing may be taken now. */
  readonly unsound?: ReadonlyMap<string, UnsoundPool>;
  /** In a cluster: objects that ask for all owners and cannot be served now, such as networks, each with the reason. */
  readonly unserved?: ReadonlyMap<Bag, string>;
  /** In a cluster: finds objects by their keys. */
  readonly find?: (key: string) => Bag | undefined;
  /** In a cluster: all objects of a kind, as keys have it. */
  readonly allOf?: (kind: string) => readonly Bag[];
  /** Who asks: what a pool of the other authority gives is not decided here. Default `Plan`. */
  readonly authority?: Authority;
}

/** A NodeIPPool of which nothing may be taken now. */
export interface UnsoundPool {
  readonly why: string;
  /** The controller allocates nothing of it in any case. */
  readonly isPlanned: boolean;
  /** The owners that have addresses of it on record. */
  readonly owners: ReadonlySet<string>;
  /** If there may be others, because a part of the record cannot be read: the family of their addresses. */
  readonly unread?: Family;
  /** As it is defined, if that can be read. */
  readonly whole?: Pool;
}
