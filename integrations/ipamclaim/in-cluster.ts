import { type Address, contains, familyOf, formatOwner, isPlanned, type Parsed, type Use } from "../../core/index.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import type { LocatedObject } from "../../schema/objects.ts";
import type { ClusterIntegration } from "../contract/cluster-integration.ts";
import type { Facts } from "../contract/facts.ts";
import type { ReadObjects } from "../contract/integration.ts";
import { metadataOf } from "../contract/object-metadata.ts";
import { issuesOf, readEach } from "../contract/read-each.ts";
import { attachmentGroup, attachmentKind, attachmentPlural } from "../networks/attachment-definition.ts";
import { claimsOfRequests, poolsFor } from "./claims.ts";
import {
  askedAddresses,
  ipamClaimKind,
  isAddressRequest,
  isIpamClaim,
  ownerOfIpamClaim,
  parseIpamClaim,
  plannedFor,
} from "./ipam-claim.ts";
import { mayPersist, parsePersistentNetwork } from "./network.ts";
import { agreedNetworks, type Networks, networksApart } from "./networks.ts";
import { ipamClaimsRecording, releaseFinalizer, reportClaim } from "./recording.ts";
import { type AddressRequest, requestsOf } from "./requests.ts";

/** Networks that take addresses from NodeIPPools, and the claims on them. */
interface ClaimsModel {
  readonly networks: Networks;
  readonly requests: readonly AddressRequest[];
}

/** Allocates for IPAMClaims in the cluster: each on a network that is bound to NodeIPPools gets addresses of them, in its status. */
export const ipamClaimsInCluster: ClusterIntegration<ClaimsModel> = {
  name: "ipamclaim",
  reads: [
    { group: attachmentGroup, kind: attachmentKind, plural: attachmentPlural, owns: mayPersist, mark: /(?!)/ },
    { group: attachmentGroup, kind: ipamClaimKind, plural: "ipamclaims", owns: isIpamClaim, mark: /(?!)/ },
  ],
  read: readClaims,
  claims: ({ networks, requests }, facts) => {
    const own = requests.flatMap((request) => ours(request, facts));
    const strange = new Map(own.map((one) => [formatOwner(ownerOfIpamClaim(one.claim)), strangeIn(one, facts)]));
    return claimsOfRequests(networks, own, facts).map((claim) => {
      const wanted = strange.get(formatOwner(claim.owner));
      return wanted === undefined ? claim : { ...claim, wanted };
    });
  },
  isClaim: (claim) => claim.startsWith(`${ipamClaimKind}/`),
  render: () => ({ instead: new Map(), added: [], left: [] }),
  uses: [
    {
      kind: ipamClaimKind,
      reader: () => (located, found) => {
        if (isHeldByUs(located)) found.uses.push(...usesOf(located));
      },
    },
  ],
  report: reportClaim,
  recording: {
    ...ipamClaimsRecording,
    contention: {
      requestedUses: requestedIn,
      disagreeing: (objects) => networksApart(objects.filter(({ object }) => mayPersist(object))),
    },
  },
};

function readClaims({ owned }: ReadObjects): Parsed<ClaimsModel> {
  const definitions = readEach(
    owned.filter(({ object }) => mayPersist(object)),
    parsePersistentNetwork,
  );
  const claims = readEach(
    owned.filter(({ object }) => isIpamClaim(object)),
    parseIpamClaim,
  );
  if (definitions.issues) return definitions;
  if (claims.issues) return claims;
  const bound = definitions.value.flatMap(({ value, source }) => (value?.bound === undefined ? [] : { value, source }));
  const networks = agreedNetworks(bound);
  const { requests, unread } = requestsOf(networks, [], claims.value);
  return unread.length > 0 ? { issues: issuesOf(unread) } : { value: { networks, requests } };
}

/**
 * Returns the part of a request that the controller decides.
 *
 *  the network has | the claim was planned            | it gets
 *  ----------------+----------------------------------+-------------------------------------------------------
 *  a pool of plans | any                              | nothing: a plan decides it
 *  others          | no                               | the first address of each family that it shows, else any
 *  others          | yes, with an address of its pools | that address, or nothing
 *  others          | yes, with other ones             | nothing: its addresses are of other pools
 *  others          | no, but its VM asks for some     | these, or nothing
 *
 * Any user of a claim can write anything into its status. That blocks no other claim: the claim itself reports what it cannot get.
 */
function ours(request: AddressRequest, facts: Facts): AddressRequest[] {
  const pools = poolsFor(request.network, facts);
  if (pools.some(isPlanned)) return [];
  const annotation = plannedFor(request.source.object);
  const planned = askedAddresses(annotation);
  const isOfPools = (address: Address) => pools.some(({ range }) => contains(range, address));
  if (annotation !== undefined && !planned.some(isOfPools) && !isAddressRequest(annotation)) return [];
  const asked = annotation === undefined ? request.wanted : planned;
  const families = new Set(pools.map(({ start }) => familyOf(start)));
  const first = new Map(asked.toReversed().map((address) => [familyOf(address), address]));
  return [{ ...request, wanted: [...families].flatMap((family) => first.get(family) ?? []) }];
}

/** Returns an address that the VM of a claim requests of a family that its network lacks: the claim gets nothing, and reports why. */
function strangeIn({ source, network }: AddressRequest, facts: Facts): Address | undefined {
  const families = new Set(poolsFor(network, facts).map(({ start }) => familyOf(start)));
  const annotation = plannedFor(source.object);
  return isAddressRequest(annotation)
    ? askedAddresses(annotation).find((one) => !families.has(familyOf(one)))
    : undefined;
}

/** Returns each address in the status of a claim as the claim's, with a prefix length or without. */
function usesOf({ object, at }: LocatedObject): Use[] {
  const { value: claim } = parseIpamClaim(object);
  if (claim === undefined) return [];
  const owner = formatOwner(ownerOfIpamClaim(claim));
  return claim.shown.map((address) => ({ address, owner, at: at(["status", "ips"], "") }));
}

/** Returns the addresses of the pools of their networks that claims show, were planned to have, or have by the uses of `others`. */
export function requestedIn(objects: readonly SourceObject[], facts: Facts, others: readonly Use[] = []): Use[] {
  const byOwner = Map.groupBy(others, ({ owner }) => owner);
  const addressesOf = ({ object }: SourceObject) => {
    const { value: claim } = isIpamClaim(object) ? parseIpamClaim(object) : {};
    if (claim === undefined) return [];
    const ofOthers = byOwner.get(formatOwner(ownerOfIpamClaim(claim))) ?? [];
    return [...new Set([...claim.shown, ...askedAddresses(plannedFor(object)), ...ofOthers.map((use) => use.address)])];
  };
  const owned = objects.filter((one) => mayPersist(one.object) || addressesOf(one).length > 0);
  if (!owned.some((one) => isIpamClaim(one.object))) return [];
  const { value: { requests } = { requests: [] } } = readClaims({ owned, others: [] });
  return requests.flatMap(({ claim, network, source }) => {
    const owner = formatOwner(ownerOfIpamClaim(claim));
    const at = source.at(["status", "ips"], "");
    return poolsFor(network, facts).flatMap(({ name: pool, assignable }) =>
      addressesOf(source)
        .filter((address) => contains(assignable, address))
        .map((address) => ({ address, owner, pool, at })),
    );
  });
}

/** Returns whether the controller assigned the addresses that a claim shows. Other networks may have the same ones, in spaces of their own. */
function isHeldByUs({ object }: LocatedObject): boolean {
  return isIpamClaim(object) && metadataOf(object).finalizers.includes(releaseFinalizer);
}
