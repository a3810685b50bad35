import type { Bag } from "../../schema/objects.ts";
import { any, list, mapping, type Of, texts, view } from "../../schema/shape.ts";
import { objectKey } from "./object-key.ts";

/** The metadata of every object. */
export const asMetadata = view({
  name: any,
  namespace: any,
  uid: any,
  generation: any,
  labels: texts,
  annotations: mapping,
  finalizers: list(any),
  ownerReferences: list(view({ apiVersion: any, kind: any, name: any, uid: any })),
  creationTimestamp: any,
  deletionTimestamp: any,
  deletionGracePeriodSeconds: any,
});

export function metadataOf({ metadata }: Bag): Of<typeof asMetadata> {
  return asMetadata(metadata);
}

export function annotationsOf(object: Bag): Bag {
  return metadataOf(object).annotations;
}

export function labelsOf(object: Bag): Readonly<Record<string, string>> {
  return metadataOf(object).labels;
}

export function ownersOf(object: Bag): Of<typeof asMetadata>["ownerReferences"] {
  return metadataOf(object).ownerReferences;
}

export function uidOf(object: Bag): string {
  return `${metadataOf(object).uid}`;
}

export function isDeleting(object: Bag): boolean {
  return metadataOf(object).deletionTimestamp !== undefined;
}

/** Returns the namespace of an object; one that is empty or null counts as absent, as for the API server. */
export function namespaceOf(object: Bag): string {
  return `${metadataOf(object).namespace || "default"}`;
}

export function nameOf(object: Bag): string {
  return `${metadataOf(object).name}`;
}

/** The key of an object that the API server gave. */
export function keyOf(object: Bag): string {
  const { name, namespace } = metadataOf(object);
  return objectKey({
    apiVersion: `${object.apiVersion}`,
    kind: `${object.kind}`,
    metadata: { name: `${name}`, namespace },
  });
}
