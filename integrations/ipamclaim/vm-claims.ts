import { formatAddress, type Parsed } from "../../core/index.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { attachmentGroup } from "../attachment-definition.ts";
import type { RenderedObject } from "../integration.ts";
import { objectKey } from "../object-key.ts";
import type { TendStep } from "../tending.ts";
import { claimNameOf, podInterfaceOf } from "./claim-name.ts";
import { ipamClaimKind, plannedAnnotation } from "./ipam-claim.ts";
import { parseVm, type VmAttachment } from "./virtual-machine.ts";
import {
  elementsOf,
  holderOf,
  isDeleting,
  keysOfVm,
  nameOf,
  ownersOf,
  pluggedInto,
  runsFor,
  uidOf,
  type VmView,
} from "./vm-view.ts";
import { heldAnnotation, isGated, madeAnnotation } from "./vm-words.ts";

/** Keeps a claim for as long as its VM is there, or runs. */
export const hold = "nmstate.io/used-by-vm";

/**
 * What is to be done for the claims of a VM. A claim is held for one VM, by its uid: one that comes later under the same name is
 * another one.
 *
 *  a claim                         | the VM it is held for  | it is in use | to do
 *  --------------------------------+------------------------+--------------+---------------------------------------------
 *  is not there                    | asks for it            |              | make it, held for that VM
 *  is held for nobody              | asks for it            |              | hold it: somebody else has made it
 *  is held                         | asks for it            | any          | nothing
 *  is held                         | asks for it no more,   | yes          | nothing: it is being unplugged, or shut down
 *                                  |  or is gone            |              |
 *  is held, and we have made it    | the same               | no           | delete it, then let it go
 *  is held, somebody has made it   | the same               | no           | let it go
 *
 * A claim that is being deleted is let go at the same times, and made anew once it is gone.
 */
export function claimSteps(view: VmView): TendStep[] {
  const holder = holderOf(view);
  const { value: asked = [], issues = [] } = holder === undefined ? {} : askedBy(view, holder);
  if (issues.length > 0 && holder !== undefined) return issues.map(({ message }) => warn(holder, message));
  const byName = new Map(asked.map((one) => [one.name, one]));
  const there = new Set(view.claims.map(nameOf));
  return [
    ...asked.flatMap((one) => (holder === undefined || there.has(one.name) ? [] : madeFor(view, holder, one))),
    ...view.claims.flatMap((claim) => stepsFor(claim, byName.get(nameOf(claim)), holder, view)),
  ];
}

/** A claim that a VM asks for. */
interface Asked {
  readonly name: string;
  readonly attachment: VmAttachment;
  /** As CNI calls it; undefined where the definition does not keep addresses now, or cannot be read. */
  readonly network: string | undefined;
  /** Why it cannot have one. */
  readonly why?: string;
}

function askedBy(view: VmView, holder: Bag): Parsed<Asked[]> {
  const { value: vm, issues } = parseVm(holder);
  if (issues !== undefined) return { issues };
  return {
    value: vm.attachments.map((attachment) => {
      const name = claimNameOf(vm.name, attachment.network);
      const { value: network, issues: [wrong] = [] } = view.networkOf(attachment.definition);
      const isElsewhere = network?.isOvn === true && network.namespace !== vm.namespace;
      const why = isElsewhere
        ? `OVN-Kubernetes looks for claim ${name} in namespace ${network.namespace}, where the network is defined. Define the network in namespace ${vm.namespace}, too.`
        : wrong && `NetworkAttachmentDefinition ${attachment.definition}: ${wrong.message}`;
      return { name, attachment, network: network?.network, ...(why === undefined ? {} : { why }) };
    }),
  };
}

function madeFor({ namespace }: VmView, holder: Bag, { name, attachment, network, why }: Asked): TendStep[] {
  if (why !== undefined) return [warn(holder, why)];
  if (network === undefined) return [];
  const { apiVersion, kind } = holder;
  const vm = nameOf(holder);
  const wanted = attachment.wanted.map(formatAddress).join(",");
  const object = {
    apiVersion: `${attachmentGroup}/v1alpha1`,
    kind: ipamClaimKind,
    metadata: {
      ...{ name, namespace },
      // A label takes 63 characters.
      ...(vm.length > 63 ? {} : { labels: { "kubevirt.io/vm": vm } }),
      annotations: {
        ...{ [madeAnnotation]: vm, [heldAnnotation]: uidOf(holder) },
        ...(wanted === "" ? {} : { [plannedAnnotation]: wanted }),
      },
      finalizers: [hold],
      ownerReferences: [{ apiVersion, kind, name: vm, uid: uidOf(holder), controller: true, blockOwnerDeletion: true }],
    },
    spec: { network, interface: podInterfaceOf(attachment.network) },
  };
  return [{ verb: "create", object: object as RenderedObject }];
}

function stepsFor(claim: Bag, asked: Asked | undefined, holder: Bag | undefined, view: VmView): TendStep[] {
  const { finalizers, annotations = {} } = asBag(claim.metadata) ?? {};
  const heldFor = asBag(annotations)?.[heldAnnotation];
  const isHeld = asList(finalizers).includes(hold);
  const isMade =
    asBag(annotations)?.[madeAnnotation] !== undefined && ownersOf(claim).some(({ uid }) => uid === heldFor);
  const isOfNetwork = asked?.network === undefined || asBag(claim.spec)?.network === asked.network;
  const isAsked = holder !== undefined && asked !== undefined;
  if (isAsked && isOfNetwork && heldFor === uidOf(holder) && isHeld) return [];
  if (isAsked && !isHeld && isDeleting(claim)) return [];
  if (isAsked && !isHeld && !isOfNetwork) {
    const message = `IPAMClaim ${nameOf(claim)} is of network ${asBag(claim.spec)?.network}, and the VM's is ${asked.network}. Delete the claim, or rename it.`;
    return [warn(holder, message)];
  }
  if (isAsked && !isHeld) return [change(claim, [...asList(finalizers), hold], uidOf(holder), [])];
  if (!isHeld || isInUse(claim, `${heldFor}`, view)) return [];
  const needs = keysOfVm(view);
  if (isMade && !isDeleting(claim)) return [{ verb: "delete", object: claim, needs }];
  const others = asList(finalizers).filter((one) => one !== hold);
  return [change(claim, others, null, needs)];
}

function change(
  claim: Bag,
  finalizers: readonly unknown[],
  heldFor: string | null,
  needs: readonly string[],
): TendStep {
  const fields = { metadata: { finalizers, annotations: { [heldAnnotation]: heldFor } } };
  return { verb: "change", object: claim, fields, needs };
}

/**
 * Does something run with the addresses of a claim?
 *
 *  its instance                      | a pod that has begun names it | it is in use
 *  ----------------------------------+-------------------------------+--------------
 *  is there, and plugged into it     | any                           | yes
 *  is of another VM, or gone, or not | yes                           | yes
 *  the same                          | no                            | no
 */
function isInUse(claim: Bag, heldFor: string, view: VmView): boolean {
  const name = nameOf(claim);
  const isPlugged = pluggedInto(view).some(({ network }) => claimNameOf(view.name, network) === name);
  if (isPlugged && runsFor(view) === heldFor) return true;
  const nic = asBag(claim.spec)?.interface;
  const names = (element: Bag) => element["ipam-claim-reference"] === name || (nic !== "" && nic === element.interface);
  return view.pods.some((pod) => !isGated(pod) && (elementsOf(pod)?.some(names) ?? true));
}

function warn(about: Bag, message: string): TendStep {
  return { verb: "warn", about: objectKey(about as never), message };
}
