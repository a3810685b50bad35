import { type Labels, nameOfKey, type Owner, ownerOfKey, type Parsed, parseOwner } from "../../core/index.ts";
import { ownPrefix } from "../../schema/node.ts";
import type { Bag } from "../../schema/objects.ts";
import { type Of, raw } from "../../schema/shape.ts";
import { kindInGroup } from "../contract/object-key.ts";
import { type asMetadata, labelsOf, metadataOf, namespaceOf } from "../contract/object-metadata.ts";
import { asPod } from "../networks/objects.ts";
import { aboutPools, countAnnotation, detectAnnotation } from "./named-pools.ts";
import { asWorkload } from "./objects.ts";
import { wrongToDetect } from "./pod-detect.ts";
import { networkAnnotations, type PodNetwork, parsePodNetworks } from "./pod-networks.ts";

/** The kinds of workload. A pod that no StatefulSet or Deployment made is its own workload. */
export type WorkloadKind = "StatefulSet" | "Deployment" | "Pod";

export const workloadGroup = "apps";
/** The kinds that make pods. */
export const workloadKinds: readonly { readonly kind: WorkloadKind; readonly plural: string }[] = [
  { kind: "StatefulSet", plural: "statefulsets" },
  { kind: "Deployment", plural: "deployments" },
];
export const kindsWithPods: readonly WorkloadKind[] = [...workloadKinds.map(({ kind }) => kind), "Pod"];

/** A workload whose pods are attached to networks of Multus, or a standalone pod. */
export interface Workload {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
  /** The ordinals of a StatefulSet's pods, or one index for each pod that a Deployment may have at once. */
  readonly indexes: readonly number[];
  readonly networks: readonly PodNetwork[];
  /** Of its pods. */
  readonly labels: Labels;
  /** Of its pods. */
  readonly nodeSelector: Labels;
  /** The annotations of its pods that request pools. */
  readonly annotations: Bag;
}

/** Returns the path of an annotation in the pod template of a workload. */
export function pathOfAnnotation(annotation: string): string[] {
  return ["spec", "template", "metadata", "annotations", annotation];
}

/** On a pod, and in a template: what injects its addresses, the API server (`planned`) or the controller (`gated`). On a workload: a plan rendered it. */
export const addressesLabel = `${ownPrefix}addresses`;

export function isWorkload({ apiVersion, kind }: Bag): boolean {
  return `${apiVersion}`.startsWith(`${workloadGroup}/`) && workloadKinds.some((one) => one.kind === kind);
}

/** Returns whether an object asks for networks of its pods. */
export function hasNetworks(object: Bag): boolean {
  return isWorkload(object) && networkAnnotations.some((one) => annotationsOf(object)[one] !== undefined);
}

/** Returns whether the pods of a workload wait for the controller. */
function isGatedWorkload(object: Bag): boolean {
  return isWorkload(object) && templateOf(object).metadata.labels[addressesLabel] === "gated";
}

/** Returns whether the controller allocates for the pods of a workload. If a plan rendered the workload, the plan made its ConfigMap. */
export function isAllocatedInCluster(object: Bag): boolean {
  const isRendered = labelsOf(object)[addressesLabel] === "planned";
  return isGatedWorkload(object) && !isRendered;
}

function templateOf(object: Bag) {
  return asWorkload(object).spec.template;
}

/** Returns the kind of a workload, or of a pod. */
export function kindOfWorkload({ kind }: Bag): WorkloadKind {
  return kindsWithPods.find((one) => one === kind) ?? "Pod";
}

/** Returns the metadata of a workload's pods. */
export function metadataOfPods(object: Bag): Of<typeof asMetadata> {
  return object.kind === "Pod" ? metadataOf(object) : templateOf(object).metadata;
}

function annotationsOf(object: Bag): Bag {
  return metadataOfPods(object).annotations;
}

function nodeSelectorOf(object: Bag): Labels {
  return (object.kind === "Pod" ? asPod(object) : templateOf(object)).spec.nodeSelector;
}

/** Returns the part of a workload that the controller keeps in memory. */
export function keepWorkload(object: Bag): Bag {
  const { replicas, ordinals, strategy } = raw(asWorkload(object).spec);
  const { labels } = raw(templateOf(object).metadata);
  const all = annotationsOf(object);
  const isRead = (name: string) => name.startsWith(ownPrefix) || networkAnnotations.some((one) => one === name);
  const read = Object.entries(all).filter(([name]) => isRead(name));
  const annotations = { ...aboutPools(all), ...Object.fromEntries(read) };
  const spec = { nodeSelector: nodeSelectorOf(object) };
  return { spec: { replicas, ordinals, strategy, template: { metadata: { labels, annotations }, spec } } };
}

export function parseWorkload(object: Bag): Parsed<Workload> {
  const { name } = metadataOf(object);
  if (typeof name !== "string" || name === "") return { issues: [{ message: needsName, path: ["metadata"] }] };
  const namespace = namespaceOf(object);
  const kind = kindOfWorkload(object);
  const indexes = indexesOf(object);
  if (indexes.issues) return indexes;
  const networks = parsePodNetworks(annotationsOf(object), namespace);
  if (networks.issues)
    return { issues: networks.issues.map((issue) => ({ ...issue, path: pathOfAnnotation(`${issue.path?.[0]}`) })) };
  const wrong = wrongToDetect(annotationsOf(object));
  if (wrong !== undefined) return { issues: [{ ...wrong, path: pathOfAnnotation(detectAnnotation) }] };
  // It is the value of a label, too.
  if (name.length > 63)
    return { issues: [{ message: "a name of more than 63 characters is too long here", path: ["metadata", "name"] }] };
  return {
    value: {
      ...{ kind, name, namespace, indexes: indexes.value, networks: networks.value },
      labels: metadataOfPods(object).labels,
      nodeSelector: nodeSelectorOf(object),
      annotations: aboutPools(annotationsOf(object)),
    },
  };
}

