import { asBag, type Bag } from "../../../schema/objects.ts";

/** What keeps a pod from being scheduled, and the label of pods whose addresses somebody writes. */
export const gate = "nodeippool.nmstate.io/addresses";
export const networksKey = "k8s.v1.cni.cncf.io/networks";
export const defaultKey = "v1.multus-cni.io/default-network";

export type Made = Bag & { readonly kind: string };

/** A workload whose pods wait for the controller; with `eth0`, the default network of each. */
export function workload(
  kind: string,
  name: string,
  spec: Bag,
  networks = "red",
  labels: Bag = { [gate]: "gated" },
  eth0?: string,
) {
  const app = { app: name };
  const annotations = { ...(networks && { [networksKey]: networks }), ...(eth0 && { [defaultKey]: eth0 }) };
  return {
    apiVersion: "apps/v1",
    kind,
    metadata: { name, namespace: "default" },
    spec: {
      selector: { matchLabels: app },
      ...(kind === "StatefulSet" && { serviceName: name, podManagementPolicy: "Parallel" }),
      ...spec,
      template: {
        metadata: { labels: { ...app, ...labels }, annotations },
        spec: { terminationGracePeriodSeconds: 0, containers: [{ name: "main", image: "main" }] },
      },
    },
  } satisfies Made;
}

/** A pod that waits for the controller, as the admission policy leaves it. */
export function singlePod(name: string, networks = "red", ownerReferences: readonly Bag[] = []) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...{ name, namespace: "default", ownerReferences },
      labels: { [gate]: "gated" },
      annotations: { [networksKey]: networks },
    },
    spec: { schedulingGates: [{ name: gate }], containers: [{ name: "main", image: "main" }] },
  } satisfies Made;
}

/** The networks of a pod, as Multus is told them. */
export function elementsOf({
  metadata,
}: Bag): (Bag & { readonly name: string; readonly interface?: string; readonly ips?: readonly string[] })[] {
  const annotations = asBag(asBag(metadata)?.annotations) ?? {};
  const texts = [defaultKey, networksKey].map((key) => `${annotations[key]}`);
  return texts.flatMap((text) => (text.startsWith("[") ? JSON.parse(text) : []));
}

/** Its addresses. */
export function ipsOf(pod: Bag): string[] {
  return elementsOf(pod).flatMap(({ ips = [] }) => ips);
}
