import { type Address, familyOf, formatAddress, formatOwner, parsePrefix } from "../../core/index.ts";
import { type Bag, placeless } from "../../schema/objects.ts";
import type { RenderedObject } from "../contract/integration.ts";
import { nameOf, ownersOf, uidOf } from "../contract/object-metadata.ts";
import { attachmentGroup } from "../networks/attachment-definition.ts";
import { podInterfaceOf } from "./claim-name.ts";
import { ipamClaimKind, ownerOfIpamClaim, plannedAnnotation } from "./ipam-claim.ts";
import type { PersistentNetwork } from "./network.ts";
import { attachmentsOf, parseVm, type VmNetwork } from "./virtual-machine.ts";
import { heldAnnotation, madeAnnotation, vmFinalizer } from "./vm-constants.ts";
import { usesOfPod } from "./vm-pods.ts";
import { claimNameFor, pluggedInto, runsFor, type VmView } from "./vm-view.ts";
import { whyTaken } from "./vm-waits.ts";

/** A claim that a VM asks for. */
export interface AskedClaim {
  readonly name: string;
  readonly attachment: VmNetwork;
  /** Undefined where the definition keeps no addresses now, or cannot be read. */
  readonly network: PersistentNetwork | undefined;
  /** The addresses that it asks for, in the format of its claim's annotation. */
  readonly wanted: string;
  /** Why it cannot have a claim. */
  readonly why: string | undefined;
}

/**
 * Returns the claims that a VM asks for: one for each network that its instance is plugged into, and for each one of its template.
 *
 *  a network of it                             | why it has no claim
 *  --------------------------------------------+----------------------------------------------------
 *  a definition that cannot be read            | that
 *  OVN-Kubernetes, in another namespace        | it would look for the claim there
 *  any, and a claim of that name is of another | that
 *   VM                                         |
 *  any, and a pod runs with its addresses      | none of the following
 *  any, and its request is no address          | that; claims that it has stay
 *   or for a network that it does not have     |
 *  any, and it asks for two of one family      | that
 *
 * A running pod's addresses win over the VM's annotation: a claim that was deleted by force is made again with the addresses that
 * its pod uses, or with none.
 */
export function askedBy(view: VmView, holder: Bag): AskedClaim[] {
  const own = attachmentsOf(holder).filter(({ isAbsent }) => !isAbsent);
  const running = runsFor(view) === uidOf(holder) ? pluggedInto(view).filter(({ isAbsent }) => !isAbsent) : [];
  // The instance wins over the template, which may already describe the next start.
  const all = new Map([...own, ...running].map((one) => [one.network, one]));
  const { value: vm, issues: [unread] = [] } = parseVm(holder);
  return [...all.values()].map((attachment) => {
    const { network: called, definition } = attachment;
    const name = claimNameFor(called, view);
    const { value: network, issues: [wrong] = [] } = view.networkOf(definition);
    const isElsewhere = network?.isOvn === true && network.namespace !== view.namespace;
    const why = isElsewhere
      ? `OVN-Kubernetes looks for claim ${name} in namespace ${network.namespace}, where the network is defined. Define the network in namespace ${view.namespace}, too.`
      : wrong && `NetworkAttachmentDefinition ${definition}: ${wrong.message}`;
    const requested = vm?.attachments.find((one) => one.network === called)?.wanted ?? [];
    const twice = requested.find((one, i) => requested.slice(0, i).some((other) => familyOf(other) === familyOf(one)));
    const tooMany =
      twice &&
      `${formatAddress(twice)} is one too many: network ${called} gives one address of each family that it has`;
    const inUse = running.length > 0 ? addressesInUse(name, view) : [];
    const texts = (inUse.length > 0 ? inUse : requested).map(
      (address) => formatAddress(address) + lengthIn(network, familyOf(address)),
    );
    const whyInvalid = inUse.length > 0 ? undefined : (unread?.message ?? tooMany);
    return { name, attachment, network, wanted: texts.join(","), why: why ?? whyTaken(name, view) ?? whyInvalid };
  });
}

/** Returns the prefix length of a network with pools of its own; empty for NodeIPPools, whose allocator adds it. */
function lengthIn(network: PersistentNetwork | undefined, family: number): string {
  const cidr = network?.pools.find((one) => one.family === family)?.spec.range.cidr;
  const { value } = cidr === undefined ? {} : parsePrefix(cidr);
  return value === undefined ? "" : `/${value.length}`;
}

/** Returns the addresses of a claim that pods of the VM's instance may run with. */
function addressesInUse(name: string, { namespace, instance, pods }: VmView): Address[] {
  const owner = formatOwner(ownerOfIpamClaim({ namespace, name }));
  const own = pods.filter((pod) => ownersOf(pod).some(({ uid }) => instance !== undefined && uid === uidOf(instance)));
  const uses = own.flatMap((pod) => usesOfPod(placeless(pod)));
  return [...new Set(uses.flatMap((use) => (use.owner === owner ? use.address : [])))];
}

/** Returns the claim for a VM: held for the VM, and owned by it. */
export function claimFor(
  holder: Bag,
  namespace: string,
  network: string,
  { name, attachment, wanted }: AskedClaim,
): RenderedObject {
  const { apiVersion, kind } = holder;
  const [vm, uid] = [nameOf(holder), uidOf(holder)];
  return {
    apiVersion: `${attachmentGroup}/v1alpha1`,
    kind: ipamClaimKind,
    metadata: {
      ...{ name, namespace },
      // A label takes 63 characters.
      ...(vm.length > 63 ? {} : { labels: { "kubevirt.io/vm": vm } }),
      annotations: {
        ...{ [madeAnnotation]: vm, [heldAnnotation]: uid },
        ...(wanted === "" ? {} : { [plannedAnnotation]: wanted }),
      },
      finalizers: [vmFinalizer],
      ownerReferences: [{ apiVersion, kind, name: vm, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec: { network, interface: podInterfaceOf(attachment.network) },
  };
}
