import { type Allocation, formatOwner, ownerOfKey, parseAddress } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { type ClusterApiVersion, clusterNameLabel } from "../contract/cluster-api.ts";
import type { ClusterPart } from "../contract/cluster-integration.ts";
import type { Facts } from "../contract/facts.ts";
import type { Known } from "../contract/known.ts";
import { isManaged } from "../contract/managed-by.ts";
import { kindInGroup } from "../contract/object-key.ts";
import { annotationsOf, isDeleting, metadataOf, nameOf } from "../contract/object-metadata.ts";
import type { Recording } from "../contract/recording.ts";
import { type Step, warn } from "../contract/step.ts";
import type { Concern, WatchedKind } from "../contract/watched-kind.ts";
import { protection } from "./address.ts";
import { isAdoptable, keptMessage, whyDiffers, whyNotAdopted } from "./adoption.ts";
import { addressKind, asksOurGroup, claimKind, ipamGroup, nodeIPPoolOf, ownerOfClaim } from "./claim.ts";
import { claimConditions } from "./claim-status.ts";
import { asAddress, asAddressClaim, asCluster } from "./objects.ts";

/** Keeps a claim until its IPAddress is gone. */
const finalizer = "nmstate.io/release-address";
const pausedAnnotation = "cluster.x-k8s.io/paused";

/**
 * Returns the owners and sources that an object concerns.
 *
 *  object                      | owners    | sources
 *  ----------------------------+-----------+-------------
 *  claim on a pool of ours     | the claim | itself
 *  any other claim             | none      | none
 *  IPAddress                   | its claim | its claim
 *  IPAddress of another name   | its claim, and the claim of its name, whose IPAddress cannot be made
 *  Cluster: it may be paused   | all       | none
 */
function concerns(object: Bag): Concern {
  const { name, namespace } = metadataOf(object);
  const concern = (...claims: readonly unknown[]): Concern => {
    const owners = claims.map((claim) => formatOwner(ownerOfClaim({ name: `${claim}`, namespace: `${namespace}` })));
    return { owners, sources: owners.map((owner) => keyOf(claimKind, owner)) };
  };
  switch (object.kind) {
    case claimKind:
      return asksOurGroup(object) ? concern(name) : { owners: [], sources: [] };
    case addressKind: {
      const { name: claim = name } = asAddress(object).spec.claimRef;
      return { ...concern(...new Set([claim, name])), isEvidence: true };
    }
    default:
      return { owners: object.kind === "Cluster" ? "all" : [], sources: [] };
  }
}

/** Returns the key of the object of a kind that belongs to an owner, which is a claim. */
function keyOf(kind: string, owner: string): string {
  return kindInGroup(kind, ipamGroup) + owner.slice(claimKind.length);
}

/**
 * Returns why a claim is paused, with the next step.
 *
 *  the claim                                        | is paused
 *  -------------------------------------------------+---------------------------------
 *  has the annotation, or its pool has it           | yes
 *  names a Cluster that is paused                   | yes
 *  names a Cluster that does not exist              | yes, unless it is being deleted
 *  any other                                        | no
 */
function whyPaused(claim: Bag, find: (key: string) => Bag | undefined): string | undefined {
  const { metadata, spec } = asAddressClaim(claim);
  const { labels, namespace, deletionTimestamp } = metadata;
  const pool = find(`${kindInGroup("NodeIPPool", "nmstate.io")}/${nodeIPPoolOf(claim)?.name}`);
  if (hasPaused(claim)) return removeFrom(`${claimKind} ${nameOf(claim)}`);
  if (pool !== undefined && hasPaused(pool)) return removeFrom(`NodeIPPool ${nameOf(pool)}`);
  const name = spec.clusterName ?? labels[clusterNameLabel];
  if (typeof name !== "string" || name === "") return undefined;
  const title = `Cluster ${namespace}/${name}`;
  const cluster = find(`${kindInGroup("Cluster", "cluster.x-k8s.io")}/${namespace}:${name}`);
  if (cluster === undefined)
    return deletionTimestamp === undefined
      ? `${title} does not exist. Create it, or make the claim again for another Cluster.`
      : undefined;
  if (asCluster(cluster).spec.paused === true) return `${title} has spec.paused: true. Set it to false.`;
  return hasPaused(cluster) ? removeFrom(title) : undefined;
}

function removeFrom(title: string): string {
  return `${title} has annotation ${pausedAnnotation}. Remove it.`;
}

function hasPaused(object: Bag): boolean {
  return annotationsOf(object)[pausedAnnotation] !== undefined;
}

