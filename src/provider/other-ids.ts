import {
  type Allocation,
  formatAddress,
  IpamError,
  type Issue,
  identityOf,
  nameOfKey,
  ownerOfKey,
  type Plan,
} from "../core/index.ts";
import { type ClaimInput, type Previous, type SetState, statesOf, unknown } from "./set-state.ts";

/**
 * Throws IpamError `in-use` where an owner would get another address because its claim has an `id` now, or has none or
 * another one any more: it is the same machine. Of one whose name is not known yet, nobody can tell.
 */
export function refuseOtherIds({ assign, release }: Plan, claims: readonly ClaimInput[], previous: Previous): void {
  const before: NonNullable<SetState["owners"]> = Object.assign({}, ...statesOf(previous).map(({ owners }) => owners));
  const lost = new Map(
    release.map(({ allocation: line }) => [ofOwner(line, before[line.claim] ?? ownerOfKey(line.claim)), line]),
  );
  const fresh = new Set(assign.map(identityOf));
  const issues = claims.flatMap(({ key, pool, owner = ownerOfKey(key) }, i): Issue[] => {
    const line = { pool, claim: key };
    const was = owner === unknown || !fresh.has(identityOf(line)) ? undefined : lost.get(ofOwner(line, owner));
    if (was === undefined) return [];
    const message = `${key} of pool ${pool}: ${owner} would lose ${formatAddress(was.address)}, which it has as ${was.claim}`;
    const hint = `Declare that this is the same claim: moved: [{ from: "${was.claim}", to: "${key}" }], or allowMove: true`;
    return [{ path: ["claims", i], message, hint }];
  });
  if (issues.length > 0) throw new IpamError("in-use", issues);
}

/** The claim of this name that an owner has of a pool. */
function ofOwner({ pool, claim }: Pick<Allocation, "pool" | "claim">, owner: string): string {
  return identityOf({ pool, claim: `${owner}/${nameOfKey(claim)}` });
}
