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
import { poolAnnotation, whyUnbound } from "../bound-pools.ts";
import type { Facts } from "../facts.ts";
import { ownerOfIpamClaim } from "./ipam-claim.ts";
import type { PersistentNetwork } from "./network.ts";
import type { Networks } from "./networks.ts";
import type { AddressRequest } from "./requests.ts";

/** One claim for each family of the network, called like its pool. Throws IpamError `invalid` for a pool that is not there, and for what a network cannot give. */
export function claimsOfRequests(networks: Networks, requests: readonly AddressRequest[], facts: Facts): Claim[] {
  const issues = [...networks.byName.values()].flatMap(({ value, source }) => {
    const isAsked = requests.some(({ network }) => network.network === value.network);
    const why = (value.bound ?? []).flatMap((name) => whyNot(name, isAsked, facts) ?? []).slice(0, 1);
    return why.map((one) => issueIn(source, { path: ["metadata", "annotations", poolAnnotation], ...one }));
  });
  if (issues.length > 0) throw new IpamError("invalid", issues);
  const claims = requests.flatMap((request) => {
    const pools = poolsFor(request.network, facts);
    const families = new Set(pools.map(({ start }) => familyOf(start)));
    const wanted = new Map(request.wanted.map((address) => [familyOf(address), address]));
    const odd = request.wanted.find((one) => !families.has(familyOf(one)) || wanted.get(familyOf(one)) !== one);
    if (odd !== undefined)
      issues.push(
        issueIn(request.source, {
          message: `${formatAddress(odd)} is one too many: network ${request.network.network} gives one address of each family that it has`,
          path: request.path,
        }),
      );
    return pools.map((pool): Claim => {
      const address = wanted.get(familyOf(pool.start));
      const claim = { owner: ownerOfIpamClaim(request.claim), name: pool.name, pool: pool.name };
      return address === undefined ? claim : { ...claim, wanted: address };
    });
  });
  if (issues.length > 0) throw new IpamError("invalid", issues);
  return claims;
}

/** Pods of workloads keep the pool that they have. A VM would go to another one, as soon as that is called alike, so it has pools by their names. */
function whyNot(name: string, isAsked: boolean, facts: Facts): Issue | undefined {
  if (!hasWildcards(name)) return whyUnbound(name, facts);
  if (!isAsked) return undefined;
  return {
    message: `a VM has addresses of pools that are named in full, not of ${name}`,
    hint: "Names with wildcards are for pods of StatefulSets and Deployments: write out the names.",
  };
}

/** The pools of a network that claims have addresses of: the first one of each family. */
export function poolsFor({ bound, pools: own }: PersistentNetwork, { pools }: Facts): Pool[] {
  const names = bound ?? own.map(({ name }) => name);
  const named = names.flatMap((name) => pools.get(name) ?? []);
  return [...new Map(named.toReversed().map((pool) => [familyOf(pool.start), pool])).values()].reverse();
}
