import { type Address, claimKey, formatOwner, parseAddress, type Use } from "../../core/index.ts";
import { ownPrefix } from "../../schema/node.ts";
import { asList, type Bag, type LocatedObject, placeless } from "../../schema/objects.ts";
import { raw } from "../../schema/shape.ts";
import {
  annotationsOf,
  isDeleting,
  labelsOf,
  metadataOf,
  nameOf,
  ownersOf,
  uidOf,
} from "../contract/object-metadata.ts";
import type { WatchedKind } from "../contract/watched-kind.ts";
import { isGated, isOver } from "../networks/gated-pod.ts";
import { asPod } from "../networks/objects.ts";
import { addressesGiven, allocatedAnnotation } from "../networks/pod-allocation.ts";
import { keepDetected } from "./detect-status.ts";
import { affinityIn } from "./node-constraint.ts";
import { dataKey, entriesOfMap, type WorkloadName, workloadOfMap } from "./pod-addresses.ts";
import { type PodNetwork, readPodNetworks } from "./pod-networks.ts";
import {
  addressesLabel,
  claimOfIndex,
  isAllocatedInCluster,
  kindsWithPods,
  ownerOfWorkload,
  type WorkloadKind,
  workloadGroup,
} from "./workload-object.ts";

/** On a pod: the index that it has of its workload, `Deployment/web/2`. */
export const indexAnnotation = `${ownPrefix}pod-index`;

/** On a pod that is being deleted and never ends: its uid, once its addresses are free. A copy of it has another one. */
export const freedAnnotation = `${ownPrefix}freed`;

/** The pods whose addresses somebody writes, as they are watched. */
export const workloadPods: WatchedKind = {
  apiVersion: "v1",
  kind: "Pod",
  plural: "pods",
  where: { labels: addressesLabel },
  keep: (pod) => {
    const { spec, status } = asPod(pod);
    const { schedulingGates, nodeSelector } = raw(spec);
    return {
      spec: {
        ...(isGated(pod) && { schedulingGates, affinity: affinityIn(spec), nodeSelector }),
        ...(isDeleting(pod) && { nodeName: spec.nodeName }),
      },
      status: { phase: raw(status).phase, ...keepDetected(pod) },
    };
  },
};

/** What a pod is for its workload. */
export interface PodIndex {
  readonly workload: WorkloadName;
  readonly index: number;
}

/**
 * The workload that made a pod.
 *
 *  its owner                                      | it is of
 *  -----------------------------------------------+----------------------------------
 *  StatefulSet                                    | that
 *  ReplicaSet of a Deployment, which has its name | that Deployment
 *   and the hash in the pod's label               |
 *  any other, or none, and it has label `gated`   | itself: it has its addresses for as long as it is there
 *  any other                                      | none
 */
export function workloadOfPod(pod: Bag): WorkloadName | undefined {
  const { namespace = "default", labels } = metadataOf(pod);
  const owner = ownersOf(pod).find(({ apiVersion }) => `${apiVersion}`.startsWith(`${workloadGroup}/`));
  const named = (kind: WorkloadKind, name: string) => ({ kind, namespace: `${namespace}`, name });
  if (owner?.kind === "StatefulSet") return named("StatefulSet", `${owner.name}`);
  const hash = `-${labels["pod-template-hash"]}`;
  const isOfDeployment = owner?.kind === "ReplicaSet" && `${owner.name}`.endsWith(hash);
  if (isOfDeployment) return named("Deployment", `${owner.name}`.slice(0, -hash.length));
  return labels[addressesLabel] === "gated" ? named("Pod", nameOf(pod)) : undefined;
}

/** Is it a pod that is of itself? */
export function isAlone(object: Bag): boolean {
  return object.kind === "Pod" && workloadOfPod(object)?.kind === "Pod";
}

/** Does it wait for addresses that are its own? */
export function isWaitingAlone(pod: Bag): boolean {
  return isAlone(pod) && isGated(pod) && !isOver(pod);
}

/** The index that a pod was told, of the workload that made it, if that is still known; of a pod of a StatefulSet, what its name says. */
export function indexOfPod(pod: Bag): PodIndex | undefined {
  const { namespace = "default", annotations } = metadataOf(pod);
  const [, kind, name, index] = /^(\w+)\/([^/]+)\/(\d{1,9})$/.exec(`${annotations[indexAnnotation]}`) ?? [];
  const known = kindsWithPods.find((one) => one === kind);
  const workload = workloadOfPod(pod);
  const isMade = workload !== undefined && workload.kind !== "Pod";
  if (known !== undefined && (!isMade || (workload.kind === known && workload.name === name)))
    return { workload: { kind: known, namespace: `${namespace}`, name: `${name}` }, index: Number(index) };
  return workload?.kind === "StatefulSet" ? { workload, index: ordinalOf(pod, workload) } : undefined;
}

