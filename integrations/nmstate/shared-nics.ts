import {
  type Allocation,
  type Claim,
  claimKey,
  comersOf,
  familyOf,
  formatOwner,
  IpamError,
  type Issue,
  identityOf,
  isOfOtherSet,
  type Pool,
  policyOf,
  policyOfKey,
  toSetRemedy,
} from "../../core/index.ts";
import { addressList, listOf } from "./address-list.ts";

/**
 * nmstate replaces the address list of a NIC as a whole, so two policies that both give a node's NIC addresses of
 * one family would wipe each other's, also where the record has the other one for another claim set. What an import
 * recorded is nobody's yet: a plan adopts it. Throws `invalid` for each such pair.
 */
export function refuseSharedNics(
  claims: readonly Claim[],
  pools: readonly Pool[],
  recorded: readonly Allocation[] = [],
  set = "default",
): void {
  const others = recorded.filter((line) => isOfOtherSet(line, set));
  const families = new Map(pools.map((pool) => [pool.name, familyOf(pool.prefix.first)]));
  const lists = Map.groupBy(others, listOf);
  const users = new Map<string, User>(
    others.map((line) => [listOf(line), { policy: policyOfKey(line.claim), set: line.set }]),
  );
  const clashes = new Map<string, Clash>();
  for (const { owner, name, pool, interface: nic } of claims) {
    if (nic === undefined) continue;
    const place = addressList(families.get(pool), nic, formatOwner(owner));
    const policy = policyOf(name);
    const other = users.get(place) ?? { policy };
    users.set(place, other);
    if (other.policy === policy) continue;
    const shown = other.set === undefined ? other.policy : `${other.policy} (set ${other.set})`;
    const clash = clashes.get(`${shown} ${policy}`) ?? {
      policies: `${shown} and ${policy}`,
      from: other.set,
      claims: [],
    };
    clashes.set(`${shown} ${policy}`, clash);
    clash.claims.push({ place, pool, claim: claimKey(owner, name) });
  }
  if (clashes.size === 0) return;
  const issues = [...clashes.values()].map((clash) => ({
    message: `policies ${clash.policies} both set the ${clash.claims[0]?.place}; nmstate replaces the whole list`,
    ...howToShare(clash, lists, set, recorded),
  }));
  throw new IpamError("invalid", issues);
}

/** Whose the addresses of a NIC are. */
interface User {
  readonly policy: string;
  /** Of another claim set. */
  readonly set?: string;
}

/** Two policies that set one list, the claim set of the first one if it is another, and the claims of the second one. */
interface Clash {
  readonly policies: string;
  readonly from: string | undefined;
  readonly claims: { readonly place: string; readonly pool: string; readonly claim: string }[];
}

/** What another set has there may be these very claims, under the names that they had in that one. */
function howToShare(
  { from, claims }: Clash,
  lists: ReadonlyMap<string, readonly Allocation[]>,
  set: string,
  live: readonly Allocation[],
): Pick<Issue, "hint" | "remedy"> {
  const hint = "Make all captures of one NIC in one policy.";
  const held = new Set(live.filter((line) => line.set === set).map(identityOf));
  const fresh = claims.filter((claim) => !held.has(identityOf(claim)));
  const came = [...Map.groupBy(fresh, ({ place }) => place)].flatMap(([place, asked]) =>
    comersOf(asked, lists.get(place)?.filter((line) => line.set === from) ?? []),
  );
  if (from === undefined || came.length === 0) return { hint };
  const renamed = came.map(({ was, now }) => [was.claim, now.claim] as const);
  return {
    hint: `${hint} If it is one that came over under a new name, say so.`,
    remedy: toSetRemedy(renamed, from, set, live),
  };
}
