import { address, type Claim, claimKey, IpamError, identityOf, type Plan, type Snapshot } from "../core/index.ts";
import type { SetInputs, SetState } from "./set-state.ts";

/*
 * A record outside of the stack, beside what the stack's state holds of a set: `held`, which is empty for a set that is
 * new, replaced or tainted.
 */

/**
 * The claims, where those that the stack has an address of and the record has not want that address: the record is a new
 * one, or was lost. Nobody moves because of that. Throws IpamError `in-use` if something would be forgotten.
 */
export function asHeld(
  claims: readonly Claim[],
  held: Partial<SetState>,
  { allocations, releasing }: Snapshot,
  { set, allowMove, moved }: SetInputs,
): readonly Claim[] {
  refuseForgetting(held);
  const own = [...allocations, ...releasing.filter((line) => line.set === set)];
  const known = new Set(own.map(identityOf));
  const renamed = new Set(moved.map(({ to }) => to));
  return claims.map((claim) => {
    const key = claimKey(claim.owner, claim.name);
    const had = held.addresses?.[claim.pool]?.[key];
    const isKnown = known.has(identityOf({ pool: claim.pool, claim: key })) || renamed.has(key);
    if (allowMove || isKnown || had === undefined || claim.wanted !== undefined) return claim;
    return { ...claim, wanted: address(had) };
  });
}

/** A record in the stack that becomes another one leaves nothing to release behind. */
function refuseForgetting({ releasing = {}, state }: Partial<SetState>): void {
  const count = Object.values(releasing).flatMap((claims) => Object.keys(claims)).length;
  if (state?.backend !== "stack" || count === 0) return;
  const message = `the stack has ${count} ${count === 1 ? "address" : "addresses"} to release`;
  throw new IpamError("in-use", [
    { path: ["state"], message, hint: "Release what `releasing` shows before the record moves." },
  ]);
}

/** A plan that gives up nothing on other pools: other programs may have a set of this name there. */
export function ofPools(made: Plan, pools: object): Plan {
  return { ...made, release: made.release.filter(({ allocation }) => allocation.pool in pools) };
}
