import { byCodeUnit, formatOwner } from "../../core/index.ts";
import { partition } from "../../core/partition.ts";
import type { Bag } from "../../schema/objects.ts";
import { isDeleting, metadataOf, nameOf, uidOf } from "../contract/object-metadata.ts";
import type { Reconciler } from "../contract/reconciler.ts";
import { type Needs, type Step, warn } from "../contract/step.ts";
import { attachmentKind } from "../networks/attachment-definition.ts";
import { isGated } from "../networks/gated-pod.ts";
import { networksKind } from "./bound-network.ts";
import { mapNameOf, mapsKind, type WorkloadName, workloadOfMap } from "./pod-addresses.ts";
import { isStuck, warnOfAlone, warnOfDetected, wayOf } from "./pod-conflict.ts";
import { type Addresses, addressesToInject, injectAddresses, podsOf } from "./pod-injection.ts";
import {
  hasEnded,
  indexAnnotation,
  indexOfPod,
  ipsOn,
  networksOfPod,
  ordinalOf,
  workloadOfPod,
  workloadPods,
} from "./pods.ts";
import { ownerOfWorkload } from "./workload-object.ts";

/** Injects addresses into the pods of workloads, from the ConfigMap of the workload, whether a plan or the controller wrote that. Until then a pod waits. */
export const podDelivery: Reconciler = {
  kinds: [workloadPods, mapsKind, networksKind],
  // A pod may wait for a network.
  belongsTo: (object) =>
    object.kind === attachmentKind
      ? "all"
      : [...new Set(workloadsOf(object).map((workload) => formatOwner(ownerOfWorkload(workload))))],
  steps: (_, belonging, find) => {
    const map = belonging.find((one) => workloadOfMap(one) !== undefined && !isDeleting(one));
    const workload = map && workloadOfMap(map);
    const all = belonging.filter((one) => one.kind === workloadPods.kind);
    if (map === undefined || workload === undefined) return [...warnOfAlone(all), ...all.flatMap(warnOfNoMap)];
    const pods = all.filter((pod) => !hasEnded(pod));
    const isOfIt = (pod: Bag) => sameWorkload(workloadOfPod(pod), workload);
    const waiting = pods.filter((pod) => isGated(pod) && !isDeleting(pod) && isOfIt(pod)).sort(byAge);
    const addresses = addressesToInject(map, workload, find);
    const started = pods.filter((pod) => !isGated(pod) && isOfIt(pod)).sort(byAge);
    // A copy of one of its pods has an index as well. While the copy waits, that index counts for nothing.
    const holding = pods.filter((pod) => !isGated(pod) || isOfIt(pod));
    if (workload.kind === "Deployment") return stepsOfDeployment(waiting, started, holding, addresses);
    return [
      ...waiting.flatMap((pod) => injectAddresses(pod, ordinalOf(pod, workload), addresses)),
      ...(workload.kind === "Pod" ? warnOfAlone(all) : started.flatMap((pod) => warnOfDetected(pod, "waits"))),
    ];
  },
};

/**
 * Warns about a pod that waits without a ConfigMap, which the controller or a plan makes soon after the workload. Events on the workload
 * may not report why there is none; a standalone pod has an Event of its own.
 */
function warnOfNoMap(pod: Bag): Step[] {
  const workload = isGated(pod) && !isDeleting(pod) ? workloadOfPod(pod) : undefined;
  if (workload === undefined || workload.kind === "Pod") return [];
  const next = `look at the Events of ${workload.kind} ${workload.name}; if a plan gives its addresses, apply what that renders`;
  return [{ ...warn(pod, `there is no ConfigMap ${mapNameOf(workload)} with its addresses: ${next}`), after: 60_000 }];
}

function workloadsOf(object: Bag): WorkloadName[] {
  if (object.kind === mapsKind.kind) return [workloadOfMap(object) ?? []].flat();
  return [workloadOfPod(object) ?? [], indexOfPod(object)?.workload ?? []].flat();
}

function sameWorkload(a: WorkloadName | undefined, b: WorkloadName): boolean {
  return a?.kind === b.kind && a.namespace === b.namespace && a.name === b.name;
}

/** Compares pods by age, the oldest first. */
function byAge(a: Bag, b: Bag): number {
  const since = (pod: Bag) => `${metadataOf(pod).creationTimestamp ?? ""}`;
  return byCodeUnit(since(a), since(b)) || byCodeUnit(uidOf(a), uidOf(b));
}

