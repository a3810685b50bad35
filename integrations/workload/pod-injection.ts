import { mayMeetAll, nodesWith } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { isManaged } from "../contract/managed-by.ts";
import { annotationsOf, keyOf, nameOf } from "../contract/object-metadata.ts";
import { type Needs, type Step, warn } from "../contract/step.ts";
import { attachmentKind, defaultNetworkAnnotation, keyOfDefinition } from "../networks/attachment-definition.ts";
import { boundPools } from "../networks/bound-pools.ts";
import { inject } from "../networks/inject.ts";
import { asPod } from "../networks/objects.ts";
import type { PodAllocation } from "../networks/pod-allocation.ts";
import { isBound, readBound } from "./bound-network.ts";
import { type NicOfPod, namedByPod, poolRequest } from "./named-pools.ts";
import { affinityWith } from "./node-constraint.ts";
import {
  assignedElement,
  checksInMap,
  entriesOfMap,
  entryKey,
  type PodEntry,
  poolRequestAnnotation,
  type WorkloadName,
} from "./pod-addresses.ts";
import { annotationsForDetect } from "./pod-detect.ts";
import { formatNetworks, type PodNetwork } from "./pod-networks.ts";
import { indexAnnotation, networksOfPod, workloadPods } from "./pods.ts";

/** A workload, and the ConfigMap with the addresses of its pods. */
export interface Addresses {
  readonly workload: WorkloadName;
  readonly map: Bag;
  /** The entries of the ConfigMap, by the keys of the pods. */
  readonly entries: ReadonlyMap<string, PodEntry>;
  /** Returns another object by its key. */
  readonly find: (key: string) => Bag | undefined;
  /** Returns what must be unchanged on the server for a step to be right; pods of one template share it. */
  readonly needs: (definitions: readonly string[]) => Needs;
}

/** Returns the kind and namespace that a workload's pods are listed by. */
export function podsOf({ namespace }: WorkloadName) {
  return { kind: workloadPods.kind, namespace };
}

/** Returns the addresses in the ConfigMap of a workload, as the controller sees it now. */
export function addressesToInject(map: Bag, workload: WorkloadName, find: Addresses["find"]): Addresses {
  const known = new Map<string, Needs>();
  const entries = new Map(entriesOfMap(map, workload).map((entry) => [entry.key, entry]));
  const all = podsOf(workload);
  const needs = (definitions: readonly string[]) => {
    const keys = [keyOf(map), ...new Set(definitions)];
    const same = known.get(keys.join());
    const own = same ?? { keys, ...(workload.kind === "Deployment" && { all }) };
    known.set(keys.join(), own);
    return own;
  };
  return { workload, map, entries, find, needs };
}

/**
 * Injects the addresses of an index into a pod, and lets it be scheduled, unless the ConfigMap has changed on the server.
 *
 *  the ConfigMap                        | the pod
 *  -------------------------------------+------------------------------------------------------------------
 *  has its index                        | gets them, once all its networks can have theirs
 *  has it, with addresses for nodes     | waits, with an Event
 *   that its nodeSelector rules out      |
 *  is for pods that name other pools    | waits, with an Event: the ConfigMap or the pod is of an earlier template
 *  lacks it, and the controller made it | waits: the controller adds it, or reports on the workload why not
 *  lacks it, and a plan made it         | waits, with an Event
 */
