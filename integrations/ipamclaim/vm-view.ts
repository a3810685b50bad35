import type { Parsed } from "../../core/index.ts";
import { partition } from "../../core/partition.ts";
import { isLeftToPlan } from "../../schema/node-ip-pool.ts";
import type { Bag } from "../../schema/objects.ts";
import type { Of } from "../../schema/shape.ts";
import { kindInGroup } from "../contract/object-key.ts";
import { annotationsOf, isDeleting, metadataOf, nameOf, ownersOf, uidOf } from "../contract/object-metadata.ts";
import { keyOfDefinition } from "../networks/attachment-definition.ts";
import { isGated, isOver } from "../networks/gated-pod.ts";
import type { asInterface } from "../networks/objects.ts";
import { claimNameOf, extensionsNameOf, vmOfClaimName } from "./claim-name.ts";
import { isIpamClaim } from "./ipam-claim.ts";
import { mayPersist, type PersistentNetwork, parsePersistentNetwork } from "./network.ts";
import { asInstance, asIpamClaim } from "./objects.ts";
import { attachmentsOf, type VmNetwork, vmGroup, vmiKind, vmKind } from "./virtual-machine.ts";
import { madeAnnotation } from "./vm-constants.ts";
import { elementsOf } from "./vm-pods.ts";

/** All that a cluster has of one VM: what it is to be, what runs, and its claims. */
export interface VmView {
  readonly name: string;
  readonly namespace: string;
  readonly vm: Bag | undefined;
  /** What runs of it. It is all there is where somebody started an instance without a VirtualMachine. */
  readonly instance: Bag | undefined;
  /** The pods that the instance runs in: two while it migrates. Those that have come to their end are left out. */
  readonly pods: readonly Bag[];
  readonly claims: readonly Bag[];
  /** Claims of other VMs whose names are those of claims of this VM. */
  readonly claimsOfOthers: readonly Bag[];
  /** Is a definition, `namespace/name`, there? */
  readonly isDefined: (definition: string) => boolean;
  /** Does a plan give the addresses of a NodeIPPool, and nobody in the cluster? */
  readonly planOf: (pool: string) => boolean;
  /** The network of a definition; undefined where that does not keep addresses, or is not there. */
  readonly networkOf: (definition: string) => Parsed<PersistentNetwork | undefined>;
}

/** `name` is a namespace and a name, `default:vm-a`. */
export function vmView(name: string, belonging: readonly Bag[], find: (key: string) => Bag | undefined): VmView {
  const [, namespace = "", own = ""] = /^([^:]*):(.*)$/s.exec(name) ?? [];
  const [claims, claimsOfOthers] = partition(belonging.filter(isIpamClaim), (one) => vmOfClaim(one) === own);
  const ofKind = (kind: string) => belonging.filter((one) => one.kind === kind);
  return {
    ...{ name: own, namespace },
    vm: ofKind(vmKind)[0],
    instance: ofKind(vmiKind)[0],
    pods: ofKind("Pod").filter((pod) => !isOver(pod)),
    ...{ claims, claimsOfOthers },
    isDefined: (definition) => find(keyOfDefinition(definition)) !== undefined,
    planOf: (pool) => isLeftToPlan(find(`${poolKind}/${pool}`)),
    networkOf: (definition) => {
      const object = find(keyOfDefinition(definition));
      return object !== undefined && mayPersist(object) ? parsePersistentNetwork(object) : { value: undefined };
    },
  };
}

/** Returns the definition, `namespace/name`, that a pod is told by an element of its networks. */
export function definitionIn({ namespace, name }: Of<typeof asInterface>, view: Pick<VmView, "namespace">): string {
  return `${name}`.includes("/") ? `${name}` : `${namespace ?? view.namespace}/${name}`;
}

/** Reports whether a pod is told an element of another network than a claim's; false where the definition cannot be read. */
export function isOfOtherNetwork(element: Of<typeof asInterface>, claim: Bag, view: VmView): boolean {
  const { network } = view.networkOf(definitionIn(element, view)).value ?? {};
  return network !== undefined && asIpamClaim(claim).spec.network !== network;
}

/** Returns the name of the VM that a claim belongs to: that we made it for, else that owns it, else the one in its name. */
export function vmOfClaim(claim: Bag): string | undefined {
  const made = annotationsOf(claim)[madeAnnotation];
  const owner = ownersOf(claim).find(({ kind }) => kind === vmKind || kind === vmiKind);
  const name = made ?? owner?.name;
  return name === undefined ? vmOfClaimName(nameOf(claim)) : `${name}`;
}

