import { type Allocation, formatOwner, ownerOfKey } from "../../core/index.ts";
import { type Bag, conditionOf } from "../../schema/objects.ts";
import type { Facts } from "../contract/facts.ts";
import type { Known } from "../contract/known.ts";
import { kindInGroup } from "../contract/object-key.ts";
import { isDeleting, keyOf, metadataOf } from "../contract/object-metadata.ts";
import type { Recording } from "../contract/recording.ts";
import type { Step } from "../contract/step.ts";
import type { Concern, WatchedKind } from "../contract/watched-kind.ts";
import {
  attachmentGroup,
  attachmentKind,
  attachmentPlural,
  attachmentTitle,
  parseNetworkConfig,
} from "../networks/attachment-definition.ts";
import { boundPools } from "../networks/bound-pools.ts";
import { asAttachmentDefinition } from "../networks/objects.ts";
import { claimStatus, ipsOf, shownIps } from "./claim-status.ts";
import {
  addressesIn,
  askedAddresses,
  ipamClaimKind,
  isAddressRequest,
  isIpamClaim,
  ownerOfIpamClaim,
  plannedAnnotation,
  plannedFor,
  plannedIps,
} from "./ipam-claim.ts";
import { mayPersist } from "./network.ts";
import { asIpamClaim } from "./objects.ts";
import { addressesAnnotation } from "./virtual-machine.ts";

/** Keeps a claim, and so its addresses, until its other finalizers are gone. */
export const releaseFinalizer = "nmstate.io/release-addresses";

/** NetworkAttachmentDefinitions, as the controller watches them. */
export const definitionsKind: WatchedKind = {
  apiVersion: `${attachmentGroup}/v1`,
  kind: attachmentKind,
  plural: attachmentPlural,
  keep: (object) => (mayPersist(object) ? { spec: { config: asAttachmentDefinition(object).spec.config } } : {}),
};

/** IPAMClaims, as the controller watches them. */
export const claimsKind: WatchedKind = {
  apiVersion: `${attachmentGroup}/v1alpha1`,
  kind: ipamClaimKind,
  plural: "ipamclaims",
  keep: ({ spec, status }) => ({ spec, status }),
};

/** Records addresses for IPAMClaims on networks that take addresses from NodeIPPools. */
export const ipamClaimsRecording: Recording = {
  kinds: [definitionsKind, { ...claimsKind, isOwner: true }],
  concerns,
  evidenceOf: ({ claim }) => [keyOfOwner(ownerOfKey(claim))],
  gone: (objects, _, releasing) => {
    const claims = objects.filter(isIpamClaim);
    return releasing.filter((line) => isOff(line, claims));
  },
  owners: { has: (claim, { address }) => !isDeleting(claim) && addressesIn(shownIps(claim)).includes(address) },
};

/**
 * Returns the owners and sources that an object concerns.
 *
 *  object                          | owners    | sources
 *  --------------------------------+-----------+-------------
 *  IPAMClaim                       | itself    | itself
 *  definition that keeps addresses | all       | itself
 *  any other definition            | none      | none
 */
function concerns(object: Bag): Concern {
  if (isIpamClaim(object)) {
    const { name, namespace = "default" } = metadataOf(object);
    const owner = formatOwner(ownerOfIpamClaim({ name: `${name}`, namespace: `${namespace}` }));
    return { owners: [owner], sources: [keyOfOwner(owner)] };
  }
  return mayPersist(object) ? { owners: "all", sources: [keyOf(object)] } : { owners: [], sources: [] };
}

function keyOfOwner(owner: string): string {
  return kindInGroup(ipamClaimKind, attachmentGroup) + owner.slice(ipamClaimKind.length);
}

/**
 * Returns whether an address is off its claim. By the standard, no other owner gets it while the claim exists. A claim that was deleted
 * and made again under its name, on another network, is another claim.
 *
 *  the claim                                        | the address is off it, because
 *  -------------------------------------------------+--------------------------------------------------------------
 *  is not there                                     | its users had a finalizer on it
 *  shows it, or was planned to have it              | no: a pod may run with it
 *  shows others, which are allocated                | what a claim shows stays there: it never showed this one
 *  shows none, and never had any (no finalizer)     | the same
 *  any other                                        | no: it may have shown the address before
 *
 * A controller that still works from an outdated record finishes its write to the claim before this is asked (timing.ts).
 */
