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

/** The pods into which the controller, or a plan's ConfigMap, puts addresses, as the controller watches them. */
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

/** A workload, and the index that a pod has of it. */
export interface PodIndex {
  readonly workload: WorkloadName;
  readonly index: number;
}

/**
 * Returns the workload that made a pod.
 *
 *  the owner of the pod                           | the workload
 *  -----------------------------------------------+----------------------------------
 *  StatefulSet                                    | that StatefulSet
 *  ReplicaSet of a Deployment, which has its name | that Deployment
 *   and the hash in the pod's label               |
 *  any other, or none, and it has label `gated`   | the pod itself: it keeps its addresses until it is gone
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

/** Returns whether an object is a standalone pod: one that no StatefulSet or Deployment made. */
export function isAlone(object: Bag): boolean {
  return object.kind === "Pod" && workloadOfPod(object)?.kind === "Pod";
}

/** Returns whether a standalone pod waits for its addresses. */
export function isWaitingAlone(pod: Bag): boolean {
  return isAlone(pod) && isGated(pod) && !isOver(pod);
}

/** Returns the index in a pod's annotation, if it is of the workload that made the pod; else the ordinal of a StatefulSet's pod. */
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

/** Returns whether the controller allocates for the pods of a workload, or for a standalone pod. */
export function asksController(object: Bag): boolean {
  return isAllocatedInCluster(object) || isWaitingAlone(object);
}

/** Returns the ordinal in the name of a StatefulSet's pod; 0 for a standalone pod. */
export function ordinalOf(pod: Bag, { kind, name }: WorkloadName): number {
  const digits = kind === "Pod" ? "0" : nameOf(pod).slice(name.length + 1);
  return /^\d+$/.test(digits) ? Number(digits) : Number.NaN;
}

/** Returns whether a pod has ended, or the controller has freed its addresses as if it had. */
export function hasEnded(pod: Bag): boolean {
  return isOver(pod) || isFreed(pod);
}

/** Returns whether the controller has freed the addresses of a deleted pod that does not end (`freedPods`). */
export function isFreed(pod: Bag): boolean {
  const isMarked = annotationsOf(pod)[freedAnnotation] === uidOf(pod);
  return isMarked && isDeleting(pod) && workloadOfPod(pod)?.kind === "Deployment";
}

/** Returns the networks in a pod's annotations; skips what cannot be read. */
export function networksOfPod(pod: Bag): readonly PodNetwork[] {
  const { namespace = "default", annotations } = metadataOf(pod);
  return readPodNetworks(annotations, `${namespace}`);
}

/** Returns the `ips` of networks, as they are written. */
export function ipsOn(networks: readonly PodNetwork[]): string[] {
  return networks.flatMap(({ element }) => asList(element.ips).map(String));
}

/** Returns the addresses that a pod may run with, each for the claim of its index; for its workload if the pod has no index. */
export function usesOfWorkloadPod(located: LocatedObject): Use[] {
  return hasEnded(located.object) ? [] : usesAssignedTo(located);
}

/** Returns the same, also for a pod that has ended. Annotation `allocated` counts as well as the networks, which others rewrite. */
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

/** Returns the addresses that a pod was given and may run with, also if its networks were rewritten since; none while it is gated. */
export function addressesOfPod(pod: Bag): Address[] {
  return [...new Set(usesAssignedTo(placeless(pod)).map(({ address }) => address))];
}

/**
 * Returns the claims of the networks of a running pod that have no `ips`. The pod may still use their addresses, because applying its
 * manifest again removes what the controller injected.
 */
export function claimsWithoutIps(pod: Bag): string[] {
  const its = isGated(pod) || hasEnded(pod) ? undefined : indexOfPod(pod);
  if (its === undefined) return [];
  const withoutIps = networksOfPod(pod).filter(({ element }) => element.ips === undefined);
  return withoutIps.map(({ nic }) => claimKey(ownerOfWorkload(its.workload), claimOfIndex(its.index, nic)));
}

/** Returns the addresses that a ConfigMap has for the pods of a workload, each for the claim of its index. */
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

/** Returns the addresses of a network of a pod. `at` returns the place of one. */
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
