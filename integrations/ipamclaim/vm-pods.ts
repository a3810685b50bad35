import { formatOwner, type Use } from "../../core/index.ts";
import { ownPrefix } from "../../schema/node.ts";
import { asBag, asList, type Bag, type LocatedObject } from "../../schema/objects.ts";
import { networksAnnotation } from "../attachment-definition.ts";
import { isGated, isOver } from "../gated-pod.ts";
import type { WatchedKind } from "../in-cluster.ts";
import { addressesIn, ownerOfIpamClaim } from "./ipam-claim.ts";

/** On a pod: the addresses that it was told, by their claims, as JSON. What it is told for Multus names no claims. */
export const toldAnnotation = `${ownPrefix}ipam-claims`;

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

/**
 * The addresses that a pod may run with, each its claim's; of what cannot be read, none. One that it was told is none any more once
 * its network is unplugged: then the pod's networks name neither the address nor the claim.
 */
export function usesOfPod({ object, at }: LocatedObject): Use[] {
  if (object.kind !== "Pod" || isGated(object) || isOver(object)) return [];
  const { namespace = "default", annotations } = asBag(object.metadata) ?? {};
  const text = asBag(annotations)?.[toldAnnotation];
  const place = at(["metadata", "annotations", toldAnnotation], "");
  const elements = elementsOf(object);
  return Object.entries(toldIn(text)).flatMap(([name, ips]) => {
    const owner = formatOwner(ownerOfIpamClaim({ name, namespace: `${namespace}` }));
    const isIn = (ip: unknown) =>
      elements?.some((one) => one["ipam-claim-reference"] === name || asList(one.ips).includes(ip)) ?? true;
    return addressesIn(asList(ips).filter(isIn)).map((address) => ({ address, owner, at: place }));
  });
}

function toldIn(text: unknown): Bag {
  try {
    return asBag(JSON.parse(`${text ?? "{}"}`)) ?? {};
  } catch {
    return {};
  }
}
