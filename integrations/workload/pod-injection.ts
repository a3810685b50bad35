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
  /** What is in it, by the keys of the pods. */
  readonly entries: ReadonlyMap<string, PodEntry>;
  /** Finds other objects by their keys. */
  readonly find: (key: string) => Bag | undefined;
  /** What steps are right by; pods of one template share it. */
  readonly needs: (definitions: readonly string[]) => Needs;
}

/** All pods among which those of a workload are. */
export function podsOf({ namespace }: WorkloadName) {
  return { kind: workloadPods.kind, namespace };
}

/** What is right by what is seen now. */
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
 * Tells a pod the addresses of its index, and lets it be scheduled. The server is asked first whether what says so is as it is seen.
 *
 *  the ConfigMap                        | the pod
 *  -------------------------------------+------------------------------------------------------------------
 *  has its index                        | is told, once all its networks can be
 *  has it, with addresses for nodes     | waits, and an Event says so
 *   that its nodeSelector rules out      |
 *  is for pods that name other pools    | waits, and an Event says so: it, or the pod, is of an earlier template
 *  has not, and the controller made it  | waits: it will have it, or an Event on the workload says why not
 *  has not, and a plan made it          | waits, and an Event says so
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

/** What the interfaces of a pod are given. */
function givenOn(networks: readonly PodNetwork[]): PodAllocation[] {
  return networks.flatMap(({ nic, element: { ips } }) =>
    Array.isArray(ips) ? { interface: nic, ips: ips.map(String) } : [],
  );
}

/** What a network of a pod becomes, and by which definition it is told nothing; or why the pod waits, if that is to be said. */
type Assignment =
  | { readonly network: PodNetwork; readonly object?: Bag; readonly key?: string }
  | { readonly why?: string };

/**
 * A network of a pod.
 *
 *  in the ConfigMap it     | its definition         | the pod
 *  ------------------------+------------------------+-----------------------------------------------
 *  has addresses           | takes addresses        | is told these
 *  has addresses           | is not there, or takes | waits, and an Event says so
 *                          |  none                  |
 *  is not                  | any                    | waits, and an Event says so: another template
 *  is not, but the default | is not bound           | is told nothing on it: older ConfigMaps have none of these
 *  has none                | is not there           | waits, and an Event says so
 *  has none                | or the pod, names pools | waits: it will have some
 *  has none                | any other              | is told nothing on it
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

/** Do pods that it is for say otherwise of pools? What a plan has made says nothing of them. */
function isOfOtherPools(pod: Bag, map: Bag): boolean {
  const requested = annotationsOf(map)[poolRequestAnnotation];
  return requested !== undefined && requested !== poolRequest(annotationsOf(pod));
}

/** Does a definition name pools, or a pod for this NIC? */
function namesPoolsFor(definition: Bag | undefined, pod: Bag, nic: NicOfPod): boolean {
  const { subnet = {}, workload = {} } = namedByPod(annotationsOf(pod), nic).value ?? {};
  const own = [subnet, workload].flatMap((named) => Object.values(named).flat());
  return definition !== undefined && (boundPools(definition) !== undefined || (isBound(definition) && own.length > 0));
}

function otherNodes({ kind, name }: WorkloadName): string {
  return `its addresses are kept, and for other nodes than its nodeSelector names: change that back, or delete ${kind} ${name}, and make it again once they are free`;
}