export function injectAddresses(pod: Bag, index: number, addresses: Addresses): Step[] {
  const { workload, map } = addresses;
  const key = entryKey(workload, index);
  const entry = addresses.entries.get(key);
  const next = `allocate, render and apply ${workload.kind} ${workload.name}`;
  if (entry === undefined)
    return isManaged(map) ? [] : [warn(pod, `ConfigMap ${nameOf(map)} has no addresses for it: ${next}`)];
  if (isOfOtherPools(pod, map))
    return [
      warn(
        pod,
        `ConfigMap ${nameOf(map)} is not for the pools of this pod: is it of an earlier template? Then delete it`,
      ),
    ];
  const assigned = networksOfPod(pod).map((network, i) => {
    const one = assignmentOf(network, entry.networks, addresses);
    const isToHave = "object" in one && namesPoolsFor(one.object, pod, { nic: network.nic, place: i });
    return isToHave ? {} : one;
  });
  const waits = assigned.flatMap((one) => ("network" in one ? [] : one));
  if (waits.length > 0) return waits.flatMap(({ why }) => (why === undefined ? [] : warn(pod, why)));
  const networks = assigned.flatMap((one) => ("network" in one ? one.network : []));
  const selected = nodesWith(asPod(pod).spec.nodeSelector);
  if (!mayMeetAll([...selected, ...entry.nodes])) return [warn(pod, otherNodes(workload))];
  const annotations = {
    ...formatNetworks(networks),
    ...annotationsForDetect(pod, networks, checksInMap(map)),
    [indexAnnotation]: `${workload.kind}/${workload.name}/${index}`,
  };
  const spec = affinityWith(pod.spec, entry.nodes);
  const others = assigned.flatMap((one) => ("key" in one && one.key !== undefined ? one.key : []));
  return [inject(pod, { given: givenOn(networks), annotations, spec }, addresses.needs(others))];
}

/** Returns the addresses that the interfaces of a pod get, for annotation `allocated`. */
function givenOn(networks: readonly PodNetwork[]): PodAllocation[] {
  return networks.flatMap(({ nic, element: { ips } }) =>
    Array.isArray(ips) ? { interface: nic, ips: ips.map(String) } : [],
  );
}

/**
 * A network of a pod with its addresses, and the key of its definition; `object` is that definition where the network gets none. Or
 * why the pod waits: without `why`, no Event reports it.
 */
type Assignment =
  | { readonly network: PodNetwork; readonly object?: Bag; readonly key?: string }
  | { readonly why?: string };

/**
 * Returns what a pod gets on a network, or why it waits.
 *
 *  in the ConfigMap it     | its definition         | the pod
 *  ------------------------+------------------------+-----------------------------------------------
 *  has addresses           | takes addresses        | gets these
 *  has addresses           | is not there, or takes | waits, with an Event
 *                          |  none                  |
 *  is not                  | any                    | waits, with an Event: it is of another template
 *  is not, but the default | is not bound           | gets none on it: older ConfigMaps lack default networks
 *  has none                | is not there           | waits, with an Event
 *  has none                | or the pod, names pools | waits: it will have some
 *  has none                | any other              | gets none on it
 */
function assignmentOf(network: PodNetwork, known: readonly PodNetwork[], { map, find }: Addresses): Assignment {
  const { definition, nic, annotation } = network;
  const its = known.find((one) => one.definition === definition && one.nic === nic);
  const wrong = `ConfigMap ${nameOf(map)} has nothing for network ${definition} (${nic}) of this pod`;
  const key = keyOfDefinition(definition);
  const object = find(key);
  const isLeft = annotation === defaultNetworkAnnotation && object !== undefined && !isBound(object);
  if (its === undefined && !isLeft) return { why: `${wrong}: is it of an earlier template? Then delete it` };
  const { ips } = its?.element ?? {};
  if (object === undefined)
    return { why: `there is no ${attachmentKind} ${definition}: define it, or name another one` };
  if (ips === undefined) return { network, object, key };
  if (!readBound(object).takesIps) return { why: `${attachmentKind} ${definition} takes no addresses` };
  return { network: { ...network, element: assignedElement(network, ips) }, key };
}

/** Returns whether a ConfigMap is for pods that request other pools than this pod. A ConfigMap that a plan made records no request. */
function isOfOtherPools(pod: Bag, map: Bag): boolean {
  const requested = annotationsOf(map)[poolRequestAnnotation];
  return requested !== undefined && requested !== poolRequest(annotationsOf(pod));
}

/** Returns whether a definition names pools, or a pod names some for this NIC. */
function namesPoolsFor(definition: Bag | undefined, pod: Bag, nic: NicOfPod): boolean {
  const { subnet = {}, workload = {} } = namedByPod(annotationsOf(pod), nic).value ?? {};
  const own = [subnet, workload].flatMap((named) => Object.values(named).flat());
  return definition !== undefined && (boundPools(definition) !== undefined || (isBound(definition) && own.length > 0));
}

function otherNodes({ kind, name }: WorkloadName): string {
  return `its addresses are kept, and for other nodes than its nodeSelector names: change that back, or delete ${kind} ${name}, and make it again once they are free`;
}
