import type { Allocation } from "../allocation.ts";
import type { IpamCode, Remedy } from "../errors.ts";

/** A line that stays. `was` is what the record says now, where the plan rewrites it (renamed, restored, another NIC or set). */
export interface Kept {
  readonly allocation: Allocation;
  readonly was?: Allocation;
  /** It is releasing, and stays so. Absent for live lines. */
  readonly releasing?: boolean;
}

/** A line that goes: from live to releasing, or from releasing (or live, on a human's word) to free. */
export interface Release {
  readonly allocation: Allocation;
  readonly to: "releasing" | "free";
}

/** A claim that gets no address by this plan, and why. */
export interface Pending {
  readonly claim: string;
  readonly pool: string;
  readonly code: Extract<IpamCode, "exhausted" | "in-use" | "out-of-range" | "invalid">;
  readonly message: string;
  readonly hint?: string;
  readonly remedy?: Remedy;
}

/** What a plan does with the lines of one pool. */
export interface Changes {
  readonly assign: readonly Allocation[];
  readonly keep: readonly Kept[];
  readonly release: readonly Release[];
  readonly pending: readonly Pending[];
}

export const noChanges: Changes = { assign: [], keep: [], release: [], pending: [] };
