import { formatOwner, parseAddress } from "../../core/index.ts";
import { type Findings, useOf } from "../../schema/findings.ts";
import { ownPrefix } from "../../schema/node.ts";
import { asBag, asList, type Bag, type LocatedObject } from "../../schema/objects.ts";
import type { WatchedKind } from "../in-cluster.ts";
import type { RenderedObject } from "../integration.ts";
import { type PodNetwork, parsePodNetworks } from "./pod-networks.ts";
import { addressesLabel, ownerOfWorkload, type Workload, type WorkloadKind, workloadKinds } from "./workload-object.ts";

/** Which workload it is. */
export type WorkloadName = Pick<Workload, "kind" | "namespace" | "name">;

/** On a ConfigMap with the addresses of pods: the workload that makes them. */
const labelOf = (kind: WorkloadKind) => `${ownPrefix}${kind.toLowerCase()}`;

/** The ConfigMaps with addresses of pods, as they are watched. */
export const mapsKind: WatchedKind = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  where: { labels: addressesLabel },
  keep: ({ data }) => ({ data }),
  keepMade: ({ data }) => ({ data }),
};

/** The ConfigMap with the addresses of its pods. No StatefulSet with pods has a dot in its name. */
export function mapNameOf({ kind, name }: WorkloadName): string {
  return kind === "StatefulSet" ? `nodeippool-${name}` : `nodeippool-deployment.${name}`;
}

/** What its ConfigMap calls the pod of a place. */
export function entryKey({ kind, name }: WorkloadName, place: number): string {
  return kind === "StatefulSet" ? `${name}-${place}` : `${place}`;
}

/**
 * What each pod of a workload is to have as its networks, by its place. `ipsOf` says the addresses on a network: none on one of
 * others; undefined where they are still missing, and then the place is left out.
 */
export function podAddresses(
  workload: Workload,
  ipsOf: (network: PodNetwork, place: number) => readonly string[] | undefined,
): RenderedObject {
  const { kind, namespace, name } = workload;
  const data = workload.places.flatMap((place): [string, string][] => {
    const told = workload.networks.flatMap((network) => {
      const ips = ipsOf(network, place);
      return ips === undefined ? [] : [{ ...network.element, ...(ips.length > 0 && { interface: network.nic, ips }) }];
    });
    return told.length < workload.networks.length ? [] : [[entryKey(workload, place), JSON.stringify(told)]];
  });
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: mapNameOf(workload),
      namespace,
      labels: { [labelOf(kind)]: name, [addressesLabel]: "pods" },
      // The pods need it when they are made.
      annotations: { "argocd.argoproj.io/sync-wave": "-1" },
    },
    data: Object.fromEntries(data),
  } as RenderedObject;
}

/**
 * The workload as a plan renders it: its pods are to have the addresses that are planned, and none else. The API server can tell which
 * pod of a StatefulSet one is; of a Deployment only the controller can.
 */
export function withPlannedPods({ kind, metadata, spec, ...rest }: Bag): RenderedObject {
  const template = asBag(asBag(spec)?.template);
  const own = asBag(template?.metadata);
  const isGated = kind === "Deployment" || asBag(own?.labels)?.[addressesLabel] === "gated";
  const labels = { ...asBag(own?.labels), [addressesLabel]: isGated ? "gated" : "planned" };
  const planned = { ...asBag(spec), template: { ...template, metadata: { ...own, labels } } };
  const { labels: marks, ...names } = asBag(metadata) ?? {};
  const marked = isGated ? { ...names, labels: { ...asBag(marks), [addressesLabel]: "planned" } } : metadata;
  return { ...rest, kind, metadata: marked, spec: planned } as unknown as RenderedObject;
}

/** The workload whose pods have their addresses in a ConfigMap; undefined for other objects. */
export function workloadOfMap({ kind, metadata }: Bag): WorkloadName | undefined {
  const { labels, namespace = "default" } = asBag(metadata) ?? {};
  const found = workloadKinds.find((one) => asBag(labels)?.[labelOf(one.kind)] !== undefined);
  if (kind !== "ConfigMap" || found === undefined) return undefined;
  return { kind: found.kind, namespace: `${namespace}`, name: `${asBag(labels)?.[labelOf(found.kind)]}` };
}

/** The networks of the pods in a ConfigMap of a workload, each pod with its key and its place; what cannot be read is left out. */
export function entriesOfMap(map: Bag, workload: WorkloadName) {
  return Object.entries(asBag(map.data) ?? {}).map(([key, text]) => ({
    key,
    place: Number(key.slice(entryKey(workload, 0).length - 1)),
    networks: parsePodNetworks(text, workload.namespace).value ?? [],
  }));
}

/** The addresses in it, which are the workload's. */
export function usesOfPodAddresses({ object, at }: LocatedObject, workload: WorkloadName, found: Findings): void {
  const owner = formatOwner(ownerOfWorkload(workload));
  found.speaks = true;
  for (const { key, networks } of entriesOfMap(object, workload))
    for (const ip of networks.flatMap(({ element }) => asList(element.ips))) {
      const address = parseAddress(`${ip}`.split("/")[0]).value;
      if (address !== undefined) found.uses.push(useOf(address, owner, undefined, at(["data", key], `${ip}`)));
    }
}
