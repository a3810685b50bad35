import type { Bag } from "../../schema/objects.ts";
import type { RenderedObject } from "./integration.ts";
import { labelsOf } from "./object-metadata.ts";

/** The labels of every object that the controller makes: nothing else is ever changed or deleted as a whole. */
export const managedBy = { "app.kubernetes.io/managed-by": "nodeippool-controller" };

/** Returns an object with these labels. */
export function marked(object: RenderedObject): RenderedObject {
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, labels: { ...(metadata.labels as object | undefined), ...managedBy } } };
}

export function isManaged(object: Bag): boolean {
  return labelsOf(object)["app.kubernetes.io/managed-by"] === managedBy["app.kubernetes.io/managed-by"];
}
