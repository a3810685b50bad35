import { formatOwner, ownerOfKey } from "../../core/index.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { type ClusterApiVersion, clusterNameLabel } from "../cluster-api.ts";
import { type Concern, type InCluster, isManaged, type Known, type Report, type WatchedKind } from "../in-cluster.ts";
import { kindInGroup } from "../object-key.ts";
import { protection } from "./address.ts";
import { addressKind, asksNodeIPPool, claimKind, ipamGroup, ownerOfClaim } from "./claim.ts";
import { claimConditions } from "./claim-status.ts";

/** Keeps a claim until its IPAddress is gone. */
const finalizer = "nmstate.io/release-address";
const pausedAnnotation = "cluster.x-k8s.io/paused";

/**
 * Whom an object concerns.
 *
 *  object                    | owners    | tells about
 *  --------------------------+-----------+-------------
 *  claim on a NodeIPPool     | the claim | itself
 *  any other claim           | nobody    | nothing
 *  IPAddress                 | its claim | its claim
 *  Cluster: it may be paused | all       | nothing
 */
function concerns(object: Bag): Concern {
  const { name, namespace } = asBag(object.metadata) ?? {};
  const concern = (claim: unknown): Concern => {
    const owner = formatOwner(ownerOfClaim({ name: `${claim}`, namespace: `${namespace}` }));
    return { owners: [owner], sources: [keyOf(claimKind, owner)] };
  };
  switch (object.kind) {
    case claimKind:
      return asksNodeIPPool(object) ? concern(name) : { owners: [], sources: [] };
    case addressKind:
      return { ...concern(asBag(asBag(object.spec)?.claimRef)?.name ?? name), isEvidence: true };
    default:
      return { owners: object.kind === "Cluster" ? "all" : [], sources: [] };
  }
}

/** The key of the object of a kind that goes with an owner, which is a claim. */
function keyOf(kind: string, owner: string): string {
  return kindInGroup(kind, ipamGroup) + owner.slice(claimKind.length);
}

/** Is a claim, or its cluster, paused? So is one whose cluster is not there yet; one that is deleted need not wait for it. */
function isPaused({ metadata, spec }: Bag, find: (key: string) => Bag | undefined): boolean {
  const { annotations, labels, namespace, deletionTimestamp } = asBag(metadata) ?? {};
  if (asBag(annotations)?.[pausedAnnotation] !== undefined) return true;
  const name = asBag(spec)?.clusterName ?? asBag(labels)?.[clusterNameLabel];
  if (typeof name !== "string" || name === "") return false;
  const cluster = find(`${kindInGroup("Cluster", "cluster.x-k8s.io")}/${namespace}:${name}`);
  if (cluster === undefined) return deletionTimestamp === undefined;
  const marks = asBag(asBag(cluster.metadata)?.annotations);
  return asBag(cluster.spec)?.paused === true || marks?.[pausedAnnotation] !== undefined;
}

function report({ object, made, rejected, pending: [pending] }: Known): Report {
  const { deletionTimestamp, name } = asBag(object.metadata) ?? {};
  const addresses = made.filter((one) => one.object.kind === addressKind);
  const isOver = !addresses.some((one) => isManaged(one.object));
  if (deletionTimestamp !== undefined) return isOver ? { finalizer: { name: finalizer, isWanted: false } } : {};
  const hasAddress = addresses.length > 0;
  const conditions = claimConditions({ rejected, pending, hasAddress });
  return {
    finalizer: { name: finalizer, isWanted: true },
    ...(hasAddress ? { fields: { addressRef: { name } } } : {}),
    ...(conditions.length === 0 ? {} : { conditions }),
  };
}

function kinds(version: ClusterApiVersion): WatchedKind[] {
  const ipam = `${ipamGroup}/${version}`;
  return [
    {
      apiVersion: ipam,
      kind: claimKind,
      plural: "ipaddressclaims",
      isOwner: true,
      hasMereStatus: true,
      keep: ({ spec, status }) => ({ spec, status }),
    },
    {
      apiVersion: ipam,
      kind: addressKind,
      plural: "ipaddresses",
      isReport: true,
      isGrant: true,
      keep: ({ spec }) => ({ spec }),
      keepMade: ({ spec }) => ({ spec }),
      // Cluster API refuses another one.
      fixed: ({ spec }) => spec,
    },
    {
      apiVersion: `cluster.x-k8s.io/${version}`,
      kind: "Cluster",
      plural: "clusters",
      hasMereStatus: true,
      keep: ({ spec }) => ({ spec: { paused: asBag(spec)?.paused } }),
    },
  ];
}

/** Is a claim not ours to end yet? */
function isFree({ finalizers, deletionTimestamp }: Bag): boolean {
  return deletionTimestamp === undefined && !asList(finalizers).includes(finalizer);
}

/**
 * Is a node a machine of the namespace that a claim is in? Cluster API says that much on each node of a cluster which manages itself;
 * which claim a machine has, only its infrastructure provider knows.
 */
function isMachine(owner: string, { metadata }: Bag): boolean {
  const marks = asBag(asBag(metadata)?.annotations) ?? {};
  const namespace = marks["cluster.x-k8s.io/cluster-namespace"];
  return marks["cluster.x-k8s.io/machine"] !== undefined && owner.startsWith(`${claimKind}/${namespace}:`);
}

/** What Cluster API's contract asks of an IPAM provider, with NodeIPPool as the pool kind. */
export function capiInCluster(version: ClusterApiVersion): InCluster {
  return {
    kinds: kinds(version),
    concerns,
    sourceOf: (claim) => keyOf(claimKind, ownerOfKey(claim)),
    objectOf: (claim) => keyOf(addressKind, ownerOfKey(claim)),
    isPaused,
    isMachine,
    // Before it has an address, nobody may end it without telling us.
    isWaiting: ({ metadata }) => isFree(asBag(metadata) ?? {}),
    // A claim is deleted once its machine is: that is the word of who made it. Its IPAddress must be gone, too.
    gone: (objects, _, releasing) => {
      const shown = new Set(objects.filter(({ kind }) => kind === addressKind).flatMap((one) => concerns(one).owners));
      return releasing.filter(({ claim }) => !shown.has(ownerOfKey(claim)));
    },
    report,
    protection,
  };
}
