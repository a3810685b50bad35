import { asBag, asList, type Bag, conditionOf } from "../../schema/objects.ts";
import { objectKey } from "../object-key.ts";
import type { TendStep } from "../tending.ts";
import { claimNameOf, podInterfaceOf } from "./claim-name.ts";
import { shownIps } from "./claim-status.ts";
import { plannedAnnotation } from "./ipam-claim.ts";
import type { PersistentNetwork } from "./network.ts";
import type { VmNetwork } from "./virtual-machine.ts";
import {
  elementsOf,
  holderOf,
  isDeleting,
  nameOf,
  networksAnnotation,
  pluggedInto,
  uidOf,
  type VmView,
} from "./vm-view.ts";
import { gate, heldAnnotation, isGated } from "./vm-words.ts";

/** What a pod's network is told: fields beside those that it has. */
type Told = { readonly fields: Bag } | { readonly why: string } | "waits";

/**
 * A pod of a VM is scheduled once all its networks are told their addresses.
 *
 *  a network of the VM             | its claim                    | the pod's network is told
 *  --------------------------------+------------------------------+------------------------------------
 *  keeps no addresses              |                              | nothing
 *  any other                       | is not there, is being       | the pod waits
 *                                  |  deleted, or another VM's    |
 *  of OVN-Kubernetes, with subnets | is there                     | `ipam-claim-reference`: it fills the claim in itself
 *  of OVN-Kubernetes, planned or   | has its addresses            | the same
 *   bound to NodeIPPools           | has none, or they conflict   | the pod waits
 *  takes `ips`                     | has its addresses            | `ips`
 *                                  | has none, or they conflict   | the pod waits
 *  takes no `ips`                  | any                          | the pod waits, and an Event says why
 */
export function deliverySteps(view: VmView): TendStep[] {
  return view.pods.filter((pod) => isGated(pod) && !isDeleting(pod)).flatMap((pod) => stepsFor(pod, view));
}

function stepsFor(pod: Bag, view: VmView): TendStep[] {
  const warn = (message: string): TendStep => ({ verb: "warn", about: objectKey(pod as never), message });
  const elements = elementsOf(pod);
  if (elements === undefined) return [warn(`annotation ${networksAnnotation} is no JSON`)];
  if (view.instance === undefined) return [];
  const told: Bag[] = [...elements];
  for (const attachment of pluggedInto(view)) {
    const at = placeOf(attachment, elements, view);
    if (attachment.isAbsent || at < 0) continue;
    const one = toldOf(attachment, view);
    if (one === "waits") return [];
    if ("why" in one) return [warn(one.why)];
    told[at] = { ...elements[at], ...one.fields };
  }
  const gates = asList(asBag(pod.spec)?.schedulingGates).filter((one) => asBag(one)?.name !== gate);
  const fields = {
    metadata: { annotations: { [networksAnnotation]: JSON.stringify(told) } },
    spec: { schedulingGates: gates },
  };
  return [{ verb: "change", object: pod, fields: elements.length === 0 ? { spec: fields.spec } : fields, needs: [] }];
}

/** Where a pod has a network of its VM: by what KubeVirt calls the interface, else by the definition, if one alone is of that. */
function placeOf({ network, definition }: VmNetwork, elements: readonly Bag[], { namespace }: VmView): number {
  const at = elements.findIndex(({ interface: nic }) => nic === podInterfaceOf(network));
  const alike = elements.filter((one) => `${one.namespace ?? namespace}/${one.name}` === definition);
  return at < 0 && alike.length === 1 ? elements.indexOf(alike[0] as Bag) : at;
}

function toldOf({ network: called, definition }: VmNetwork, view: VmView): Told {
  const { value: network, issues: [wrong] = [] } = view.networkOf(definition);
  if (wrong !== undefined) return { why: `NetworkAttachmentDefinition ${definition}: ${wrong.message}` };
  if (network === undefined) return { fields: {} };
  if (!network.isOvn && !network.takesIps) return { why: whyNot(network) };
  const name = claimNameOf(view.name, called);
  const claim = view.claims.find((one) => nameOf(one) === name);
  if (claim === undefined || isDeleting(claim) || isOfAnother(claim, view)) return "waits";
  const ips = shownIps(claim);
  const { annotations } = asBag(claim.metadata) ?? {};
  const isForeign = network.bound === undefined && asBag(annotations)?.[plannedAnnotation] === undefined;
  const isRefused = conditionOf(asBag(claim.status)?.conditions, "IPsAllocated")?.status === "False";
  if (network.isOvn && isForeign) return { fields: { "ipam-claim-reference": name } };
  if (ips.length === 0 || isRefused) return "waits";
  // An element has one of these, never both.
  return { fields: network.isOvn ? { "ipam-claim-reference": name } : { ips } };
}

function isOfAnother(claim: Bag, view: VmView): boolean {
  const heldFor = asBag(asBag(claim.metadata)?.annotations)?.[heldAnnotation];
  const holder = holderOf(view);
  return heldFor !== undefined && holder !== undefined && heldFor !== uidOf(holder);
}

function whyNot({ title }: PersistentNetwork): string {
  return `NetworkAttachmentDefinition ${title} takes no addresses: give its plugin "capabilities": {"ips": true} and "ipam": {"type": "static"}`;
}
