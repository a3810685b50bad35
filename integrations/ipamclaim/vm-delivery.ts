import { asBag, asList, type Bag, conditionOf } from "../../schema/objects.ts";
import { networksAnnotation } from "../attachment-definition.ts";
import { isGated, otherGates } from "../gated-pod.ts";
import { objectKey } from "../object-key.ts";
import { isDeleting, nameOf, ownersOf, uidOf } from "../object-metadata.ts";
import type { TendStep } from "../tending.ts";
import { claimNameOf, podInterfaceOf } from "./claim-name.ts";
import { shownIps } from "./claim-status.ts";
import { plannedFor, plannedIps } from "./ipam-claim.ts";
import type { PersistentNetwork } from "./network.ts";
import type { VmNetwork } from "./virtual-machine.ts";
import { elementsOf, toldAnnotation } from "./vm-pods.ts";
import { keysOfVm, pluggedInto, runsFor, type VmView } from "./vm-view.ts";
import { heldAnnotation, hold } from "./vm-words.ts";

/** What a pod's network is told: fields beside those that it has, and which addresses of NodeIPPools that gives it, by their claim. */
type Told = { readonly fields: Bag; readonly byClaim?: Bag } | { readonly why: string } | "waits";

/**
 * A pod of a VM is scheduled once all its networks are told their addresses.
 *
 *  a network of the VM             | its claim                     | the pod's network is told
 *  --------------------------------+-------------------------------+------------------------------------
 *  is not defined                  |                               | the pod waits, and an Event says so
 *  keeps no addresses              |                               | nothing
 *  any other                       | is not there, is of another   | the pod waits
 *                                  |  network, is another VM's, or |
 *                                  |  is being deleted and not held|
 *  of OVN-Kubernetes, with subnets | is there                      | `ipam-claim-reference`: it fills the claim in itself
 *  of OVN-Kubernetes, planned or   | has its addresses             | the same
 *   bound to NodeIPPools           | has none                      | the pod waits
 *  takes `ips`                     | has its addresses             | `ips`
 *                                  | has none                      | the pod waits
 *  any of these                    | has none, and it says why, or | the pod waits, and an Event says why
 *                                  |  a plan is to give them       |
 *  takes no `ips`                  | any                           | the pod waits, and an Event says why
 *
 * A claim has its addresses where whoever gives them says so, or where they were planned.
 */
export function deliverySteps(view: VmView): TendStep[] {
  const { instance } = view;
  if (instance === undefined || isDeleting(instance)) return [];
  const isOurs = (pod: Bag) => ownersOf(pod).some(({ uid }) => uid === uidOf(instance));
  return view.pods
    .filter((pod) => isGated(pod) && !isDeleting(pod) && isOurs(pod))
    .flatMap((pod) => stepsFor(pod, view));
}

function stepsFor(pod: Bag, view: VmView): TendStep[] {
  const warn = (message: string): TendStep => ({ verb: "warn", about: objectKey(pod as never), message });
  const elements = elementsOf(pod);
  if (elements === undefined) return [warn(`annotation ${networksAnnotation} is no JSON`)];
  const told: Bag[] = [...elements];
  let byClaim: Bag = {};
  const why: string[] = [];
  let isWaiting = false;
  for (const attachment of pluggedInto(view)) {
    const at = placeOf(attachment, elements, view);
    if (attachment.isAbsent || at < 0) continue;
    const one = toldOf(attachment, view);
    if (one === "waits") isWaiting = true;
    else if ("why" in one) why.push(one.why);
    else {
      told[at] = { ...elements[at], ...one.fields };
      byClaim = { ...byClaim, ...one.byClaim };
    }
  }
  if (isWaiting || why.length > 0) return why.map(warn);
  const annotations = { [networksAnnotation]: JSON.stringify(told), [toldAnnotation]: JSON.stringify(byClaim) };
  const fields = {
    ...(elements.length === 0 ? {} : { metadata: { annotations } }),
    spec: { schedulingGates: otherGates(pod) },
  };
  const keys = [...keysOfVm(view), ...view.claims.map((claim) => objectKey(claim as never))];
  return [{ verb: "change", object: pod, fields, needs: { keys } }];
}

