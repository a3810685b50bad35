import { type Bag, conditionOf } from "../../schema/objects.ts";
import type { Of } from "../../schema/shape.ts";
import { isDeleting, nameOf, ownersOf, uidOf } from "../contract/object-metadata.ts";
import { type Needs, type Step, warn } from "../contract/step.ts";
import { keyOfDefinition } from "../networks/attachment-definition.ts";
import { isGated } from "../networks/gated-pod.ts";
import type { asInterface } from "../networks/objects.ts";
import { shownIps } from "./claim-status.ts";
import { isRendered, plannedAnnotation, plannedFor } from "./ipam-claim.ts";
import { asIpamClaim } from "./objects.ts";
import { type AskedClaim, askedBy, claimFor } from "./vm-asked.ts";
import { heldAnnotation, madeAnnotation, vmFinalizer } from "./vm-constants.ts";
import { hasTraceOf } from "./vm-pods.ts";
import {
  claimNameFor,
  hasBegun,
  holderOf,
  isOfOtherNetwork,
  keysOfVm,
  pluggedInto,
  runsFor,
  type VmView,
} from "./vm-view.ts";

/**
 * Returns the steps for the claims of a VM. The controller holds a claim for one VM, by its uid: a VM that is made later under the same
 * name is another one.
 *
 *  a claim                         | the VM it is held for  | it is in use | to do
 *  --------------------------------+------------------------+--------------+---------------------------------------------
 *  is not there                    | asks for it            |              | make it, held for that VM
 *  is not held                     | asks for it            |              | hold it: another program or a user made it
 *  is held, we have made it, and   | asks for other ones    |              | it asks for these
 *   has no addresses               |                        |              |
 *  is held                         | asks for it            | any          | nothing, also where it is being deleted: the
 *                                  |                        |              |  VM goes on with its addresses
 *  is held, is being deleted, and  | asks for it            | no           | let it go: it is made anew
 *   has no addresses               |                        |              |
 *  is held                         | no longer asks for it, | yes          | nothing: it is being unplugged, or shut down
 *                                  |  or is gone            |              |
 *  is held, and we have made it    | the same               | no           | delete it, then let it go
 *  is held, and we did not make it | the same               | no           | let it go
 *
 * A claim of another network than the VM's is not one that the VM asks for. If a condition of a claim reports a problem, an Event on the
 * VM reports it as well.
 */
export function claimSteps(view: VmView): Step[] {
  const holder = holderOf(view);
  const asked = holder === undefined ? [] : askedBy(view, holder);
  const byName = new Map(asked.map((one) => [one.name, one]));
  const there = new Set(view.claims.map(nameOf));
  const missing = asked.filter(({ name }) => !there.has(name));
  return [
    // Delete before creating: a quota may leave no room for both.
    ...view.claims.flatMap((claim) => stepsFor(claim, byName.get(nameOf(claim)), holder, view)),
    ...(holder === undefined ? [] : missing.flatMap((one) => madeFor(view, holder, one))),
  ];
}

function madeFor({ namespace }: VmView, holder: Bag, asked: AskedClaim): Step[] {
  if (asked.why !== undefined) return [warn(holder, asked.why)];
  if (asked.network === undefined) return [];
  return [{ verb: "create", object: claimFor(holder, namespace, asked.network.network, asked) }];
}

