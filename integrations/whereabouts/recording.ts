import { nameOfKey, nodeOwner } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import type { ClusterPart } from "../contract/cluster-integration.ts";
import type { MadeObjects } from "../contract/made-objects.ts";
import { isManaged } from "../contract/managed-by.ts";
import { kindInGroup } from "../contract/object-key.ts";
import { keyOf, nameOf } from "../contract/object-metadata.ts";
import type { Recording } from "../contract/recording.ts";
import type { Concern, WatchedKind } from "../contract/watched-kind.ts";
import { attachmentGroup, attachmentKind, attachmentPlural } from "../networks/attachment-definition.ts";
import { asAttachmentDefinition } from "../networks/objects.ts";
import { namesSlices, parseAttachment } from "./attachment.ts";
import { goneFromSlices } from "./gone.ts";
import { ipPoolKind, ipPoolNames, isInUse, isIPPool, ownersOfIPPool } from "./ip-pool.ts";
import { isSlicePool, type ListedSlice, listedSlices, slicePoolGroup, slicePoolKind } from "./node-slice-pool.ts";
import { asIPPool, asNodeSlicePool } from "./objects.ts";
import { usedSlices } from "./used-slices.ts";

/** Records slices for networks whose NodeSlicePools are in this namespace. */
export function slicesPart(namespace: string): ClusterPart {
  const keyOfNetwork = (network: string) => `${kindInGroup(slicePoolKind, slicePoolGroup)}/${namespace}:${network}`;
  const recording: Recording = {
    kinds: kinds(namespace),
    concerns: (object) => concerns(object, keyOfNetwork),
    sourceOf: (claim) => keyOfNetwork(nameOfKey(claim)),
    evidenceOf: (line) =>
      ipPoolNames(line).map((name) => `${kindInGroup(ipPoolKind, slicePoolGroup)}/${namespace}:${name}`),
    gone: goneFromSlices,
    contention: { requestedUses: usedSlices },
  };
  const made: MadeObjects = {
    takesOver: (there, _, wanted) =>
      isSlicePool(there) && wanted !== undefined && lackingIn(wanted, there) === undefined,
    whyRefused: (there, wanted) => (isSlicePool(there) ? whyRefused(there, wanted, namespace) : undefined),
  };
  // A definition has no status: Events report what is wrong with it.
  return { recording, made };
}

function kinds(namespace: string): WatchedKind[] {
  return [
    {
      apiVersion: `${attachmentGroup}/v1`,
      kind: attachmentKind,
      plural: attachmentPlural,
      mayHaveAny: true,
      keep: (object) => (namesSlices(object) ? { spec: { config: asAttachmentDefinition(object).spec.config } } : {}),
    },
    {
      apiVersion: `${slicePoolGroup}/v1alpha1`,
      kind: slicePoolKind,
      plural: "nodeslicepools",
      where: { namespace },
      isGrant: true,
      isShared: true,
      isOwnSource: true,
      hasNoStatusSubresource: true,
      keep: ({ spec, status }) => ({ spec, status }),
      keepMade: ({ spec }) => ({ spec }),
    },
    {
      apiVersion: `${slicePoolGroup}/v1alpha1`,
      kind: ipPoolKind,
      plural: "ippools",
      where: { namespace },
      makesRoom: true,
      keep: (ipPool) => {
        const { range, allocations } = asIPPool(ipPool).spec;
        return { spec: { range, allocations: anyOf(allocations) } };
      },
    },
  ];
}

/** Returns at most one entry of the allocations: one is enough to show that the slice is in use. */
function anyOf(allocations: Bag): Bag {
  return Object.fromEntries(
    Object.keys(allocations)
      .slice(0, 1)
      .map(() => ["any", {}]),
  );
}

/**
 * Returns the owners and sources that an object concerns.
 *
 *  object                             | owners                          | sources
 *  -----------------------------------+---------------------------------+-----------------------------
 *  definition with slices             | all                             | itself, and its network
 *  any other definition               | none                            | none
 *  NodeSlicePool                      | its network                     | its network
 *  one that the controller did not    | its network, and the nodes that | its network
 *   make                              |  it lists                       |
 *  IPPool                             | nodes whose slice it may be of: | none
 *                                     |  a node that is not selected    |
 *                                     |  loses its slice once this is   |
 *                                     |  empty, or gone                 |
 */
function concerns(object: Bag, keyOfNetwork: (network: string) => string): Concern {
  if (namesSlices(object)) {
    const network = parseAttachment(object).value?.network;
    return { owners: "all", sources: [keyOf(object), ...(network ? [keyOfNetwork(network)] : [])] };
  }
  if (isIPPool(object)) return { owners: ownersOfIPPool(object), sources: [], isEvidence: isInUse(object) };
  if (!isSlicePool(object)) return { owners: [], sources: [] };
  const network = keyOfNetwork(nameOf(object));
  if (isManaged(object)) return { owners: [network], sources: [network], isEvidence: true };
  return { owners: [network, ...listedSlices(object).map(({ node }) => nodeOwner(node))], sources: [network] };
}

/** Returns the first slice in `there` that `wanted` does not give to the same node. If there is none, `wanted` can replace `there`, and no node moves. */
function lackingIn(wanted: Bag, there: Bag): ListedSlice | undefined {
  const listed = new Set(listedSlices(wanted).map(({ node, slice }) => `${node} ${slice}`));
  return listedSlices(there).find(({ node, slice }) => !listed.has(`${node} ${slice}`));
}

/** Returns why the controller does not take over a NodeSlicePool. The message must not advise to delete it: pods have addresses of it, and unrecorded slices count as free. */
function whyRefused(there: Bag, wanted: Bag, namespace: string): string | undefined {
  const lacking = lackingIn(wanted, there);
  if (lacking === undefined) return undefined;
  const [length, size] = [
    `${lacking.slice}`.split("/")[1],
    `${asNodeSlicePool(wanted).spec.sliceSize}`.replace("/", ""),
  ];
  const next =
    length === size
      ? `Find out which addresses are in use (kubectl get ippools -n ${namespace}) before you delete anything.`
      : `Let node_slice_size of the network be /${length} until it is taken over. After that it may be another one.`;
  return `gives ${lacking.node} ${lacking.slice}, which the record does not, and stays as it is. ${next}`;
}