/**
 * Chooses an index for each pod of a Deployment. The controller writes the index into the pod first, and injects the addresses only if
 * the server then shows no other pod with that index, waiting or not. If two controllers choose one index for two pods at once, each
 * sees what the other wrote before it injects.
 *
 *  the pod that waits has | other pods that may run, or wait, have it | to do
 *  -----------------------+-------------------------------------------+-----------------------------------------
 *  no index               |                                           | choose the lowest index that no pod has
 *  an index that is left  | any                                       | choose another one
 *   out, or is no more    |                                           |
 *  an index               | no                                        | inject its addresses
 *  an index               | one that does not wait, or comes first    | choose another one
 *  an index               | others that wait                          | nothing: they choose another one
 */
function stepsOfDeployment(
  waiting: readonly Bag[],
  started: readonly Bag[],
  pods: readonly Bag[],
  addresses: Addresses,
): Step[] {
  const { workload, entries } = addresses;
  const usable = [...entries.values()].filter(({ isLeftOut }) => !isLeftOut);
  const indexes = usable.map(({ index }) => index).sort((a, b) => a - b);
  const needs: Needs = { keys: [], all: podsOf(workload) };
  const indexOf = (pod: Bag) => {
    const its = indexOfPod(pod);
    return sameWorkload(its?.workload, workload) ? its?.index : undefined;
  };
  const holders = holdersOf(pods, indexOf, addresses);
  const taken = new Set(holders.keys());
  const known = new Set(indexes);
  const free = indexes.filter((index) => !taken.has(index)).values();
  const steps = waiting.flatMap((pod): Step[] => {
    const own = indexOf(pod);
    const others = (holders.get(own) ?? []).filter((one) => one !== pod);
    const isTheirs = others.some((one) => !isGated(one) || isDeleting(one) || byAge(one, pod) < 0);
    const mayKeep = own !== undefined && known.has(own) && !isTheirs;
    if (mayKeep) return others.length > 0 ? [] : injectAddresses(pod, own, addresses);
    const { value: index } = free.next();
    const chosen = index === undefined ? null : `${workload.kind}/${workload.name}/${index}`;
    const fields = { metadata: { annotations: { [indexAnnotation]: chosen } } };
    return [
      ...(own === undefined && chosen === null ? [] : [{ verb: "change", object: pod, fields, needs } as const]),
      ...(chosen === null ? [warn(pod, noIndex(addresses, indexes.length))] : []),
    ];
  });
  // Pods that choose an index come first, so that one request to the server serves all that get addresses.
  const replaced = stepsOfStuck(started, [...free].length, addresses);
  return [...partition(steps, (step) => "needs" in step && step.needs === needs).flat(), ...replaced];
}

/** Reports what pods detected, and deletes those that cannot start, as far as there are indexes (`free`) for the pods that replace them. */
function stepsOfStuck(started: readonly Bag[], free: number, addresses: Addresses): Step[] {
  const { workload, entries } = addresses;
  const leftOut = [...entries.values()].filter((one) => one.isLeftOut);
  const needs: Needs = { keys: addresses.needs([]).keys };
  let left = free;
  return started.flatMap((pod): Step[] => {
    if (!isStuck(pod)) return warnOfDetected(pod, "waits");
    const index = indexOfPod(pod)?.index;
    const isLeftOut = leftOut.some((one) => one.index === index);
    const way = wayOf(workload.kind, { isLeftOut, isOtherFree: left > 0, leftOut: leftOut.length });
    if (way !== "replaced") return warnOfDetected(pod, way);
    left--;
    return [...warnOfDetected(pod, way), { verb: "delete", object: pod, needs }];
  });
}

/** Returns the pods of each index: by their annotation, or by an address of the index that they run with. */
function holdersOf(pods: readonly Bag[], indexOf: (pod: Bag) => number | undefined, { entries }: Addresses) {
  const indexOfIp = new Map(
    [...entries.values()].flatMap(({ index, networks }) => ipsOn(networks).map((ip) => [ip, index])),
  );
  const holders = new Map<number | undefined, Bag[]>();
  for (const pod of pods) {
    const inUse = isGated(pod) ? [] : ipsOn(networksOfPod(pod));
    for (const index of new Set([indexOf(pod), ...inUse.map((ip) => indexOfIp.get(ip))])) {
      const its = holders.get(index) ?? [];
      its.push(pod);
      holders.set(index, its);
    }
  }
  return holders;
}

function noIndex({ workload, map }: Addresses, count: number): string {
  return `ConfigMap ${nameOf(map)} has addresses for ${count} pods of Deployment ${workload.name}, and each is some pod's: this one waits until one of these ends`;
}
