import { formatOwner, type Use } from "../../core/index.ts";
import { asBag, asList, type Bag, type LocatedObject } from "../../schema/objects.ts";
import type { WatchedKind } from "../contract/watched-kind.ts";
import { networksAnnotation } from "../networks/attachment-definition.ts";
import { isGated, isOver } from "../networks/gated-pod.ts";
import { addressesGiven, allocatedAnnotation, allocationsOf, reportedInterfaces } from "../networks/pod-allocation.ts";
import { addressesIn, ownerOfIpamClaim } from "./ipam-claim.ts";

/** The pods of VMs, as they are watched. */
export const podsKind: WatchedKind = {
  apiVersion: "v1",
  kind: "Pod",
  plural: "pods",
  where: { labels: "kubevirt.io=virt-launcher" },
  keep: ({ spec, status }) => ({
    spec: { schedulingGates: asBag(spec)?.schedulingGates },
    status: { phase: asBag(status)?.phase },
  }),
};

/** The networks of a pod, as Multus is told them; undefined where that is no JSON. */
export function elementsOf(pod: Bag): readonly Bag[] | undefined {
  const text = asBag(asBag(pod.metadata)?.annotations)?.[networksAnnotation];
  if (text === undefined) return [];
  try {
    return asList(JSON.parse(`${text}`)).map((one) => asBag(one) ?? {});
  } catch {
    return undefined;
  }
}

/** Returns what Multus calls the interface of an element, which it counts where the element does not say it. */
export function interfaceOf(element: Bag, place: number): string {
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
 * What the networks for Multus say does not matter: virt-controller rewrites them.
 */
export function usesOfPod({ object, at }: LocatedObject): Use[] {
  if (object.kind !== "Pod" || isGated(object) || isOver(object)) return [];
  const { namespace = "default" } = asBag(object.metadata) ?? {};
  const place = at(["metadata", "annotations", allocatedAnnotation], "");
  return addressesGiven(object).flatMap(({ claim, ips }) => {
    if (claim === undefined) return [];
    const owner = formatOwner(ownerOfIpamClaim({ name: claim, namespace: `${namespace}` }));
    return [...new Set(addressesIn(ips))].map((address) => ({ address, owner, at: place }));
  });
}

/**
 * Returns whether a pod has, or is told, a claim, its interface or one of its addresses. Of networks that cannot be read: true. The
 * interface counts where the pod is told it for another network only if Multus reports it: a network of the same name was plugged in anew.
 */
export function hasTraceOf(
  pod: Bag,
  claim: {
    readonly name: string;
    readonly nic: unknown;
    readonly ips: readonly string[];
    /** Whether an element is of another network than the claim. */
    readonly isOther: (element: Bag) => boolean;
  },
) {
  const elements = elementsOf(pod);
  const addresses = new Set(addressesIn(claim.ips));
  const isTrace = (one: Bag) =>
    [one.claim, one["ipam-claim-reference"]].includes(claim.name) ||
    (claim.nic !== "" && claim.nic === one.interface && !(elements?.includes(one) && claim.isOther(one))) ||
    addressesIn(asList(one.ips)).some((address) => addresses.has(address));
  const traces = [...(elements ?? []), ...allocationsOf(pod), ...(reportedInterfaces(pod) ?? [])];
  return elements === undefined || traces.some((one) => isTrace(one as Bag));
}
