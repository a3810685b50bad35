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

/**
 * Returns whether a pod uses an address of its own, or may. A running pod uses all addresses of its index, because applying its manifest
 * again removes them from its annotations and not from the pod.
 */
function isUsedByPod(pod: Bag, { address, claim }: Allocation): boolean {
  const its = isGated(pod) || hasEnded(pod) ? undefined : indexOfPod(pod);
  if (its !== undefined && formatOwner(ownerOfWorkload(its.workload)) === ownerOfKey(claim)) return true;
  const uses = usesOfWorkloadPod(placeless(pod));
  return uses.some((use) => use.address === address && use.owner === ownerOfKey(claim));
}

/**
 * Keeps a line although no claim asks for it, while: a standalone pod uses it; a standalone pod that has ended detected a conflict of it
 * which the pool does not list yet; or its workload, or a standalone pod that waits, still has its index and its network, and its pool
 * is named for that network. If the network or the names of the pools cannot be read, the line stays as well.
 */
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
 * Returns the releasing lines whose addresses no pod uses any more.
 *
 *  there is                                          | it is off its pod
 *  --------------------------------------------------+---------------------------------------------------
 *  a pod with it that has not ended                  | no
 *  such a pod of this index, without `ips` on this   | no: it may use it
 *   network                                          |
 *  a pod that waits, may get this index, and has a   | no: a controller or the API server may be injecting it,
 *   network of this name and pool                    |  from an earlier state of the ConfigMap
 *  a ConfigMap with it                               | no: the next pod would get it
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
  // Pods of one Deployment wait for the same addresses, so one of them is enough.
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

/** Returns a key that is equal for pods that may get the same addresses. */
function sameWait(pod: Bag): string {
  const { namespace, annotations, name } = metadataOf(pod);
  const workload = workloadOfPod(pod);
  const networks = networkAnnotations.map((one) => annotations[one]);
  const asked = [aboutPools(annotations), networks];
  return JSON.stringify([namespace, workload, workload?.kind === "Deployment" ? "" : name, asked]);
}

/** Returns which lines a waiting pod may get: of which claims and pools. A Deployment's pod may get any index. */
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
