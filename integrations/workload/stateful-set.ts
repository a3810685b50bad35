import type { Owner, Parsed } from "../../core/index.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import { networksAnnotation } from "../attachment-definition.ts";
import { type PodNetwork, parsePodNetworks } from "./pod-networks.ts";

/** A StatefulSet whose pods are attached to networks of Multus. */
export interface StatefulSet {
  readonly name: string;
  readonly namespace: string;
  /** The numbers of its pods. */
  readonly ordinals: readonly number[];
  readonly networks: readonly PodNetwork[];
}

export const statefulSetKind = "StatefulSet";

/** Where it says which networks its pods have. */
export const networksPath = ["spec", "template", "metadata", "annotations", networksAnnotation];

/** Does an object ask for networks of its pods? */
export function hasNetworks({ apiVersion, kind, spec }: Bag): boolean {
  return `${apiVersion}`.startsWith("apps/") && kind === statefulSetKind && textOf(spec) !== undefined;
}

function textOf(spec: unknown): unknown {
  const template = asBag(asBag(spec)?.template);
  return asBag(asBag(template?.metadata)?.annotations)?.[networksAnnotation];
}

export function parseStatefulSet({ metadata, spec }: Bag): Parsed<StatefulSet> {
  const { name, namespace = "default" } = asBag(metadata) ?? {};
  const { replicas = 1, ordinals } = asBag(spec) ?? {};
  const { start = 0 } = asBag(ordinals) ?? {};
  if (!isCount(replicas)) return { issues: [{ message: "replicas must be a number", path: ["spec", "replicas"] }] };
  if (!isCount(start)) return { issues: [{ message: "start must be a number", path: ["spec", "ordinals", "start"] }] };
  const networks = parsePodNetworks(textOf(spec), `${namespace}`);
  if (networks.issues) return { issues: networks.issues.map((issue) => ({ ...issue, path: networksPath })) };
  const numbers = Array.from({ length: replicas }, (_, i) => start + i);
  return { value: { name: `${name}`, namespace: `${namespace}`, ordinals: numbers, networks: networks.value } };
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

/** The owner of the addresses of its pods. */
export function ownerOfSet({ name, namespace }: Pick<StatefulSet, "name" | "namespace">): Owner {
  return { kind: statefulSetKind, namespace, name };
}

/** What the claim of one of its pods is called: the same whenever a pod of that number is made. */
export function claimOfPod(ordinal: number, nic: string): string {
  return `${ordinal}/${nic}`;
}