/**
 * Where a pod has a network of its VM: by what KubeVirt calls the interface. Where it counts them instead (`net1`), as it goes on
 * to do for VMs that it started so, networks of one definition are in the order of the VM.
 */
function placeOf({ network, definition }: VmNetwork, elements: readonly Bag[], view: VmView): number {
  const at = elements.findIndex(({ interface: nic }) => nic === podInterfaceOf(network));
  if (at >= 0) return at;
  const isOf = (one: Bag) => `${one.namespace ?? view.namespace}/${one.name}` === definition;
  const alike = pluggedInto(view).filter((one) => !one.isAbsent && one.definition === definition);
  const places = [...elements.keys()].filter((i) => isOf(elements[i] ?? {}));
  return places.length === alike.length ? (places[alike.findIndex((one) => one.network === network)] ?? -1) : -1;
}

function toldOf({ network: called, definition }: VmNetwork, view: VmView): Told {
  const { value: network, issues: [wrong] = [] } = view.networkOf(definition);
  if (wrong !== undefined) return { why: `NetworkAttachmentDefinition ${definition}: ${wrong.message}` };
  if (!view.isDefined(definition))
    return { why: `there is no NetworkAttachmentDefinition ${definition}: define it, or let the VM name another one` };
  if (network === undefined) return { fields: {} };
  if (!network.isOvn && !network.takesIps) return { why: whyNot(network) };
  const name = claimNameOf(view.name, called);
  const claim = view.claims.find((one) => nameOf(one) === name);
  if (claim === undefined || !isFor(claim, network, view)) return "waits";
  const planned = plannedFor(claim);
  const isFilledByOvn = network.isOvn && network.bound === undefined && planned === undefined;
  if (isFilledByOvn) return { fields: { "ipam-claim-reference": name } };
  const ips = shownIps(claim);
  const allocated = conditionOf(asBag(claim.status)?.conditions, "IPsAllocated")?.status;
  const isPlanned = allocated === undefined && ips.every((ip) => plannedIps(planned).includes(ip));
  if (ips.length === 0) return waitingFor(claim, network, view);
  if (!(allocated === "True" || isPlanned)) return "waits";
  // An element has one of these, never both.
  const fields = network.isOvn ? { "ipam-claim-reference": name } : { ips };
  // What has a space of its own is nothing that anybody else could be given of a NodeIPPool.
  return network.bound === undefined ? { fields } : { fields, byClaim: { [name]: ips } };
}

/** Why a claim has no addresses; it may have them at any moment where nobody says that. */
function waitingFor(claim: Bag, { bound = [] }: PersistentNetwork, { planOf }: VmView): Told {
  const { status, message } = conditionOf(asBag(claim.status)?.conditions, "IPsAllocated") ?? {};
  if (status === "False") return { why: `IPAMClaim ${nameOf(claim)}: ${message}` };
  const pool = plannedIps(plannedFor(claim)).length === 0 ? bound.find(planOf) : undefined;
  if (pool === undefined) return "waits";
  const next = "allocate and render the VM, and apply its IPAMClaim";
  return {
    why: `IPAMClaim ${nameOf(claim)}: NodeIPPool ${pool} has authority Plan, so a plan gives its addresses: ${next}`,
  };
}

/** Is it a claim of this network, and for whoever runs? One that is being deleted stays for as long as it is held. */
function isFor(claim: Bag, { network }: PersistentNetwork, view: VmView): boolean {
  const { annotations, finalizers } = asBag(claim.metadata) ?? {};
  const heldFor = asBag(annotations)?.[heldAnnotation];
  const isHeld = asList(finalizers).includes(hold) && heldFor !== undefined;
  if (asBag(claim.spec)?.network !== network || (isDeleting(claim) && !isHeld)) return false;
  return heldFor === undefined || heldFor === runsFor(view);
}

function whyNot({ title }: PersistentNetwork): string {
  return `NetworkAttachmentDefinition ${title} takes no addresses: give its plugin "capabilities": {"ips": true} and "ipam": {"type": "static"}`;
}
