import { type Bag, conditionOf } from "../../schema/objects.ts";
import type { Of } from "../../schema/shape.ts";
import { isDeleting, nameOf, ownersOf, uidOf } from "../contract/object-metadata.ts";
import type { Step } from "../contract/step.ts";
import { networksAnnotation } from "../networks/attachment-definition.ts";
import { isGated } from "../networks/gated-pod.ts";
import { inject } from "../networks/inject.ts";
import type { asInterface } from "../networks/objects.ts";
import { podInterfaceOf } from "./claim-name.ts";
import { shownIps } from "./claim-status.ts";
import { plannedFor, plannedIps } from "./ipam-claim.ts";
import { asIpamClaim } from "./objects.ts";
import type { VmNetwork } from "./virtual-machine.ts";
import { askedBy } from "./vm-asked.ts";
import { debounce } from "./vm-constants.ts";
import { elementsOf, interfaceOf } from "./vm-pods.ts";
import {
  type Given,
  givenIn,
  type NetworkOnPod,
  needsOf,
  networksFor,
  runningPodSteps,
  warningsOf,
} from "./vm-running-pods.ts";
import { claimNameFor, definitionIn, holderOf, isOfOtherNetwork, pluggedInto, type VmView } from "./vm-view.ts";
import { whyNoAddresses, whyNoClaim, whyNoIps, whyNotFor } from "./vm-waits.ts";

/**
 * Lets a pod of a VM be scheduled once all its networks have their addresses.
 *
 *  a network of the VM             | its claim                         | the networks for Multus get
 *  --------------------------------+-----------------------------------+------------------------------------
 *  is not defined                  |                                   | the pod waits
 *  keeps no addresses              |                                   | nothing
 *  takes no `ips`                  | any                               | the pod waits
 *  any other                       | is not there, or not for the VM   | the pod waits
 *                                  |  that runs (`whyNotFor`)          |
 *  of OVN-Kubernetes, with subnets | is there                          | `ipam-claim-reference`: it fills the claim in itself
 *  of OVN-Kubernetes, planned or   | has its addresses                 | the same
 *   bound to NodeIPPools           |                                   |
 *  takes `ips`                     | has its addresses                 | `ips`
 *  any of these                    | has none                          | the pod waits
 *
 * A claim has its addresses if its status shows that they are assigned, or if a plan gave them. An Event reports why a pod waits: at once
 * if a user must act, and otherwise once it has waited longer than a start takes.
 */
export function deliverySteps(view: VmView): Step[] {
  const { instance } = view;
  if (instance === undefined) return [];
  const own = view.pods.filter((pod) => ownersOf(pod).some(({ uid }) => uid === uidOf(instance)));
  return own.flatMap((pod) => {
    if (!isGated(pod)) return runningPodSteps(pod, instance, networksOn(pod, view), view);
    return isDeleting(instance) || isDeleting(pod) ? [] : stepsForGated(pod, view);
  });
}

function stepsForGated(pod: Bag, view: VmView): Step[] {
  const elements = elementsOf(pod);
  if (elements === undefined) return warningsOf(pod, { why: `annotation ${networksAnnotation} is no JSON` });
  const found = networksOn(pod, view).map((one) => one.find());
  if (found.some((one) => "why" in one)) return found.flatMap((one) => warningsOf(pod, one));
  const given = found.flatMap(givenIn);
  const annotations = elements.length === 0 ? {} : { [networksAnnotation]: networksFor(elements, given) };
  return [inject(pod, { given, annotations }, needsOf(view))];
}

/** Returns the networks of its VM that a pod requests, each with the interface in the pod. */
function networksOn(pod: Bag, view: VmView): readonly NetworkOnPod[] {
  const elements = elementsOf(pod) ?? [];
  return pluggedInto(view).flatMap((attachment) => {
    const at = attachment.isAbsent ? -1 : placeOf(attachment, elements, view);
    const element = elements[at];
    if (element === undefined) return [];
    const nic = interfaceOf(element, at);
    const definition = definitionIn(element, view);
    const why = `its networks say ${definition} for interface ${nic}, and its VM says ${attachment.definition}`;
    const find = () =>
      definition === attachment.definition ? givenTo(nic, attachment, view) : { why, after: debounce };
    const isOf = (name: string) => {
      const claim = view.claims.find((one) => nameOf(one) === name);
      return claim === undefined || !isOfOtherNetwork(element, claim, view);
    };
    return { interface: nic, find, isOf };
  });
}

/**
 * Finds the network of a VM in its pod, by KubeVirt's name for the interface. If KubeVirt counts interfaces instead (`net1`), as it goes
 * on doing for VMs that it started so, networks of one definition are in the order of the VM.
 */
function placeOf(
  { network, definition }: VmNetwork,
  elements: readonly Of<typeof asInterface>[],
  view: VmView,
): number {
  const at = elements.findIndex(({ interface: nic }) => nic === podInterfaceOf(network));
  if (at >= 0) return at;
  const alike = pluggedInto(view).filter((one) => !one.isAbsent && one.definition === definition);
  const places = elements.flatMap((one, i) => (definitionIn(one, view) === definition ? i : []));
  return places.length === alike.length ? (places[alike.findIndex((one) => one.network === network)] ?? -1) : -1;
}

function givenTo(nic: string, { network: called, definition }: VmNetwork, view: VmView): Given {
  const { value: network, issues: [wrong] = [] } = view.networkOf(definition);
  if (wrong !== undefined) return { why: `NetworkAttachmentDefinition ${definition}: ${wrong.message}` };
  if (!view.isDefined(definition))
    return { why: `there is no NetworkAttachmentDefinition ${definition}: define it, or let the VM name another one` };
  if (network === undefined) return { given: [] };
  if (!network.isOvn && !network.takesIps) return { why: whyNoIps(network) };
  const name = claimNameFor(called, view);
  const claim = view.claims.find((one) => nameOf(one) === name);
  const why = claim === undefined ? whyNoClaim(name, view, whyNotAsked(name, view)) : whyNotFor(claim, network, view);
  if (claim === undefined || why !== undefined) return { why: why ?? "", after: debounce };
  const ips = shownIps(claim);
  const planned = plannedFor(claim);
  const reference = { interface: nic, "ipam-claim-reference": name };
  const isFilledByOvn = network.isOvn && network.bound === undefined && planned === undefined;
  if (isFilledByOvn) return { given: [reference] };
  const allocated = conditionOf(asIpamClaim(claim).status.conditions, "IPsAllocated")?.status;
  const isPlanned = allocated === undefined && ips.every((ip) => plannedIps(planned).includes(ip));
  if (ips.length === 0 || !(allocated === "True" || isPlanned)) return whyNoAddresses(claim, network, view);
  const common = { ...(network.isOvn ? reference : { interface: nic }), ips };
  // No NodeIPPool has an address of a network with a space of its own, so no other owner can get it.
  return { given: [network.bound === undefined ? common : { ...common, claim: name }] };
}

/** Returns what is wrong with what a VM asks for, if that is why it has no claim of a name. */
function whyNotAsked(name: string, view: VmView): string | undefined {
  const holder = holderOf(view);
  return holder && askedBy(view, holder).find((one) => one.name === name)?.why;
}
