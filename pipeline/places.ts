import { claimKey, type Issue, type Pending, placed } from "../core/index.ts";
import type { Desired } from "./desired.ts";

/**
 * Finds where to mend what keeps a claim from its address: a pool that is exhausted where its range stands, anything else where
 * the claim is asked for.
 */
export function placesOf({ placeOf, claims, facts }: Desired): (pending: Pending) => Pick<Issue, "path" | "at"> {
  if (placeOf !== undefined) return placeOf;
  return ({ claim, pool, code }) => {
    const inPool = facts.pools.get(pool)?.at?.(["range"]);
    const asker = claims.find(({ owner, name }) => claimKey(owner, name) === claim);
    return placed(code === "exhausted" ? (inPool ?? asker?.at?.()) : (asker?.at?.() ?? inPool));
  };
}
