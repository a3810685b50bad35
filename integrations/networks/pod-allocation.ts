import { parseJson } from "../../schema/json.ts";
import { ownPrefix } from "../../schema/node.ts";
import type { Bag } from "../../schema/objects.ts";
import { type Of, raw } from "../../schema/shape.ts";
import { annotationsOf } from "../contract/object-metadata.ts";
import { asInterface } from "./objects.ts";

/**
 * On a pod: what the controller gave its interfaces, as JSON. Only the controller writes it. Others rewrite the networks that
 * Multus reads: virt-controller does so when a pod becomes ready, and kubectl when a manifest is applied again.
 */
export const allocatedAnnotation = `${ownPrefix}allocated`;

/** On a pod: the interfaces that Multus has attached, as JSON. */
const reportedAnnotation = "k8s.v1.cni.cncf.io/network-status";

/** The addresses that the controller gave one interface of a pod. */
export interface PodAllocation {
  readonly interface: string;
  /** `<address>/<prefix length>` of each address. */
  readonly ips?: readonly string[];
  /** The IPAMClaim of the VM whose addresses these are, if they are of NodeIPPools. */
  readonly claim?: string;
  /** The IPAMClaim by which OVN-Kubernetes finds the addresses: the Multus annotation has this in place of `ips`. */
  readonly "ipam-claim-reference"?: string;
}

/** An interface as Multus reports it; its addresses have no prefix length. */
export interface ReportedInterface {
  readonly interface: string;
  readonly ips: readonly string[];
}

export function allocationsOf(pod: Bag): readonly PodAllocation[] {
  return (listIn(pod, allocatedAnnotation) ?? []).flatMap((one) => {
    if (typeof one.interface !== "string") return [];
    const { claim, "ipam-claim-reference": reference } = one;
    return {
      interface: one.interface,
      ...(Array.isArray(raw(one).ips) && { ips: one.ips.map(String) }),
      ...(claim !== undefined && { claim: `${claim}` }),
      ...(reference !== undefined && { "ipam-claim-reference": `${reference}` }),
    };
  });
}

/** Returns undefined if Multus has not reported yet, or the report cannot be read. */
export function reportedInterfaces(pod: Bag): readonly ReportedInterface[] | undefined {
  return listIn(pod, reportedAnnotation)?.map((one) => ({
    interface: `${one.interface}`,
    ips: one.ips.map(String),
  }));
}

/** Returns the addresses that each interface of a pod was given, and those that Multus reports of such an interface. */
export function addressesGiven(pod: Bag): readonly (PodAllocation & Pick<ReportedInterface, "ips">)[] {
  const reported = reportedInterfaces(pod) ?? [];
  return allocationsOf(pod).map((allocation) => {
    const attached = reported.find((one) => one.interface === allocation.interface);
    return { ...allocation, ips: [...(allocation.ips ?? []), ...(attached?.ips ?? [])] };
  });
}

/** Returns the fields of an allocation for its element of the Multus annotation: one of these two, never both. */
export function multusFields({ ips, "ipam-claim-reference": reference }: PodAllocation): Bag {
  return reference === undefined ? { ips } : { "ipam-claim-reference": reference };
}

function listIn(pod: Bag, annotation: string): readonly Of<typeof asInterface>[] | undefined {
  const { value: listed } = parseJson(annotationsOf(pod)[annotation]);
  return Array.isArray(listed) ? listed.map((one) => asInterface(one)) : undefined;
}
