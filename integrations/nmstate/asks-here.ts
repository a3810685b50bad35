import { isPlanned } from "../../core/index.ts";
import type { Facts } from "../contract/integration.ts";
import type { Policy } from "./policy.ts";

/**
 * Returns whether a policy asks the controller for addresses. What a plan renders has no capture of a pool left, so one whose pools
 * are all missing asks the controller, too.
 *
 *  its pools in the cluster  | asks
 *  --------------------------+-----
 *  any of authority Cluster  | yes
 *  any of authority Plan     | no
 *  none                      | yes
 */
export function asksHere({ captures }: Policy, { pools, unsound }: Facts): boolean {
  const arePlanned = [...captures.values()].map(({ pool: name }) => {
    const pool = pools.get(name);
    return pool === undefined ? unsound?.get(name)?.isPlanned : isPlanned(pool);
  });
  return arePlanned.includes(false) || (captures.size > 0 && !arePlanned.includes(true));
}