const poolKind = kindInGroup("NodeIPPool", "nmstate.io");

/** Whose claims they are: the VM, or an instance that runs without one. Undefined where neither is there for long. */
export function holderOf({ vm, instance }: VmView): Bag | undefined {
  const holder = vm ?? (instance !== undefined && vmUidOf(instance) === undefined ? instance : undefined);
  return holder === undefined || isDeleting(holder) ? undefined : holder;
}

/** The uid of the VM that an instance belongs to; undefined where it runs without one. */
function vmUidOf(instance: Bag): string | undefined {
  const owner = ownersOf(instance).find(({ kind }) => kind === vmKind);
  return owner === undefined ? undefined : `${owner.uid}`;
}

/** Whose instance runs: the uid of its VM, or its own. */
export function runsFor({ instance }: VmView): string | undefined {
  return instance === undefined ? undefined : (vmUidOf(instance) ?? uidOf(instance));
}

/** The keys of what a VM is, be it here or not. */
export function keysOfVm({ name, namespace }: VmView): string[] {
  return [vmKind, vmiKind].map((kind) => `${kindInGroup(kind, vmGroup)}/${namespace}:${name}`);
}

/**
 * Returns the name of the claim of a network of a VM.
 *
 *  a claim of the name that        | a claim that ipam-extensions made for the network    | the name is
 *  the controller gives it         |                                                      |
 *  --------------------------------+------------------------------------------------------+---------------------------
 *  is there                        | any                                                  | the controller's
 *  is not there                    | is there; this VM, or an instance of it, controls it | that of ipam-extensions
 *  is not there                    | any other case                                       | the controller's
 *
 * Where two networks of the VM would have one claim of ipam-extensions, neither has it.
 */
export function claimNameFor(network: string, view: VmView): string {
  const { name: vm, claims } = view;
  const own = claimNameOf(vm, network);
  const theirs = extensionsNameOf(vm, network);
  if (own === theirs || claims.some((one) => nameOf(one) === own)) return own;
  const networks = [view.vm, view.instance].flatMap((one) => (one === undefined ? [] : attachmentsOf(one)));
  const sharing = new Set(networks.map((one) => one.network).filter((one) => extensionsNameOf(vm, one) === theirs));
  const uids = [view.vm, view.instance].flatMap((one) => (one === undefined ? [] : uidOf(one)));
  const isTheirs = (claim: Bag) =>
    nameOf(claim) === theirs &&
    (ownersOf(claim).some(({ uid }) => uids.includes(`${uid}`)) || isOfEndedInstance(claim, view));
  return sharing.size === 1 && claims.some(isTheirs) ? theirs : own;
}

/**
 * Returns whether an instance of the VM made a claim, and is gone: ipam-extensions makes the instance its owner where it does not
 * know the VM yet. The garbage collector deletes the claim then, and ipam-extensions holds it for the VM.
 */
export function isOfEndedInstance(claim: Bag, { name, vm, instance }: VmView): boolean {
  const { finalizers } = metadataOf(claim);
  const owners = ownersOf(claim);
  return (
    vm !== undefined &&
    finalizers.includes("kubevirt.io/persistent-ipam") &&
    owners.length === 1 &&
    owners.every((one) => one.kind === vmiKind && one.name === name && one.uid !== (instance && uidOf(instance)))
  );
}

/** The networks that an instance is plugged into, also those that it is to lose. */
export function pluggedInto({ instance }: VmView): readonly VmNetwork[] {
  return instance === undefined ? [] : attachmentsOf(instance);
}

/** Is a pod that has secondary networks out of the controller's gate? Of networks that cannot be read: true. */
export function hasBegun(pod: Bag): boolean {
  return !isGated(pod) && (elementsOf(pod)?.length ?? 1) > 0;
}

/**
 * Returns whether virt-controller leaves the networks of a pod as they are: it writes them anew for as long as an interface of a
 * running instance is to be plugged in, which its status does not show then, or to be unplugged.
 */
export function isSettled(instance: Bag): boolean {
  const { spec, status } = asInstance(instance);
  const shown = new Set(status.interfaces.map(({ name }) => name));
  return spec.domain.devices.interfaces.every(({ name, state }) => state !== "absent" && shown.has(name));
}

/** The name of a VM as what belongs to it says it; undefined where an object belongs to none. */
export function instanceNameOf(pod: Bag): string | undefined {
  const owner = ownersOf(pod).find(
    ({ apiVersion, kind }) => `${apiVersion}`.startsWith(`${vmGroup}/`) && kind === vmiKind,
  );
  return owner === undefined ? undefined : `${owner.name}`;
}
