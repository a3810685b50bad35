import { formatOwner, type Use } from "../../core/index.ts";
import { parseJson } from "../../schema/json.ts";
import type { Bag, LocatedObject } from "../../schema/objects.ts";
import { list, type Of, raw } from "../../schema/shape.ts";
import { annotationsOf, metadataOf } from "../contract/object-metadata.ts";
import type { WatchedKind } from "../contract/watched-kind.ts";
import { networksAnnotation } from "../networks/attachment-definition.ts";
import { isGated, isOver } from "../networks/gated-pod.ts";
import { asInterface, asPod } from "../networks/objects.ts";
import { addressesGiven, allocatedAnnotation, allocationsOf, reportedInterfaces } from "../networks/pod-allocation.ts";
import { addressesIn, ownerOfIpamClaim } from "./ipam-claim.ts";

/** The pods of VMs, as the controller watches them. */
export const podsKind: WatchedKind = {
  apiVersion: "v1",
  kind: "Pod",
  plural: "pods",
  where: { labels: "kubevirt.io=virt-launcher" },
  keep: (pod) => {
    const { spec, status } = asPod(pod);
    return { spec: { schedulingGates: raw(spec).schedulingGates }, status: { phase: raw(status).phase } };
  },
};

/** Returns the elements of a pod's Multus annotation; undefined if it is no JSON. */
export function elementsOf(pod: Bag): readonly Of<typeof asInterface>[] | undefined {
  const text = annotationsOf(pod)[networksAnnotation];
  if (text === undefined) return [];
  const { value, issues } = parseJson(text);
  return issues === undefined ? list(asInterface)(value) : undefined;
}

/** Returns the name of the interface of an element. If the element has none, Multus counts: net1, net2. */
export function interfaceOf(element: Of<typeof asInterface>, place: number): string {
  return `${element.interface ?? `net${place + 1}`}`;
}

/**
 * Returns the addresses of NodeIPPools that a pod uses, each with its claim as the owner.
 *
 *  the pod                    | an interface of it was                  | its claim uses
 *  ---------------------------+-----------------------------------------+----------------------------------------------
 *  has ended, or is gated     | any                                     | nothing
 *  any other                  | given addresses of a claim              | these, and what Multus reports of that interface
 *  any other                  | given others, or none by the controller | nothing
 *
 * The networks for Multus do not count, because virt-controller rewrites them.
 */
export function usesOfPod({ object, at }: LocatedObject): Use[] {
  if (object.kind !== "Pod" || isGated(object) || isOver(object)) return [];
  const { namespace = "default" } = metadataOf(object);
  const place = at(["metadata", "annotations", allocatedAnnotation], "");
  return addressesGiven(object).flatMap(({ claim, ips }) => {
    if (claim === undefined) return [];
    const owner = formatOwner(ownerOfIpamClaim({ name: claim, namespace: `${namespace}` }));
    return [...new Set(addressesIn(ips))].map((address) => ({ address, owner, at: place }));
  });
}

/**
 * Returns whether a pod has or requests a claim, its interface or one of its addresses; true also if its networks cannot be read. An
 * interface that the pod requests for another network counts only if Multus reports it: a network of the same name was plugged in anew.
 */
export function hasTraceOf(
  pod: Bag,
  claim: {
    readonly name: string;
    readonly nic: unknown;
    readonly ips: readonly string[];
    /** Whether an element is of another network than the claim. */
    readonly isOther: (element: Of<typeof asInterface>) => boolean;
  },
) {
  const elements = elementsOf(pod);
  const addresses = new Set(addressesIn(claim.ips));
  const isTrace = (one: Of<typeof asInterface>) =>
    [one.claim, one["ipam-claim-reference"]].includes(claim.name) ||
    (claim.nic !== "" && claim.nic === one.interface && !(elements?.includes(one) && claim.isOther(one))) ||
    addressesIn(one.ips).some((address) => addresses.has(address));
  const given = [...allocationsOf(pod), ...(reportedInterfaces(pod) ?? [])].map((one) => asInterface(one));
  return elements === undefined || [...elements, ...given].some(isTrace);
}
