import {
  type Claim,
  familyOf,
  formatAddress,
  hasWildcards,
  IpamError,
  type Issue,
  type Pool,
} from "../../core/index.ts";
import { issueIn } from "../../schema/objects.ts";
import type { Facts } from "../contract/facts.ts";
import { issuesOf } from "../contract/read-each.ts";
import type { UnreadObject } from "../contract/unserved.ts";
import { poolAnnotation, whyUnbound } from "../networks/bound-pools.ts";
import { ownerOfIpamClaim } from "./ipam-claim.ts";
import type { PersistentNetwork } from "./network.ts";
import type { Networks } from "./networks.ts";
import { type AddressRequest, withoutUnread } from "./requests.ts";

/** What asks for addresses, once the pools are known. */
interface ServedRequests {
  readonly requests: readonly AddressRequest[];
  readonly claims: readonly Claim[];
  readonly unread: readonly UnreadObject[];
}

/** One claim for each family of the network, called like its pool. Throws IpamError `invalid` for a pool that is not there, and for what a network cannot give. */
export function claimsOfRequests(
  networks: Networks,
  requests: readonly AddressRequest[],
  facts: Facts,
): readonly Claim[] {
  const { claims, unread } = servedRequests(networks, requests, facts);
  if (unread.length > 0) throw new IpamError("invalid", issuesOf(unread));
  return claims;
}

/** Returns the requests that can be served, with their claims. A request that cannot be served, or for a missing pool, does not stop the others. */
export function servedRequests(networks: Networks, requests: readonly AddressRequest[], facts: Facts): ServedRequests {
  const unboundNetworks = [...networks.byName.values()].flatMap(({ value, source }): UnreadObject[] => {
    const isAsked = requests.some(({ network }) => network.network === value.network);
    const [why] = (value.bound ?? []).flatMap((name) => whyNot(name, isAsked, facts) ?? []);
    const path = ["metadata", "annotations", poolAnnotation];
    return why === undefined ? [] : [{ source, issues: [issueIn(source, { path, ...why })] }];
  });
  const without = new Set(unboundNetworks.map(({ source }) => source));
  const isBound = ({ network }: AddressRequest) => {
    const definition = networks.byName.get(network.network);
    return definition === undefined || !without.has(definition.source);
  };
  const bound = requests.filter(isBound);
  const wrong = bound.flatMap((request): UnreadObject[] => {
    const message = whyUnassignable(request, poolsFor(request.network, facts));
    const { source, path } = request;
    return message === undefined ? [] : [{ source, issues: [issueIn(source, { message, path })] }];
  });
  const served = withoutUnread(bound, wrong);
  return {
    requests: served,
    claims: served.flatMap((request) => claimsOf(request, facts)),
    unread: [...unboundNetworks, ...wrong],
  };
}

function claimsOf(request: AddressRequest, facts: Facts): Claim[] {
  const wanted = new Map(request.wanted.map((address) => [familyOf(address), address]));
  return poolsFor(request.network, facts).map((pool): Claim => {
    const address = wanted.get(familyOf(pool.start));
    const { source, path } = request;
    const at = () => source.at(path, `${path.at(-1)}`);
    const claim = { owner: ownerOfIpamClaim(request.claim), name: pool.name, pool: pool.name, at };
    return address === undefined ? claim : { ...claim, wanted: address };
  });
}

/** Returns why a network cannot give the requested addresses; undefined if it can. */
function whyUnassignable({ wanted, lengths, network: { network } }: AddressRequest, pools: readonly Pool[]) {
  for (const [i, address] of wanted.entries()) {
    const [text, family] = [formatAddress(address), familyOf(address)];
    const pool = pools.find(({ start }) => familyOf(start) === family);
    const length = lengths.get(address);
    if (pool === undefined) {
      const others = pools.map(({ start }) => `IPv${familyOf(start)}`).join(" and ");
      return `${text} cannot be allocated: network ${network} has ${others} addresses only`;
    }
    if (wanted.slice(0, i).some((one) => familyOf(one) === family))
      return `${text} is one too many: network ${network} gives one address of each family that it has`;
    if (length !== undefined && length !== pool.prefix.length)
      return `${text}/${length} cannot be allocated: the prefix length of network ${network} is ${pool.prefix.length}`;
  }
  return undefined;
}

/** Returns why a pool cannot be used by name. Names with wildcards are for pods of workloads, which keep their pool; a VM would change to the next pool that matches. */
function whyNot(name: string, isAsked: boolean, facts: Facts): Issue | undefined {
  if (!hasWildcards(name)) return whyUnbound(name, facts);
  if (!isAsked) return undefined;
  return {
    message: `a VM has addresses of pools that are named in full, not of ${name}`,
    hint: "Names with wildcards are for pods of StatefulSets and Deployments: write out the names.",
  };
}

/** Returns the pools of a network that claims have addresses of: the first one of each family. */
export function poolsFor({ bound, pools: own }: PersistentNetwork, { pools }: Facts): Pool[] {
  const names = bound ?? own.map(({ name }) => name);
  const named = names.flatMap((name) => pools.get(name) ?? []);
  return [...new Map(named.toReversed().map((pool) => [familyOf(pool.start), pool])).values()].reverse();
}
