import {
  type Address,
  type Allocation,
  contains,
  formatAddress,
  type Issue,
  ownerOfKey,
  type Plan,
  type Pool,
  parseAddress,
  type Use,
} from "../core/index.ts";
import { asBag, asList } from "../schema/objects.ts";
import type { Policy } from "../schema/policy.ts";

/** The lines that a plan makes, or lets be. */
export function liveIn(made: Plan): Allocation[] {
  return [...made.assign, ...made.keep.filter(({ releasing }) => !releasing).map(({ allocation }) => allocation)];
}

/** The claims to which a plan gives each address, or lets them keep it: one in each network that has it. */
export function holdersIn(made: Plan): Map<Address, string[]> {
  const lines = Map.groupBy(liveIn(made), ({ address }) => address);
  return new Map([...lines].map(([address, held]) => [address, held.map(({ claim }) => claim)]));
}

/**
 * What these policies write out by hand although the plan gives it to somebody: the record knows nothing of such an
 * address, so nothing but an audit would see that two have it.
 */
export function handWritten(policies: readonly Policy[], holders: ReadonlyMap<Address, readonly string[]>): Issue[] {
  return policies.flatMap((policy) =>
    literals(policy).flatMap((address) => {
      const claims = holders.get(address);
      return claims === undefined ? [] : handWrittenIssue(address, claims, `policy ${policy.name} writes it out`);
    }),
  );
}

/** What a policy writes out of a pool for several nodes at once: they would all have it. */
export function writtenForMany(
  policies: readonly Policy[],
  nodesOf: (policy: Policy) => readonly { readonly name: string }[],
  pools: readonly Pool[],
): Issue[] {
  return policies.flatMap((policy) => {
    const shared = literals(policy).filter((address) => pools.some((pool) => contains(pool.assignable, address)));
    const nodes = shared.length === 0 ? [] : nodesOf(policy);
    if (nodes.length < 2) return [];
    return shared.map((address) => ({
      message: `policy ${policy.name} writes ${formatAddress(address)} out for ${nodes.length} nodes, and a pool may give it to yet another one`,
      hint: "Take it from the pool by a capture, or say in a policy of its own which node has it.",
    }));
  });
}

/** What policies of others write out for somebody else than the plan. */
export function writtenForOthers(uses: readonly Use[], holders: ReadonlyMap<Address, readonly string[]>): Issue[] {
  return uses.flatMap(({ address, owner, at }) => {
    const claims = holders.get(address);
    if (owner === undefined || claims === undefined || claims.some((claim) => ownerOfKey(claim) === owner)) return [];
    return { ...handWrittenIssue(address, claims, `a policy writes it out for ${owner}`), at };
  });
}

function handWrittenIssue(address: Address, claims: readonly string[], why: string): Issue {
  return {
    message: `${formatAddress(address)} is for ${claims.join(" and ")}, but ${why}`,
    hint: "Keep it away from others: a reservation of the pool, or exclude.",
  };
}

/** The addresses in a policy's address lists that come from no pool. */
function literals({ desiredState }: Policy): Address[] {
  return asList(asBag(desiredState)?.interfaces).flatMap((nic) =>
    ["ipv4", "ipv6"].flatMap((family) =>
      asList(asBag(asBag(nic)?.[family])?.address).flatMap((entry) => parseAddress(asBag(entry)?.ip).value ?? []),
    ),
  );
}