function isOff({ claim, address }: Allocation, claims: readonly Bag[]): boolean {
  const there = claims.find((one) => concerns(one).owners.includes(ownerOfKey(claim)));
  if (there === undefined) return true;
  const shown = shownIps(there);
  if ([...addressesIn(shown), ...askedAddresses(plannedFor(there))].includes(address)) return false;
  const { metadata, status } = asIpamClaim(there);
  if (shown.length === 0) return !metadata.finalizers.includes(releaseFinalizer);
  return conditionOf(status.conditions, "IPsAllocated")?.status === "True";
}

/** Returns why a claim, or its network, cannot be served now; undefined if it can, or the network is not the controller's. */
function whyUnserved({ object, rejected }: Known, unserved: Facts["unserved"] = new Map()) {
  const { network } = asIpamClaim(object).spec;
  const isIts = (one: Bag) => mayPersist(one) && parseNetworkConfig(one).value?.network === network;
  const [definition, why] = [...unserved].find(([one]) => isIts(one)) ?? [];
  const message = definition === undefined ? rejected : `${attachmentKind} ${attachmentTitle(definition)}: ${why}`;
  return message === undefined ? undefined : { code: "invalid", message };
}

/**
 * Reports the state of a claim. A definition has no status: Events, and its claims without an address, report what is wrong with it.
 *
 *  a claim         | our finalizer
 *  ----------------+---------------------------------------------------------------------
 *  with addresses  | is set, so that the claim stays until its users are done
 *  that waits, and | is set: no other claim gets what it shows
 *   shows some     |
 *  being deleted   | goes once it is the only one that is left: others still use the claim
 */
export function reportClaim(known: Known, { pools, unserved, allOf }: Facts): Step[] {
  const {
    object,
    lines,
    releasing,
    pending: [pending],
  } = known;
  if (!isIpamClaim(object)) return [];
  const { deletionTimestamp, finalizers } = metadataOf(object);
  const users = finalizers.filter((one) => one !== releaseFinalizer);
  if (deletionTimestamp !== undefined) return users.length > 0 ? [] : [finalizerStep(object, false)];
  const annotation = plannedFor(object);
  const planned = plannedIps(annotation);
  const shown = shownIps(object);
  const explained =
    pending && isAddressRequest(annotation) ? { ...pending, message: `${pending.message}. ${askOtherwise}` } : pending;
  const wrong = annotation !== undefined && askedAddresses(annotation).length === 0 ? noAddress(annotation) : undefined;
  const hasNone = lines.length + planned.length === 0;
  const isGiven = givenTo(object, allOf?.(definitionKey) ?? []);
  const own = lines.filter(isGiven);
  const state = {
    recorded: ipsOf(own, pools, shown),
    kept: ipsOf(releasing, pools, shown),
    planned,
    shown,
    pending: explained ?? wrong ?? (hasNone ? whyUnserved(known, unserved) : undefined),
  };
  const isHeld = own.length > 0 || (pending !== undefined && shown.length > 0);
  const status = claimStatus(state);
  return [
    ...(status === undefined ? [] : [{ verb: "status", object, ...status } as const]),
    ...(isHeld ? [finalizerStep(object, true)] : []),
  ];
}

function finalizerStep(object: Bag, isWanted: boolean): Step {
  return { verb: "finalizer", object, name: releaseFinalizer, isWanted };
}

const definitionKey = kindInGroup(attachmentKind, attachmentGroup);

/**
 * Returns whether a line is a claim's: it shows the address, or its network gives it. A claim that was deleted, and made again on
 * another network, has the lines of the one before on record until it is decided for.
 */
function givenTo(claim: Bag, definitions: readonly Bag[]): (line: Allocation) => boolean {
  const shown = addressesIn(shownIps(claim));
  const called = asIpamClaim(claim).spec.network;
  const isIts = (definition: Bag) => parseNetworkConfig(definition).value?.network === called;
  return ({ address, pool }) =>
    shown.includes(address) || definitions.some((one) => boundPools(one)?.includes(pool) && isIts(one));
}

const askOtherwise = `Let its VM ask for another address, or for none (annotation ${addressesAnnotation} of its template).`;

function noAddress(annotation: unknown) {
  return { code: "invalid", message: `annotation ${plannedAnnotation} has no address: ${JSON.stringify(annotation)}` };
}
