import { type Allocation, formatAddress, formatOwner, nameOfKey, ownerOfKey } from "../../core/index.ts";
import { type Bag, placeless } from "../../schema/objects.ts";
import type { Facts } from "../contract/facts.ts";
import { annotationsOf, isDeleting, metadataOf } from "../contract/object-metadata.ts";
import { isGated, isOver } from "../networks/gated-pod.ts";
import { aboutPools } from "./named-pools.ts";
import { isConflictUnreported } from "./pod-detected.ts";
import { networkAnnotations } from "./pod-networks.ts";
import {
  asksController,
  claimsWithoutIps,
  hasEnded,
  indexOfPod,
  networksOfPod,
  ordinalOf,
  usesOfMap,
  usesOfWorkloadPod,
  workloadOfPod,
  workloadPods,
} from "./pods.ts";
import { maySelect } from "./pools-of-workload.ts";
import { isPoolIn, sourcesFound } from "./sources-in-cluster.ts";
import { ownerOfWorkload, parseWorkload } from "./workload-object.ts";

/** Bears a pod an address that is its own, or may it? It bears all that it was told, whatever it says by now: applied again, a manifest takes that out. */
function isUsedByPod(pod: Bag, { address, claim }: Allocation): boolean {
  const its = isGated(pod) || hasEnded(pod) ? undefined : indexOfPod(pod);
  if (its !== undefined && formatOwner(ownerOfWorkload(its.workload)) === ownerOfKey(claim)) return true;
  const uses = usesOfWorkloadPod(placeless(pod));
  return uses.some((use) => use.address === address && use.owner === ownerOfKey(claim));
}

/** The line stays while a pod by itself bears it, or waits for it, or has found a conflict of it that its pool is still to say, and while the template of its workload names its index and network, and somebody names its pool; and while that network, or which pools are named, cannot be read. */
export function isStillNamed(owner: Bag, line: Allocation, find: (key: string) => Bag | undefined): boolean {
  if (owner.kind === workloadPods.kind && (isUsedByPod(owner, line) || isConflictUnreported(owner, line, find)))
    return true;
  const workload = asksController(owner) && !isDeleting(owner) ? parseWorkload(owner).value : undefined;
  if (workload === undefined) return false;
  const [index = "", nic] = nameOfKey(line.claim).split("/");
  const network = workload.indexes.includes(Number(index))
    ? workload.networks.find((one) => one.nic === nic)
    : undefined;
  return network !== undefined && maySelect(line, workload, network, sourcesFound(workload, find), isPoolIn(find));
}

/**
 * Is an address off its pod?
 *
 *  there is                                          | it is
 *  --------------------------------------------------+---------------------------------------------------
 *  a pod with it that has not come to its end        | no
 *  such a pod of this index, which says no addresses | no: it may have it
 *   on this network any more                         |
 *  a pod that waits, may be told this index, and has | no: somebody may be about to tell it, by what the
 *   a network of this name and pool                  |  ConfigMap said
 *  a ConfigMap with it                               | no: the next pod would be told
 *  none of these                                     | yes
 */
export function gone(
  objects: readonly Bag[],
  _: Facts,
  releasing: readonly Allocation[],
  __: boolean,
  find: (key: string) => Bag | undefined,
): readonly Allocation[] {
  const located = objects.map((object) => placeless(object));
  const uses = located.flatMap((one) => [...usesOfWorkloadPod(one), ...usesOfMap(one)]);
  const used = new Set(uses.map(({ address, owner = "" }) => `${formatAddress(address)} ${owner}`));
  const withoutIps = new Set(objects.flatMap((one) => (one.kind === workloadPods.kind ? claimsWithoutIps(one) : [])));
  // Pods of one Deployment wait for the same.
  const waiting = new Map(objects.filter(isWaitingPod).map((pod) => [sameWait(pod), pod]));
  const awaited = [...waiting.values()].flatMap((pod) => awaitedBy(pod, find));
  return releasing.filter((line) => {
    const isUsed = used.has(`${formatAddress(line.address)} ${ownerOfKey(line.claim)}`);
    return !isUsed && !withoutIps.has(line.claim) && !awaited.some((one) => one.isOf(line.claim) && one.mayHave(line));
  });
}

function isWaitingPod(object: Bag): boolean {
  return object.kind === workloadPods.kind && isGated(object) && !isOver(object);
}

/** The same text for pods that may be told the same. */
function sameWait(pod: Bag): string {
  const { namespace, annotations, name } = metadataOf(pod);
  const workload = workloadOfPod(pod);
  const networks = networkAnnotations.map((one) => annotations[one]);
  const asked = [aboutPools(annotations), networks];
  return JSON.stringify([namespace, workload, workload?.kind === "Deployment" ? "" : name, asked]);
}

/** What a pod that waits may be told: for which claims, and of which pools. Any index of a Deployment may be its. */
function awaitedBy(object: Bag, find: (key: string) => Bag | undefined) {
  const workload = workloadOfPod(object);
  if (workload === undefined) return [];
  const owner = `${formatOwner(ownerOfWorkload(workload))}/`;
  const index = workload.kind === "Deployment" ? "" : `${ordinalOf(object, workload)}/`;
  const networks = networksOfPod(object);
  const asking = { ...workload, networks, annotations: annotationsOf(object) };
  const sources = sourcesFound(asking, find);
  return networks.map((network) => ({
    isOf: (claim: string) => claim.startsWith(`${owner}${index}`) && claim.endsWith(`/${network.nic}`),
    mayHave: (line: Allocation) => maySelect(line, asking, network, sources, isPoolIn(find)),
  }));
}
