import { byCodeUnit, formatOwner } from "../../core/index.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import { networksAnnotation } from "../attachment-definition.ts";
import { isGated, isOver, otherGates } from "../gated-pod.ts";
import { isManaged } from "../in-cluster.ts";
import { objectKey } from "../object-key.ts";
import { isDeleting, nameOf, uidOf } from "../object-metadata.ts";
import type { Tending, TendStep } from "../tending.ts";
import { affinityWith } from "./node-constraint.ts";
import { entriesOfMap, entryKey, mapNameOf, mapsKind, type WorkloadName, workloadOfMap } from "./pod-addresses.ts";
import { networksOfPod, ordinalOf, placeAnnotation, placeOfPod, workloadOfPod, workloadPods } from "./pods.ts";
import { ownerOfWorkload } from "./workload-object.ts";

/** The pods of workloads: each waits until its addresses are written into it, as the ConfigMap of its workload has them. Who wrote that does not matter. */
export const podDelivery: Tending = {
  kinds: [workloadPods, mapsKind],
  belongsTo: (object) => [...new Set(workloadsOf(object).map((workload) => formatOwner(ownerOfWorkload(workload))))],
  steps: (_, belonging) => {
    const map = belonging.find(isItsMap);
    const workload = map && workloadOfMap(map);
    if (map === undefined || workload === undefined) return [];
    const pods = belonging.filter((one) => one.kind === workloadPods.kind && !isOver(one));
    const isOfIt = (pod: Bag) => sameWorkload(workloadOfPod(pod), workload);
    const waiting = pods.filter((pod) => isGated(pod) && !isDeleting(pod) && isOfIt(pod)).sort(byAge);
    if (workload.kind === "StatefulSet")
      return waiting.flatMap((pod) => tell(pod, ordinalOf(pod, workload), { workload, map }));
    return stepsOfDeployment(waiting, pods, { workload, map });
  },
};

/** A workload, and the ConfigMap with the addresses of its pods. */
interface Addresses {
  readonly workload: WorkloadName;
  readonly map: Bag;
}

function workloadsOf(object: Bag): WorkloadName[] {
  if (object.kind === mapsKind.kind) return [workloadOfMap(object) ?? []].flat();
  return [workloadOfPod(object) ?? [], placeOfPod(object)?.workload ?? []].flat();
}

/** Another one with its label is none. */
function isItsMap(object: Bag): boolean {
  const workload = workloadOfMap(object);
  return workload !== undefined && nameOf(object) === mapNameOf(workload) && !isDeleting(object);
}

function sameWorkload(a: WorkloadName | undefined, b: WorkloadName): boolean {
  return a?.kind === b.kind && a.namespace === b.namespace && a.name === b.name;
}

/** The oldest first. */
function byAge(a: Bag, b: Bag): number {
  const since = ({ metadata }: Bag) => `${asBag(metadata)?.creationTimestamp ?? ""}`;
  return byCodeUnit(since(a), since(b)) || byCodeUnit(uidOf(a), uidOf(b));
}

/**
 * Which place a pod of a Deployment has. It is written into the pod first, and only where the server then shows no other one
 * with it, also none that waits, the addresses follow: of two controllers that choose the same place for two pods at once, each sees
 * what the other one has written, or none has told its pod.
 *
 *  the pod that waits has | other pods that may run, or wait, have it | to do
 *  -----------------------+-------------------------------------------+-----------------------------------------
 *  no place               |                                           | choose the lowest place that nobody has
 *  a place                | no                                        | tell it its addresses
 *  a place                | one that does not wait, or comes first    | choose another one
 *  a place                | others that wait                          | nothing: they choose another one
 */
function stepsOfDeployment(waiting: readonly Bag[], pods: readonly Bag[], addresses: Addresses): TendStep[] {
  const { workload, map } = addresses;
  const places = entriesOfMap(map, workload)
    .map(({ place }) => place)
    .sort((a, b) => a - b);
  const placeOf = (pod: Bag) => {
    const its = placeOfPod(pod);
    return sameWorkload(its?.workload, workload) ? its?.place : undefined;
  };
  const holders = Map.groupBy(pods, placeOf);
  const taken = new Set(holders.keys());
  return waiting.flatMap((pod): TendStep[] => {
    const own = placeOf(pod);
    const others = (holders.get(own) ?? []).filter((one) => one !== pod);
    const isTheirs = others.some((one) => !isGated(one) || isDeleting(one) || byAge(one, pod) < 0);
    const mayKeep = own !== undefined && places.includes(own) && !isTheirs;
    if (mayKeep) return others.length > 0 ? [] : tell(pod, own, addresses);
    const free = places.find((place) => !taken.has(place));
    taken.add(free);
    const chosen = free === undefined ? null : `${workload.kind}/${workload.name}/${free}`;
    const fields = { metadata: { annotations: { [placeAnnotation]: chosen } } };
    return [
      ...(own === undefined && chosen === null ? [] : [{ verb: "change", object: pod, fields } as const]),
      ...(chosen === null ? [warn(pod, noPlace(workload, places.length))] : []),
    ];
  });
}

function noPlace({ name }: WorkloadName, count: number): string {
  return `each of the ${count} places of Deployment ${name} has a pod, so this one waits until one of these ends. They are replicas and maxSurge`;
}

/**
 * What a pod is told: the addresses of its place, on those of its networks that have some.
 *
 *  the ConfigMap                  | the pod
 *  -------------------------------+------------------------------------------------------------------
 *  has not its place, and is ours | waits: it will have it, or an Event on the workload says why not
 *  the same of a plan             | waits, and an Event says so
 *  has not one of its networks    | waits, and an Event says so: its template is another one
 *  has all                        | is told, and scheduled
 */
function tell(pod: Bag, place: number, { workload, map }: Addresses): TendStep[] {
  const key = entryKey(workload, place);
  const entry = entriesOfMap(map, workload).find((one) => one.key === key);
  const title = `ConfigMap ${nameOf(map)}`;
  if (entry === undefined)
    return isManaged(map)
      ? []
      : [warn(pod, `${title} has no addresses for it: allocate, render and apply ${workload.kind} ${workload.name}`)];
  const networks = networksOfPod(pod);
  const told = networks.map(({ definition, nic, element }) => {
    const its = entry.networks.find((one) => one.definition === definition && one.nic === nic);
    const { ips } = its?.element ?? {};
    return its && (ips === undefined ? element : { ...element, interface: nic, ips });
  });
  const strange = networks[told.indexOf(undefined)];
  if (strange !== undefined)
    return [
      warn(
        pod,
        `${title} has nothing for network ${strange.definition} (${strange.nic}) of this pod: is it of an earlier template? Then delete it`,
      ),
    ];
  const annotations = {
    [networksAnnotation]: JSON.stringify(told),
    [placeAnnotation]: `${workload.kind}/${workload.name}/${place}`,
  };
  const fields = {
    metadata: { annotations },
    spec: { ...affinityWith(pod.spec, entry.nodes), schedulingGates: otherGates(pod) },
  };
  const all = { kind: workloadPods.kind, namespace: workload.namespace };
  const needs = { keys: [objectKey(map as never)], ...(workload.kind === "Deployment" && { all }) };
  return [{ verb: "change", object: pod, fields, needs }];
}

function warn(pod: Bag, message: string): TendStep {
  return { verb: "warn", about: objectKey(pod as never), message };
}
