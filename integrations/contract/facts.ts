import type { Authority, Family, Pool } from "../../core/index.ts";
import type { ClusterNode } from "../../schema/node.ts";
import type { Bag } from "../../schema/objects.ts";

/** What an integration gets besides its own objects. */
export interface Facts {
  readonly nodes: readonly ClusterNode[];
  readonly pools: ReadonlyMap<string, Pool>;
  /** In a cluster: the uid of each NodeIPPool. */
  readonly poolUids?: ReadonlyMap<string, string>;
  /** In a cluster: the keys of claims for whose addresses unknown hosts answer. */
  readonly conflicting?: ReadonlySet<string>;
  /** In a cluster: NodeIPPools that exist, and give nothing now. */
  readonly unsound?: ReadonlyMap<string, UnsoundPool>;
  /** In a cluster: objects that ask for all owners and cannot be served now, such as networks, each with the reason. */
  readonly unserved?: ReadonlyMap<Bag, string>;
  /** In a cluster: finds objects by their keys. */
  readonly find?: (key: string) => Bag | undefined;
  /** In a cluster: all objects of a kind, as keys have it. */
  readonly allOf?: (kind: string) => readonly Bag[];
  /** The authority that decides: pools of the other one are not decided here. Default `Plan`. */
  readonly authority?: Authority;
}

/** A NodeIPPool that gives nothing now. */
export interface UnsoundPool {
  readonly why: string;
  /** The controller allocates nothing of it in any case. */
  readonly isPlanned: boolean;
  /** The owners that have addresses of it on record. */
  readonly owners: ReadonlySet<string>;
  /** The family of addresses that others may have, if a part of the record cannot be read. */
  readonly unread?: Family;
  /** The pool as it is defined, if that can be read. */
  readonly whole?: Pool;
}