/** Does the controller allocate for its pods, or for it? */
export function asksController(object: Bag): boolean {
  return isAllocatedInCluster(object) || isWaitingAlone(object);
}

/** The index of a pod of a StatefulSet, by its name; a pod by itself is the first. */
export function ordinalOf(pod: Bag, { kind, name }: WorkloadName): number {
  const digits = kind === "Pod" ? "0" : nameOf(pod).slice(name.length + 1);
  return /^\d+$/.test(digits) ? Number(digits) : Number.NaN;
}

/** Has a pod come to its end, or is it taken for one that has? */
export function hasEnded(pod: Bag): boolean {
  return isOver(pod) || isFreed(pod);
}

/** Is it one that never ends, and whose addresses are free all the same? */
export function isFreed(pod: Bag): boolean {
  const isMarked = annotationsOf(pod)[freedAnnotation] === uidOf(pod);
  return isMarked && isDeleting(pod) && workloadOfPod(pod)?.kind === "Deployment";
}

/** What a pod says as its networks; nothing that cannot be read. */
export function networksOfPod(pod: Bag): readonly PodNetwork[] {
  const { namespace = "default", annotations } = metadataOf(pod);
  return readPodNetworks(annotations, `${namespace}`);
}

/** The addresses that networks say, as they are written. */
export function ipsOn(networks: readonly PodNetwork[]): string[] {
  return networks.flatMap(({ element }) => asList(element.ips).map(String));
}

/** The addresses that a pod may run with, each the claim's of its index; of one that does not say its index, the workload's that made it. */
export function usesOfWorkloadPod(located: LocatedObject): Use[] {
  return hasEnded(located.object) ? [] : usesAssignedTo(located);
}

/** The same, also of one that has ended. What it was given counts as what its networks say: others rewrite these. */
export function usesAssignedTo({ object, at }: LocatedObject): Use[] {
  const isOurs = object.kind === "Pod" && labelsOf(object)[addressesLabel] !== undefined;
  if (!isOurs || isGated(object)) return [];
  const workload = workloadOfPod(object);
  const its = indexOfPod(object) ?? (workload && { workload });
  const assigned = networksOfPod(object).map(({ nic, element, annotation }) => ({ nic, ips: element.ips, annotation }));
  const given = addressesGiven(object).map(({ interface: nic, ips }) => ({
    nic,
    ips,
    annotation: allocatedAnnotation,
  }));
  const uses = [...assigned, ...given].flatMap(({ nic, ips, annotation }) =>
    usesOfNetwork(nic, asList(ips), its, () => at(["metadata", "annotations", annotation], "")),
  );
  return [...new Map(uses.toReversed().map((use) => [`${use.claim} ${use.address}`, use])).values()].reverse();
}

/** Returns the addresses that a pod was given and may run with, also if somebody has rewritten its networks; none while it is gated. */
export function addressesOfPod(pod: Bag): Address[] {
  return [...new Set(usesAssignedTo(placeless(pod)).map(({ address }) => address))];
}

/** The claims whose addresses a pod may run with although it does not say them any more: applied again, a manifest takes out what it was told. */
export function claimsWithoutIps(pod: Bag): string[] {
  const its = isGated(pod) || hasEnded(pod) ? undefined : indexOfPod(pod);
  if (its === undefined) return [];
  const withoutIps = networksOfPod(pod).filter(({ element }) => element.ips === undefined);
  return withoutIps.map(({ nic }) => claimKey(ownerOfWorkload(its.workload), claimOfIndex(its.index, nic)));
}

/** The addresses that a ConfigMap has for the pods of a workload, each the claim's of its index. */
export function usesOfMap({ object, at }: LocatedObject): Use[] {
  const workload = workloadOfMap(object);
  if (workload === undefined) return [];
  return entriesOfMap(object, workload).flatMap(({ key, index, networks }) =>
    networks.flatMap((network) =>
      usesOfNetwork(network.nic, asList(network.element.ips), { workload, index }, (ip) =>
        at(["data", dataKey(key, network.annotation)], ip),
      ),
    ),
  );
}

/** The addresses of a network of a pod. `at` says where one stands. */
function usesOfNetwork(
  nic: string,
  ips: readonly unknown[],
  its: Partial<PodIndex> | undefined,
  at: (ip: string) => Use["at"],
): Use[] {
  const claim = its?.index === undefined ? undefined : claimOfIndex(its.index, nic);
  const own = {
    ...(its?.workload && { owner: formatOwner(ownerOfWorkload(its.workload)) }),
    ...(claim === undefined ? {} : { interface: claim, claim }),
  };
  return ips.flatMap((ip) => {
    const { value: address } = parseAddress(`${ip}`.replace(/\/.*/s, ""));
    return address === undefined ? [] : { address, ...own, at: at(`${ip}`) };
  });
}
