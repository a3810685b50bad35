import type * as pulumi from "@pulumi/pulumi";
import type { Moved, PoolSpec } from "../core/index.ts";
import type { StateArgs } from "./set-state.ts";

/** One address for one owner, from one pool. */
export interface ClaimArgs {
  /** The owner of the address, as on every other surface: a Node by its name in the cluster. */
  readonly owner: { readonly kind: string; readonly namespace?: string; readonly name: pulumi.Input<string> };
  /** Tells the claims of one owner apart. The claim key is `Kind/name/<this>`. */
  readonly name: string;
  /** Name of one of the set's pools. */
  readonly pool: string;
  /**
   * `Kind/name` in place of the owner in the claim key; needed where the owner's name is not known before the
   * update. Addresses are planned by it, so that they are known in preview even then.
   */
  readonly id?: string;
  /** An address of the pool that the owner must have, instead of the lowest free one. */
  readonly address?: pulumi.Input<string>;
  /** The NIC that gets the address; it is recorded. */
  readonly interface?: string;
}

/** Pools and claims of one set. */
export interface AllocationSetArgs {
  /** The pools, by name, each as `spec` of a NodeIPPool. No other set of the program may have one of them. */
  readonly pools: { readonly [name: string]: PoolSpec };
  /** Everything that is claimed of these pools. What is claimed no more becomes `releasing`. */
  readonly claims: pulumi.Input<readonly ClaimArgs[]>;
  /** Where the record is. Default: in the stack, which then is the only one to use these pools. */
  readonly state?: StateArgs;
  /**
   * The claim set in a record that is shared: whoever else writes there has another one. Default `default`; to be named
   * with the backend `kubernetes`.
   */
  readonly set?: string;
  /**
   * Claim keys, owners (`Node/a`) or addresses among `releasing` that are off their nodes: others may have them from the next update
   * on. Only with the backend `stack`.
   */
  readonly release?: readonly string[];
  /** Renames of claims, claim key to claim key: the address stays. One may go on from where another one ends. */
  readonly moved?: readonly Moved[];
  /** Let owners lose an address and get another one of the same pool. Default false. */
  readonly allowMove?: boolean;
  /**
   * Let an update release all addresses of a claim name, of a pool or of the set, or more than a fifth of them (and more
   * than three). Default false, because that is probably a wrong list of nodes. With the backend
   * `lockfile`: `nodeippool allocate --confirm`.
   */
  readonly confirmRelease?: boolean;
}