function report({ object, find, rejected, lines: [line], pending: [pending] }: Known, { pools }: Facts): Step[] {
  const { name, namespace } = metadataOf(object);
  const owner = formatOwner(ownerOfClaim({ name: `${name}`, namespace: `${namespace}` }));
  const there = find(keyOf(addressKind, owner));
  const isOurs = there !== undefined && isManaged(there);
  if (isDeleting(object)) {
    const goesWithClaim = there !== undefined && (isOurs || isAdoptable(there, owner, undefined));
    return goesWithClaim ? [] : [{ verb: "finalizer", object, name: finalizer, isWanted: false }];
  }
  const why = there && whyNotAdopted(there, object, line);
  const refused = why === undefined ? undefined : `IPAddress ${name} ${why}`;
  const hasAddress = isOurs && refused === undefined;
  const kept = isOurs && line === undefined ? keptMessage(there) : undefined;
  const isEnding = there !== undefined && isDeleting(there);
  const pool = hasAddress && line !== undefined ? pools.get(line.pool) : undefined;
  const differs = isOurs && pool !== undefined ? whyDiffers(there, pool) : undefined;
  const conditions = claimConditions({ rejected, pending, kept, refused, differs, hasAddress, isEnding });
  const fields = hasAddress ? { addressRef: { name } } : {};
  return [
    ...(differs === undefined ? [] : [warn(object, differs)]),
    ...(conditions.length === 0 ? [] : [{ verb: "status", object, fields, conditions } as const]),
  ];
}

function kinds(version: ClusterApiVersion): WatchedKind[] {
  const ipam = `${ipamGroup}/${version}`;
  return [
    {
      apiVersion: ipam,
      kind: claimKind,
      plural: "ipaddressclaims",
      isOwner: true,
      ignoresStatus: true,
      keep: ({ spec, status }) => ({ spec, status }),
    },
    {
      apiVersion: ipam,
      kind: addressKind,
      plural: "ipaddresses",
      isGrant: true,
      keep: ({ spec }) => ({ spec }),
      keepMade: ({ spec }) => ({ spec }),
      // Cluster API refuses a change of the spec.
      fixed: ({ spec }) => spec,
    },
    {
      apiVersion: `cluster.x-k8s.io/${version}`,
      kind: "Cluster",
      plural: "clusters",
      ignoresStatus: true,
      keep: (cluster) => ({ spec: { paused: asCluster(cluster).spec.paused } }),
    },
  ];
}

/** The garbage collector waits for the IPAddress to be gone, or takes its owner references off. */
const ofGarbageCollector: readonly unknown[] = ["foregroundDeletion", "orphan"];

/**
 * Returns whether a claim that is being deleted keeps its address because another controller has a finalizer on it: infrastructure
 * providers protect claims in use that way. The API server accepts no new finalizer then, so once the last one is gone this stays false.
 */
function isInUse(claim: Bag): boolean {
  const others = metadataOf(claim).finalizers.filter((one) => one !== finalizer && !ofGarbageCollector.includes(one));
  return isDeleting(claim) && others.length > 0;
}

/**
 * Returns whether a node is a machine of a claim's namespace. In a cluster that manages itself, Cluster API annotates each node with that.
 * Only the infrastructure provider knows which claim a machine has.
 */
function isMachine(owner: string, node: Bag): boolean {
  const marks = annotationsOf(node);
  const namespace = marks["cluster.x-k8s.io/cluster-namespace"];
  return marks["cluster.x-k8s.io/machine"] !== undefined && owner.startsWith(`${claimKind}/${namespace}:`);
}

/** Returns whether an IPAddress may have the address of a line: it is for the line's owner, and has the same address, or none that can be read. */
function mayHave(object: Bag, { claim, address }: Allocation): boolean {
  const { owners } = concerns(object);
  const has = parseAddress(`${asAddress(object).spec.address}`).value;
  return owners !== "all" && owners.includes(ownerOfKey(claim)) && (has === undefined || has === address);
}

function keyOfAddress(claim: string): string {
  return keyOf(addressKind, ownerOfKey(claim));
}

/** Returns an IPAM provider by Cluster API's contract, with NodeIPPool as the pool kind. */
export function capiInCluster(version: ClusterApiVersion): ClusterPart {
  const recording: Recording = {
    kinds: kinds(version),
    concerns,
    evidenceOf: ({ claim }) => [keyOfAddress(claim)],
    // The infrastructure provider deletes a claim once its machine is gone. No IPAddress may have the address either. An IPAddress with
    // another address was made for a claim of the same name.
    gone: (objects, _, releasing) => {
      const there = objects.filter(({ kind }) => kind === addressKind);
      return releasing.filter((line) => !there.some((one) => mayHave(one, line)));
    },
    // No address is allocated before our finalizer is on the claim, and none is taken away while others use the claim.
    owners: { finalizer, whyPaused, isWaiting: isInUse },
    contention: { isMachine },
  };
  return {
    recording,
    report,
    made: {
      objectOf: keyOfAddress,
      takesOver: isAdoptable,
      whyRefused: (there, wanted) => whyNotAdopted(there, wanted),
      protection,
    },
  };
}
