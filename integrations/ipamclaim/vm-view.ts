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

/** A VM as the cluster has it: the VirtualMachine, its instance, its pods, and its claims. */
export interface VmView {
  readonly name: string;
  readonly namespace: string;
  readonly vm: Bag | undefined;
  /** Its VirtualMachineInstance. An instance that was started without a VirtualMachine has no `vm`. */
  readonly instance: Bag | undefined;
  /** The pods that the instance runs in, two while it migrates; without those that have ended. */
  readonly pods: readonly Bag[];
  readonly claims: readonly Bag[];
  /** Claims of other VMs whose names are those of claims of this VM. */
  readonly claimsOfOthers: readonly Bag[];
  /** Whether a definition, `namespace/name`, exists. */
  readonly isDefined: (definition: string) => boolean;
  /** Whether a plan, not the controller, allocates from a NodeIPPool. */
  readonly planOf: (pool: string) => boolean;
  /** Returns the network of a definition; undefined if it does not keep addresses, or does not exist. */
  readonly networkOf: (definition: string) => Parsed<PersistentNetwork | undefined>;
}

/** Returns the view of a VM from the objects that belong to it. `name` is its namespace and name, `default:vm-a`. */
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

/** Returns the definition, `namespace/name`, that an element of a pod's networks names. */
export function definitionIn({ namespace, name }: Of<typeof asInterface>, view: Pick<VmView, "namespace">): string {
  return `${name}`.includes("/") ? `${name}` : `${namespace ?? view.namespace}/${name}`;
}

/** Returns whether an element of a pod's networks is of another network than a claim; false if its definition cannot be read. */
export function isOfOtherNetwork(element: Of<typeof asInterface>, claim: Bag, view: VmView): boolean {
  const { network } = view.networkOf(definitionIn(element, view)).value ?? {};
  return network !== undefined && asIpamClaim(claim).spec.network !== network;
}

/** Returns the name of the VM that a claim belongs to: from our annotation, else from its owner reference, else from its name. */
export function vmOfClaim(claim: Bag): string | undefined {
  const made = annotationsOf(claim)[madeAnnotation];
  const owner = ownersOf(claim).find(({ kind }) => kind === vmKind || kind === vmiKind);
  const name = made ?? owner?.name;
  return name === undefined ? vmOfClaimName(nameOf(claim)) : `${name}`;
}

const poolKind = kindInGroup("NodeIPPool", "nmstate.io");

/** Returns the owner of the claims: the VM, or an instance that runs without one; undefined if that is gone or being deleted. */
export function holderOf({ vm, instance }: VmView): Bag | undefined {
  const holder = vm ?? (instance !== undefined && vmUidOf(instance) === undefined ? instance : undefined);
  return holder === undefined || isDeleting(holder) ? undefined : holder;
}

/** Returns the uid of the VM that an instance belongs to; undefined if it runs without one. */
function vmUidOf(instance: Bag): string | undefined {
  const owner = ownersOf(instance).find(({ kind }) => kind === vmKind);
  return owner === undefined ? undefined : `${owner.uid}`;
}

/** Returns the uid of the VM whose instance runs; the instance's own if it has no VM. */
export function runsFor({ instance }: VmView): string | undefined {
  return instance === undefined ? undefined : (vmUidOf(instance) ?? uidOf(instance));
}

/** Returns the keys of a VM and its instance, whether they exist or not. */
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
 * Returns whether a claim is owned by an instance of the VM that is gone: ipam-extensions makes the instance the owner if it does not
 * know the VM yet. The garbage collector then deletes the claim, and ipam-extensions keeps it for the VM by its finalizer.
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

/** Returns the networks that an instance is plugged into, also those that are about to be unplugged. */
export function pluggedInto({ instance }: VmView): readonly VmNetwork[] {
  return instance === undefined ? [] : attachmentsOf(instance);
}

/** Returns whether a pod with secondary networks has passed our scheduling gate; true also if its networks cannot be read. */
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

/** Returns the name of the VM that a pod belongs to; undefined if it belongs to none. */
export function instanceNameOf(pod: Bag): string | undefined {
  const owner = ownersOf(pod).find(
    ({ apiVersion, kind }) => `${apiVersion}`.startsWith(`${vmGroup}/`) && kind === vmiKind,
  );
  return owner === undefined ? undefined : `${owner.name}`;
}
