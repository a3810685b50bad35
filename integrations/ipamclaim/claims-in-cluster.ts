import { isPlanned, type Parsed } from "../../core/index.ts";
import { asBag, asList, type LocatedObject } from "../../schema/objects.ts";
import { attachmentGroup, attachmentKind, attachmentPlural } from "../attachment-definition.ts";
import type { Facts } from "../facts.ts";
import type { Integration, ReadObjects } from "../integration.ts";
import { readEach } from "../read-each.ts";
import { claimsOfRequests, poolsFor } from "./claims.ts";
import { ipamClaimsPart, stake } from "./in-cluster.ts";
import { ipamClaimKind, isIpamClaim, parseIpamClaim, plannedAnnotation, usesOfIpamClaim } from "./ipam-claim.ts";
import { mayPersist, parsePersistentNetwork } from "./network.ts";
import { firstNetworks, type Networks } from "./networks.ts";
import { type AddressRequest, requestsOf } from "./requests.ts";

/** Networks that take addresses from NodeIPPools, and the claims on them. */
interface ClaimsModel {
  readonly networks: Networks;
  readonly requests: readonly AddressRequest[];
}

/** IPAMClaims that somebody makes in the cluster: each on a network that is bound to NodeIPPools gets addresses of them, in its status. */
export const ipamClaimsInCluster: Integration<ClaimsModel> = {
  name: "ipamclaim",
  reads: [
    { group: attachmentGroup, kind: attachmentKind, plural: attachmentPlural, owns: mayPersist, mark: /(?!)/ },
    { group: attachmentGroup, kind: ipamClaimKind, plural: "ipamclaims", owns: isIpamClaim, mark: /(?!)/ },
  ],
  usedIn: [ipamClaimKind],
  read: readClaims,
  claims: ({ networks, requests }, facts) =>
    claimsOfRequests(
      networks,
      requests.filter((request) => isOurs(request, facts)),
      facts,
    ),
  isClaim: (claim) => claim.startsWith(`${ipamClaimKind}/`),
  render: () => ({ instead: new Map(), added: [], left: [] }),
  uses: () => (located, found) => {
    if (isHeldByUs(located)) usesOfIpamClaim(located, found);
  },
  inCluster: ipamClaimsPart,
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
  const networks = firstNetworks(bound);
  const requests = requestsOf(networks, [], claims.value);
  return requests.issues ? requests : { value: { networks, requests: requests.value } };
}

/** What was planned for a claim is not decided here, nor what a pool of plans gives. */
function isOurs({ source, network }: AddressRequest, facts: Facts): boolean {
  const annotations = asBag(asBag(source.object.metadata)?.annotations);
  return annotations?.[plannedAnnotation] === undefined && !poolsFor(network, facts).some(isPlanned);
}

/** Did the controller give the addresses that a claim shows? Those of other networks may be the same, in spaces of their own. */
function isHeldByUs({ object }: LocatedObject): boolean {
  return isIpamClaim(object) && asList(asBag(object.metadata)?.finalizers).includes(stake);
}
