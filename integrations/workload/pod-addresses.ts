import type { LabelExpression, Pool } from "../../core/index.ts";
import { parseJson } from "../../schema/json.ts";
import { ownPrefix } from "../../schema/node.ts";
import { asList, type Bag } from "../../schema/objects.ts";
import { mapping, raw } from "../../schema/shape.ts";
import { asRendered, type RenderedObject } from "../contract/integration.ts";
import { metadataOf, namespaceOf } from "../contract/object-metadata.ts";
import type { WatchedKind } from "../contract/watched-kind.ts";
import { defaultNetworkAnnotation } from "../networks/attachment-definition.ts";
import { asConfigMap, asWorkload } from "./objects.ts";
import { checksOfPools, isLookedAt, parseChecks } from "./pod-detect.ts";
import { formatNetworks, networkAnnotations, type PodNetwork, readPodNetworks } from "./pod-networks.ts";
import { addressesLabel, kindsWithPods, type Workload, type WorkloadKind } from "./workload-object.ts";

/** Which workload it is. */
export type WorkloadName = Pick<Workload, "kind" | "namespace" | "name">;

/** On a ConfigMap with the addresses of pods: the workload that makes them. */
const labelOf = (kind: WorkloadKind) => `${ownPrefix}${kind.toLowerCase()}`;

/** On one that the controller makes: what the pods that it is for say of pools. It may be older than the template of a pod. */
export const poolRequestAnnotation = `${ownPrefix}pools-of-pods`;

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
export function mapNameOf({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return kind === "StatefulSet" ? `nodeippool-${name}` : `nodeippool-${kind.toLowerCase()}.${name}`;
}

/** What its ConfigMap calls the pod of an index. */
export function entryKey({ kind, name }: WorkloadName, index: number): string {
  return kind === "StatefulSet" ? `${name}-${index}` : `${index}`;
}

/** Its default network stands by itself: the API server writes texts as they are. */
const defaultSuffix = ".default-network";

/** Where its networks of an annotation are. */
export function dataKey(key: string, annotation: string): string {
  return annotation === defaultNetworkAnnotation ? `${key}${defaultSuffix}` : key;
}

/** What a pod has on a network. */
export interface NicAddresses {
  readonly ips: readonly string[];
  /** Which nodes reach them. */
  readonly nodes: readonly LabelExpression[];
  readonly pools: readonly Pool[];
}

/** Beside the networks of each pod, the nodes that it may run on, by its key: where its addresses are not for all. */
const nodesKey = "nodes";

/** What pods look for before they start, by the pools of their addresses. */
const checksKey = "detect";

/** The keys of indexes for whose addresses other hosts answer: no pod is told these. */
const conflictsKey = "conflicts";

/**
 * What each pod of a workload is to have as its networks, by its index. `addressesOn` says the addresses on a network: none on one of
 * others; undefined where they are still missing, and then the index is missing. `isLeftOut` says which indexes no pod is to be told.
 */
export function podAddresses(
  workload: Workload,
  addressesOn: (network: PodNetwork, index: number) => NicAddresses | undefined,
  isLeftOut: (index: number) => boolean = () => false,
): RenderedObject {
  const { kind, namespace, name } = workload;
  const leftOut = workload.indexes.filter(isLeftOut).map((index) => entryKey(workload, index));
  const nodes: Record<string, readonly LabelExpression[]> = {};
  const pools = new Set<Pool>();
  const data = workload.indexes.flatMap((index): [string, string][] => {
    const all = workload.networks.map((network) => ({ network, has: addressesOn(network, index) }));
    const assigned = all.flatMap(({ network, has }) => (has === undefined ? [] : withAddresses(network, has.ips)));
    if (assigned.length < all.length) return [];
    for (const { network, has } of all) if (isLookedAt(network)) for (const pool of has?.pools ?? []) pools.add(pool);
    const reaching = all.flatMap(({ has }) => has?.nodes ?? []);
    const key = entryKey(workload, index);
    if (reaching.length > 0) nodes[key] = reaching;
    return Object.entries(formatNetworks(assigned)).map(([annotation, text]) => [dataKey(key, annotation), text]);
  });
  const checks = checksOfPools(pools, workload.annotations);
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
    data: {
      ...Object.fromEntries(data),
      ...(Object.keys(nodes).length > 0 && { [nodesKey]: JSON.stringify(nodes) }),
      ...(checks.length > 0 && { [checksKey]: JSON.stringify(checks) }),
      ...(leftOut.length > 0 && { [conflictsKey]: leftOut.join(" ") }),
    },
  };
}