function stepsFor(claim: Bag, asked: AskedClaim | undefined, holder: Bag | undefined, view: VmView): Step[] {
  const { metadata, spec } = asIpamClaim(claim);
  const { finalizers, annotations } = metadata;
  const heldFor = annotations[heldAnnotation];
  const isHeld = finalizers.includes(vmFinalizer);
  const isMade = annotations[madeAnnotation] !== undefined && ownersOf(claim).some(({ uid }) => uid === heldFor);
  const network = asked?.network?.network;
  const isOfNetwork = network === undefined || spec.network === network;
  const isAsked = holder !== undefined && asked !== undefined;
  if (isAsked && isOfNetwork && heldFor === uidOf(holder) && isHeld && !isLost(claim))
    return [
      ...(shownIps(claim).length > 0 ? [] : askingAnew(claim, asked, isMade, holder)),
      ...waitingFor(claim, holder),
    ];
  if (isAsked && !isHeld && isDeleting(claim)) return [];
  if (isAsked && !isHeld && !isOfNetwork) {
    const message = `IPAMClaim ${nameOf(claim)} is of network ${spec.network}, and the VM's is ${network}. Delete the claim, or rename it.`;
    return [warn(holder, message)];
  }
  if (isAsked && !isHeld) return [change(claim, [...finalizers, vmFinalizer], uidOf(holder))];
  if (!isHeld || isInUse(claim, `${heldFor}`, view)) return [];
  const definition = asked && keyOfDefinition(asked.attachment.definition);
  const pods = { kind: "Pod", namespace: view.namespace };
  const needs = { keys: [...keysOfVm(view), ...(definition === undefined ? [] : [definition])], all: pods };
  if (isMade && !isDeleting(claim)) return [{ verb: "delete", object: claim, needs }];
  const others = finalizers.filter((one) => one !== vmFinalizer);
  return [change(claim, others, null, needs)];
}

/** Updates the request in a claim without addresses, after the VM changed what it asks for. */
function askingAnew(claim: Bag, { wanted, why, network }: AskedClaim, isMade: boolean, holder: Bag): Step[] {
  if (why !== undefined) return [warn(holder, why)];
  const isAsked = `${plannedFor(claim) ?? ""}` === wanted;
  if (!isMade || isRendered(claim) || network === undefined || isDeleting(claim) || isAsked) return [];
  const annotations = { [plannedAnnotation]: wanted === "" ? null : wanted };
  return [{ verb: "change", object: claim, fields: { metadata: { annotations } } }];
}

function waitingFor(claim: Bag, holder: Bag): Step[] {
  const { status, message } = conditionOf(asIpamClaim(claim).status.conditions, "IPsAllocated") ?? {};
  return status === "False" ? [warn(holder, `IPAMClaim ${nameOf(claim)}: ${message}`)] : [];
}

function change(claim: Bag, finalizers: readonly unknown[], heldFor: string | null, needs?: Needs): Step {
  const fields = { metadata: { finalizers, annotations: { [heldAnnotation]: heldFor } } };
  return { verb: "change", object: claim, fields, ...(needs && { needs }) };
}

/** Returns whether a claim is being deleted before it got an address. */
function isLost(claim: Bag): boolean {
  return isDeleting(claim) && shownIps(claim).length === 0;
}

/**
 * Returns whether an instance or a pod uses the addresses of a claim.
 *
 *  its instance                                  | a pod that has begun     | it is in use
 *  ----------------------------------------------+--------------------------+--------------
 *  is of the VM, and plugged into its network    | any                      | yes
 *  the same, and the claim has no addresses and  | there is none            | no: its pod waits for
 *   is being deleted                             |                          |  the claim that comes next
 *  any                                           | requests, was given, or  | yes
 *                                                |  has by Multus's report, |
 *                                                |  it, its interface or    |
 *                                                |  one of its addresses    |
 *  is of another VM, or gone; or ends, and is of | none does                | no
 *   no VM: it may wait for the claim             |                          |
 */
function isInUse(claim: Bag, heldFor: string, view: VmView): boolean {
  const name = nameOf(claim);
  const { network, interface: nic } = asIpamClaim(claim).spec;
  const ips = shownIps(claim);
  const isPlugged = pluggedInto(view).some(({ network: called, definition }) => {
    const { value } = view.networkOf(definition);
    return claimNameFor(called, view) === name && (value === undefined || value.network === network);
  });
  const { instance } = view;
  const isEnding = instance !== undefined && isDeleting(instance) && runsFor(view) === uidOf(instance);
  const hasPod = view.pods.some(hasBegun);
  if (isPlugged && !isEnding && runsFor(view) === heldFor && (hasPod || !isLost(claim))) return true;
  const isOther = (element: Of<typeof asInterface>) => isOfOtherNetwork(element, claim, view);
  return view.pods.some((pod) => !isGated(pod) && hasTraceOf(pod, { name, nic, ips, isOther }));
}
