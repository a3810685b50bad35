import { type Bag, conditionOf } from "../../schema/objects.ts";
import { isDeleting, nameOf, ownersOf, uidOf } from "../contract/object-metadata.ts";
import { plannedFor, plannedIps } from "./ipam-claim.ts";
import type { PersistentNetwork } from "./network.ts";
import { asIpamClaim } from "./objects.ts";
import { debounce, heldAnnotation, vmFinalizer } from "./vm-constants.ts";
import type { Given } from "./vm-running-pods.ts";
import { isOfEndedInstance, runsFor, type VmView, vmOfClaim } from "./vm-view.ts";

/** Returns why there is no claim of a name. `why`: what is wrong with the request of the VM, if anything. */
export function whyNoClaim(name: string, view: VmView, why: string | undefined): string {
  const next = why ?? "let the controller make the claims of VMs, or look at the one that makes them here";
  return whyTaken(name, view) ?? `there is no IPAMClaim ${name}: ${next}`;
}

/** Returns why a VM cannot have a claim of a name, if a claim of another VM has that name. */
export function whyTaken(name: string, { claimsOfOthers }: VmView): string | undefined {
  const taken = claimsOfOthers.find((one) => nameOf(one) === name);
  const vm = taken && vmOfClaim(taken);
  return vm && `IPAMClaim ${name} belongs to VM ${vm}: delete the claim, or give the network another name`;
}

/**
 * Returns why a claim is not for the VM that runs now, if so.
 *
 *  a claim                                                        | is for the VM
 *  ---------------------------------------------------------------+---------------------------------
 *  of another network                                             | no
 *  and a pod of an earlier instance has not ended                 | not yet: that may have its addresses
 *  held for another VM of this name                               | no
 *  that is being deleted, and is held for the VM                  | yes
 *  that is being deleted, of an earlier instance of the VM, and   | yes
 *   held by ipam-extensions (`isOfEndedInstance`)                 |
 *  that is being deleted, any other                               | no
 *  any other                                                      | yes
 *
 * KubeVirt keeps an instance until its pods have ended, by a finalizer that virt-api sets. If a user removes it, the pods of two
 * instances exist at once.
 */
export function whyNotFor(claim: Bag, { network }: PersistentNetwork, view: VmView): string | undefined {
  const { metadata, spec } = asIpamClaim(claim);
  const { annotations, finalizers } = metadata;
  const name = `IPAMClaim ${nameOf(claim)}`;
  if (spec.network !== network)
    return `${name} is of network ${spec.network}, and the network of the VM is ${network}: delete the claim, and it is made again`;
  const earlier = view.pods.find(
    (pod) => !ownersOf(pod).some(({ uid }) => uid === (view.instance && uidOf(view.instance))),
  );
  if (earlier !== undefined)
    return `pod ${nameOf(earlier)} of an earlier instance of this VM has not ended, and may have the addresses of ${name}: if its node is gone for good, delete the pod by force`;
  const heldFor = annotations[heldAnnotation];
  if (heldFor !== undefined && heldFor !== runsFor(view))
    return `${name} is held for a VM of this name that was deleted: look at the pods and the VirtualMachineInstance of that one`;
  const isHeld = finalizers.includes(vmFinalizer) && heldFor !== undefined;
  if (!isDeleting(claim) || isHeld || isOfEndedInstance(claim, view)) return undefined;
  return `${name} is being deleted, and has finalizers ${finalizers.join(", ")}: if nothing takes them off, do so, and the claim is made again`;
}

/** Returns why a claim has no addresses. If no condition reports a reason, it may get them at any moment. */
export function whyNoAddresses(claim: Bag, { bound = [] }: PersistentNetwork, { planOf }: VmView): Given {
  const { status, message } = conditionOf(asIpamClaim(claim).status.conditions, "IPsAllocated") ?? {};
  const name = `IPAMClaim ${nameOf(claim)}`;
  if (status === "False") return { why: `${name}: ${message}` };
  const pool = plannedIps(plannedFor(claim)).length === 0 ? bound.find(planOf) : undefined;
  if (pool !== undefined) {
    const next = "allocate and render the VM, and apply its IPAMClaim";
    return { why: `${name}: NodeIPPool ${pool} has authority Plan, so a plan gives its addresses: ${next}` };
  }
  const next = "let the controller serve IPAMClaims, or look at what gives this network its addresses";
  return { why: `${name} has no addresses yet: ${next}`, after: debounce };
}

export function whyNoIps({ title }: PersistentNetwork): string {
  return `NetworkAttachmentDefinition ${title} takes no addresses: give its plugin "capabilities": {"ips": true} and "ipam": {"type": "static"}`;
}