/** Returns a network of a pod with its addresses; as it is if it has none. */
function withAddresses(network: PodNetwork, ips: readonly string[]): PodNetwork {
  return ips.length === 0 ? network : { ...network, element: assignedElement(network, ips) };
}

/** Returns the element of the Multus annotation for a network of a pod, with its addresses. */
export function assignedElement({ nic, element }: PodNetwork, ips: unknown): Bag {
  return { ...element, interface: nic, ips };
}

/**
 * The workload as a plan renders it: its pods are to have the addresses that are planned, and none else.
 *
 *  its pods                    | their addresses are written by
 *  ----------------------------+------------------------------------------------------------------
 *  of a StatefulSet            | the API server (`planned`): their names say which one each is
 *  the same, for certain nodes | the controller (`gated`): only it can say where they run
 *  of a Deployment             | the controller: only it can tell them apart
 */
export function withPlannedPods(object: Bag, map: RenderedObject): RenderedObject {
  const { kind, metadata, spec: _, ...rest } = object;
  const { spec } = asWorkload(object);
  const own = spec.template.metadata;
  const isGated = kind === "Deployment" || isForNodes(map) || own.labels[addressesLabel] === "gated";
  const labels = { ...own.labels, [addressesLabel]: isGated ? "gated" : "planned" };
  const planned = { ...raw(spec), template: { ...raw(spec.template), metadata: { ...raw(own), labels } } };
  const { labels: marks, ...names } = raw(metadataOf(object));
  const marked = isGated ? { ...names, labels: { ...mapping(marks), [addressesLabel]: "planned" } } : metadata;
  return asRendered({ ...rest, kind, metadata: marked, spec: planned });
}

/** The workload whose pods have their addresses in a ConfigMap; undefined for other objects, also for a copy of one under another name. */
export function workloadOfMap(map: Bag): WorkloadName | undefined {
  const { kind, metadata } = asConfigMap(map);
  const { labels, name } = metadata;
  const found = kindsWithPods.find((one) => labels[labelOf(one)] !== undefined);
  if (kind !== "ConfigMap" || found === undefined) return undefined;
  const its = { kind: found, namespace: namespaceOf(map), name: `${labels[labelOf(found)]}` };
  return name === mapNameOf(its) ? its : undefined;
}

/** The networks of a pod in a ConfigMap. */
export interface PodEntry {
  readonly key: string;
  readonly index: number;
  readonly networks: readonly PodNetwork[];
  /** Which nodes reach all of its addresses. */
  readonly nodes: readonly LabelExpression[];
  /** Is no pod to be told it? */
  readonly isLeftOut: boolean;
}

/** What is in the ConfigMap of a workload; what cannot be read is left out. */
export function entriesOfMap(map: Bag, workload: WorkloadName): PodEntry[] {
  const { [nodesKey]: reachable, [checksKey]: _, [conflictsKey]: leftOut = "", ...pods } = asConfigMap(map).data;
  const conflicts = new Set(`${leftOut}`.split(" "));
  const reaching = nodesIn(reachable);
  const keys = new Set(Object.keys(pods).map((key) => key.replace(defaultSuffix, "")));
  return [...keys].flatMap((key) => {
    const index = Number(key.slice(entryKey(workload, 0).length - 1));
    if (key !== entryKey(workload, index)) return [];
    const annotations = Object.fromEntries(networkAnnotations.map((one) => [one, pods[dataKey(key, one)]]));
    const networks = readPodNetworks(annotations, workload.namespace);
    const nodes = asList(reaching[key]) as readonly LabelExpression[];
    return { key, index, networks, nodes, isLeftOut: conflicts.has(key) };
  });
}

/** What its pods look for before they start. */
export function checksInMap(map: Bag): ReturnType<typeof parseChecks> {
  return parseChecks(asConfigMap(map).data[checksKey]);
}

/** Are its pods for certain nodes? */
export function isForNodes(map: Bag): boolean {
  return asConfigMap(map).data[nodesKey] !== undefined;
}

function nodesIn(text: unknown): Bag {
  return mapping(parseJson(text).value);
}
