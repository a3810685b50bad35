import type { PoolRules } from "./selection/pool-rules.ts";

/** First and last address, as text. */
export interface RangeText {
  readonly start: string;
  readonly end: string;
}

/** An address kept for an owner, or, without one, kept away from everybody. */
export interface ReservationSpec {
  readonly address: string;
  /** `Kind/name` or `Kind/namespace:name`, for example `Node/node05`. */
  readonly owner?: string;
  /** The name of the owner's claim (`POLICY/CAPTURE` of a node), where it has several claims on this pool. */
  readonly claim?: string;
  readonly description?: string;
}

/** What may allocate from a pool: tools that plan (lockfile, stack), or the controller in the cluster. */
export type Authority = "Plan" | "Cluster";

/** Which free address a new claim gets; see `picker` in core/plan/give.ts. */
export type AllocationOrder = "Lowest" | "Hashed" | "Next";

/** `spec` of a NodeIPPool, word for word; deploy/crd/ describes each field. */
export interface PoolSpec extends PoolRules {
  readonly range: {
    readonly cidr: string;
    /** Offset 0. Default: the first address that a host may have. */
    readonly start?: string;
    /** Default: the last address that a host may have. */
    readonly end?: string;
    /** Addresses or prefixes that are never handed out. */
    readonly exclude?: readonly string[];
  };
  readonly additionalRanges?: readonly RangeText[];
  readonly gateway?: string;
  readonly dnsServers?: readonly string[];
  /** The scope in which addresses are unique (one L2 or VRF). Default `default`. */
  readonly network?: string;
  readonly reservations?: readonly ReservationSpec[];
  readonly authority?: Authority;
  /** The part that only the controller hands out. */
  readonly clusterRange?: RangeText;
  readonly reclaimPolicy?: "Delete" | "Retain";
  /** For at least so long the controller keeps an address that nobody claims any more. */
  readonly addressReuseGracePeriodSeconds?: number;
  /** The prefix length of what an owner gets, for example 22. Default: one address. */
  readonly blockLength?: number;
  /** Which free address, or block, a new claim gets. Default `Lowest`. */
  readonly allocationOrder?: AllocationOrder;
  /** IPv4: also number and hand out addresses whose last octet is 0 or 255. */
  readonly allowZeroAnd255?: boolean;
}
