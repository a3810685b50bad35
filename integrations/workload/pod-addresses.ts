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

/** The kind, namespace and name of a workload. */
export type WorkloadName = Pick<Workload, "kind" | "namespace" | "name">;

/** On a ConfigMap with the addresses of pods: the workload that makes them. */
const labelOf = (kind: WorkloadKind) => `${ownPrefix}${kind.toLowerCase()}`;

/** On such a ConfigMap that the controller made: the pools that its pods request. It may be older than the template of a pod. */
export const poolRequestAnnotation = `${ownPrefix}pools-of-pods`;

/** The ConfigMaps with addresses of pods, as the controller watches them. */
export const mapsKind: WatchedKind = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  where: { labels: addressesLabel },
  keep: ({ data }) => ({ data }),
  keepMade: ({ data }) => ({ data }),
};

/** Returns the name of a workload's ConfigMap. It is unique, because no StatefulSet with pods has a dot in its name. */
export function mapNameOf({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return kind === "StatefulSet" ? `nodeippool-${name}` : `nodeippool-${kind.toLowerCase()}.${name}`;
}

/** Returns the key in the ConfigMap for the pod of an index. */
export function entryKey({ kind, name }: WorkloadName, index: number): string {
  return kind === "StatefulSet" ? `${name}-${index}` : `${index}`;
}

/** Ends the key of a pod's default network, which is an annotation of its own: the API server copies whole texts. */
const defaultSuffix = ".default-network";

/** Returns the key in the ConfigMap for the networks of one annotation of a pod. */
export function dataKey(key: string, annotation: string): string {
  return annotation === defaultNetworkAnnotation ? `${key}${defaultSuffix}` : key;
}

/** The addresses of a pod on a network. */
export interface NicAddresses {
  readonly ips: readonly string[];
  /** The nodes that reach them. */
  readonly nodes: readonly LabelExpression[];
  readonly pools: readonly Pool[];
}

/** The key for the nodes that each pod may run on, by the pod's key. Pods whose addresses suit all nodes are not in it. */
const nodesKey = "nodes";

/** The key for the checks that pods make before they start, by the pools of their addresses. */
const checksKey = "detect";

/** The key for the indexes for whose addresses other hosts answer: no pod gets these. */
const conflictsKey = "conflicts";

/**
 * Returns the ConfigMap with the networks of each pod of a workload, by index. `addressesOn` returns the addresses on a network: none if
 * the network is not ours; undefined while they are missing, and then the index is missing. No pod gets an index that `isLeftOut`.
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
 * Returns the workload as a plan renders it, so that its pods get the planned addresses and no others.
 *
 *  its pods                    | their addresses are written by
 *  ----------------------------+------------------------------------------------------------------
 *  of a StatefulSet            | the API server (`planned`): the name of each pod has its index
 *  the same, for certain nodes | the controller (`gated`): only it can restrict where they run
 *  of a Deployment             | the controller: it gives each one an index
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

/** Returns the workload that a ConfigMap has the addresses of; undefined for other objects, and for a copy under another name. */
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
  /** The nodes that reach all of its addresses. */
  readonly nodes: readonly LabelExpression[];
  /** No pod gets it, because another host answers for one of its addresses. */
  readonly isLeftOut: boolean;
}

/** Returns the entries in the ConfigMap of a workload; skips what cannot be read. */
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

/** Returns the checks that the pods of a ConfigMap make before they start. */
export function checksInMap(map: Bag): ReturnType<typeof parseChecks> {
  return parseChecks(asConfigMap(map).data[checksKey]);
}

/** Returns whether a ConfigMap restricts its pods to some nodes. */
export function isForNodes(map: Bag): boolean {
  return asConfigMap(map).data[nodesKey] !== undefined;
}

function nodesIn(text: unknown): Bag {
  return mapping(parseJson(text).value);
}
