import type { Bag } from "../../schema/objects.ts";
import { type Of, raw } from "../../schema/shape.ts";
import { metadataOf } from "../contract/object-metadata.ts";
import type { Reconciler } from "../contract/reconciler.ts";
import type { WatchedKind } from "../contract/watched-kind.ts";
import { attachmentKind } from "../networks/attachment-definition.ts";
import { vmOfClaimName } from "./claim-name.ts";
import { isIpamClaim } from "./ipam-claim.ts";
import { asInstance, type asInstanceSpec, asNodeIPPool, asVirtualMachine } from "./objects.ts";
import { claimsKind, definitionsKind } from "./recording.ts";
import { isVm, vmGroup, vmiKind, vmKind } from "./virtual-machine.ts";
import { claimSteps } from "./vm-claims.ts";
import { deliverySteps } from "./vm-delivery.ts";
import { podsKind } from "./vm-pods.ts";
import { instanceNameOf, vmOfClaim, vmView } from "./vm-view.ts";

/** What the controller does for VMs. Each is of use without the other. */
export interface ServesVms {
  /** Makes their IPAMClaims, and ends them. */
  readonly claims: boolean;
  /** Writes the addresses of IPAMClaims into their pods. */
  readonly addresses: boolean;
}

export function virtualMachines({ claims, addresses }: ServesVms): Reconciler {
  return {
    kinds,
    belongsTo,
    steps: (name, belonging, find) => {
      const view = vmView(name, belonging, find);
      return [...(claims ? claimSteps(view) : []), ...(addresses ? deliverySteps(view) : [])];
    },
  };
}

const kinds: readonly WatchedKind[] = [
  {
    apiVersion: `${vmGroup}/v1`,
    kind: vmKind,
    plural: "virtualmachines",
    keep: (object) => {
      const { metadata, spec } = asVirtualMachine(object).spec.template;
      const { annotations } = raw(metadata);
      return { spec: { template: { metadata: { annotations }, spec: networksIn(spec) } } };
    },
  },
  {
    apiVersion: `${vmGroup}/v1`,
    kind: vmiKind,
    plural: "virtualmachineinstances",
    keep: (object) => {
      const { spec, status } = asInstance(object);
      return { spec: networksIn(spec), status: { interfaces: status.interfaces.map(({ name }) => ({ name })) } };
    },
  },
  podsKind,
  claimsKind,
  definitionsKind,
  {
    apiVersion: "nmstate.io/v1",
    kind: "NodeIPPool",
    plural: "nodeippools",
    keep: (pool) => {
      const { authority, clusterRange } = asNodeIPPool(pool).spec;
      return { spec: { authority, clusterRange } };
    },
  },
];

/** Of an instance, or a template of one. */
function networksIn(spec: Of<typeof asInstanceSpec>): Bag {
  const interfaces = spec.domain.devices.interfaces.map(({ name, state }) => ({ name, state }));
  return { networks: raw(spec).networks, domain: { devices: { interfaces } } };
}

/**
 * Returns the VM that an object belongs to.
 *
 *  object                          | belongs to
 *  --------------------------------+-------------------------------------------------------------------
 *  VM, or instance of one          | the VM of its name
 *  pod of an instance              | the VM of the name of its instance
 *  IPAMClaim                       | its VM (`vmOfClaim`), and the VM whose claim has its name
 *  definition of a network         | all: a pod may wait for it
 *  NodeIPPool                      | none: it only decides what a waiting pod reports
 */
function belongsTo(object: Bag): readonly string[] | "all" {
  const { name, namespace = "default" } = metadataOf(object);
  const of = (...vms: readonly unknown[]) =>
    [...new Set(vms)].flatMap((vm) => (vm === undefined ? [] : [`${namespace}:${vm}`]));
  if (isVm(object)) return of(name);
  if (object.kind === "Pod") return of(instanceNameOf(object));
  if (isIpamClaim(object)) return of(vmOfClaim(object), vmOfClaimName(`${name}`));
  return object.kind === attachmentKind ? "all" : [];
}
