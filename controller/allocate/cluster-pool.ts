import type { Family, Pool } from "../../core/index.ts";
import type { Seen } from "../cache/seen.ts";

/** A pool as the controller takes it. */
export interface ClusterPool {
  readonly name: string;
  /** As messages call it. */
  readonly title: string;
  /** What defines it, and says how it stands: a NodeIPPool, or an object that an integration reads. */
  readonly object: Seen;
  /** Other objects that define it alike, as those have it who share it. */
  readonly alike?: readonly Seen[];
  /** In what another object that defines it says otherwise, if it is known. */
  readonly differsFrom?: (other: Seen) => string | undefined;
  /** As it stands there; undefined if it cannot be read. */
  readonly whole?: Pool;
  /** What the controller hands out, or, with authority Plan, what it only knows. Undefined if nothing may be taken from it. */
  readonly pool?: Pool;
  readonly problem?: PoolProblem;
  /** If it may have lines in a part of the record that cannot be read: the family of these. */
  readonly unread?: Family;
  /** Why the record has no room for another address of it; what it has given stays. */
  readonly noRoom?: string;
  /** Whether another pool has its name and is used: whatever names it means that one, and so do the lines on record. */
  readonly isShadowed?: boolean;
  /** Why another pool is not used because of this one, which is. */
  readonly overlappedBy?: string;
}

/** Why a pool cannot be used at all. */
export interface PoolProblem {
  readonly reason: "InvalidSpec" | "OverlappingIPPool" | "Terminating" | "UnsynchronizedIPPool";
  readonly message: string;
}
