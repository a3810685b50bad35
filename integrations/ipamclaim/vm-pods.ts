import { formatOwner, type Use } from "../../core/index.ts";
import { ownPrefix } from "../../schema/node.ts";
import { asBag, asList, type Bag, type LocatedObject } from "../../schema/objects.ts";
import type { WatchedKind } from "../in-cluster.ts";
import { addressesIn, ownerOfIpamClaim } from "./ipam-claim.ts";
import { isGated } from "./vm-words.ts";

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

/** Has a pod come to its end? */
export function isOver({ status }: Bag): boolean {
  return ["Succeeded", "Failed"].includes(`${asBag(status)?.phase}`);
}

/** The addresses that a pod may run with, each its claim's; of what cannot be read, none. */
export function usesOfPod({ object, at }: LocatedObject): Use[] {
  if (object.kind !== "Pod" || isGated(object) || isOver(object)) return [];
  const { namespace = "default", annotations } = asBag(object.metadata) ?? {};
  const text = asBag(annotations)?.[toldAnnotation];
  const place = at(["metadata", "annotations", toldAnnotation], "");
  return Object.entries(toldIn(text)).flatMap(([name, ips]) => {
    const owner = formatOwner(ownerOfIpamClaim({ name, namespace: `${namespace}` }));
    return addressesIn(asList(ips)).map((address) => ({ address, owner, at: place }));
  });
}

function toldIn(text: unknown): Bag {
  try {
    return asBag(JSON.parse(`${text ?? "{}"}`)) ?? {};
  } catch {
    return {};
  }
}
