import { asBag, type Bag } from "../../schema/objects.ts";

/** The labels of every object that the controller makes: nothing else is ever changed or deleted as a whole. */
export const managedBy = { "app.kubernetes.io/managed-by": "nodeippool-controller" };

export function isManaged({ metadata }: Bag): boolean {
  const labels = asBag(asBag(metadata)?.labels);
  return labels?.["app.kubernetes.io/managed-by"] === managedBy["app.kubernetes.io/managed-by"];
}