const needsName = "a workload whose pods have addresses needs a name: write metadata.name in place of generateName";

function indexesOf(object: Bag): Parsed<readonly number[]> {
  if (object.kind === "Pod") return { value: [0] };
  return object.kind === "Deployment" ? indexesOfDeployment(object) : ordinalsOf(object);
}

/** One ConfigMap holds no more. */
const maxPods = 10_000;

function isNatural(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

function isCount(value: unknown): value is number {
  return isNatural(value) && value <= maxPods;
}

function replicasOf(object: Bag): Parsed<number> {
  const replicas = asWorkload(object).spec.replicas ?? 1;
  if (isCount(replicas)) return { value: replicas };
  return { issues: [{ message: `replicas must be a number, at most ${maxPods}`, path: ["spec", "replicas"] }] };
}

function ordinalsOf(object: Bag): Parsed<readonly number[]> {
  const start = asWorkload(object).spec.ordinals.start ?? 0;
  const replicas = replicasOf(object);
  if (replicas.issues) return replicas;
  if (!isNatural(start))
    return { issues: [{ message: "start must be a number", path: ["spec", "ordinals", "start"] }] };
  return { value: numbers(replicas.value).map((i) => start + i) };
}

/**
 * Returns how many pods a Deployment may have at once, without those that are being deleted.
 *
 *  strategy                 | besides `replicas`
 *  -------------------------+----------------------------------
 *  any, and Spiderpool's    | its value: the number in all, or, with a plus, the number besides
 *   ippool-ip-number        |
 *  Recreate                 | none
 *  maxSurge is a number     | that number
 *  maxSurge is a percentage | that of `replicas`, rounded up
 *  none is set              | 25%
 */
function indexesOfDeployment(object: Bag): Parsed<readonly number[]> {
  const replicas = replicasOf(object);
  if (replicas.issues) return replicas;
  const asked = annotationsOf(object)[countAnnotation];
  if (asked !== undefined) return indexesAsked(`${asked}`, replicas.value);
  const { type, rollingUpdate } = asWorkload(object).spec.strategy;
  const maxSurge = rollingUpdate.maxSurge ?? "25%";
  const [, percent] = /^(\d+)%$/.exec(`${maxSurge}`) ?? [];
  const surge = percent === undefined ? maxSurge : Math.ceil((replicas.value * Number(percent)) / 100);
  const all = type === "Recreate" ? replicas.value : replicas.value + Number(surge);
  if (isCount(all) && (type === "Recreate" || isCount(surge))) return { value: numbers(all) };
  const path = ["spec", "strategy", "rollingUpdate", "maxSurge"];
  return { issues: [{ message: `maxSurge must be a number or a percentage, for at most ${maxPods} pods`, path }] };
}

function indexesAsked(text: string, replicas: number): Parsed<readonly number[]> {
  const [, plus, digits] = /^(\+?)(\d+)$/.exec(text) ?? [];
  const all = Number(digits) + (plus === "+" ? replicas : 0);
  if (isCount(all)) return { value: numbers(all) };
  const path = pathOfAnnotation(countAnnotation);
  return {
    issues: [
      {
        message: `annotation ${countAnnotation} must be a number as in "5" or "+1", for at most ${maxPods} pods`,
        path,
      },
    ],
  };
}

function numbers(length: number): number[] {
  return Array.from({ length }, (_, i) => i);
}

/** Returns the owner of the addresses of a workload's pods. */
export function ownerOfWorkload({ kind, name, namespace }: Pick<Workload, "kind" | "name" | "namespace">): Owner {
  return { kind, namespace, name };
}

/** Returns the name of the claim of an index and NIC: every pod of that index has the same one. */
export function claimOfIndex(index: number, nic: string): string {
  return `${index}/${nic}`;
}

/**
 * Returns the interface that a claim of a workload is for, and the pod that has it, if its name is known: pods of a Deployment have random
 * names. Undefined for claims of other owners.
 */
export function interfaceOfClaim(claim: string): { readonly nic: string; readonly pod?: string } | undefined {
  const [, index, nic] = /^(\d+)\/(.+)$/.exec(nameOfKey(claim)) ?? [];
  if (!isOfWorkload(claim) || nic === undefined) return undefined;
  const { kind, name } = parseOwner(ownerOfKey(claim)).value ?? {};
  return kind === "StatefulSet" ? { nic, pod: `${name}-${index}` } : { nic };
}

/** Returns whether an owner, as `formatOwner` writes it, or the claim of one, is a workload's. */
export function isOfWorkload(text: string): boolean {
  return kindsWithPods.some((kind) => text.startsWith(`${kind}/`));
}

/** Returns the key of the object that an owner is. */
export function keyOfWorkload(owner: string): string {
  const { kind = "", namespace, name } = parseOwner(owner).value ?? {};
  return `${kindInGroup(kind, kind === "Pod" ? "" : workloadGroup)}/${namespace}:${name}`;
}
