import type { RenderedObject } from "../../integrations/contract/integration.ts";
import { isManaged } from "../../integrations/contract/managed-by.ts";
import type { WatchedKind } from "../../integrations/contract/watched-kind.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import type { Seen } from "../cache/seen.ts";

/** Returns whether what an object says is replaced: what cannot be changed in one that is adopted stays. */
export function isReplaced(there: Seen, { fixed }: Pick<WatchedKind, "fixed">): boolean {
  return fixed === undefined || isManaged(there);
}

/**
 * Returns the JSON patch that puts what the controller says in the place of what it said, if the object is still of the version
 * that was seen. Labels, annotations, owners and finalizers of others stay. Whether an object that is adopted has to be created anew is
 * decided once it is ours.
 */
export function replacement(
  { apiVersion: _, kind: __, metadata, ...own }: RenderedObject,
  there: Seen,
  kind: Pick<WatchedKind, "fixed" | "statusPart">,
): Bag[] {
  const content = isReplaced(there, kind) && kind.statusPart === undefined ? own : {};
  const marks = (field: "labels" | "annotations") => {
    const added = Object.entries((metadata[field] ?? {}) as object).map(([name, value]) => ({
      op: "add",
      path: `/metadata/${field}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`,
      value,
    }));
    const isNew = there.metadata[field] === undefined && added.length > 0;
    return isNew ? [{ op: "add", path: `/metadata/${field}`, value: metadata[field] }] : added;
  };
  return [
    { op: "test", path: "/metadata/uid", value: there.metadata.uid },
    { op: "test", path: "/metadata/resourceVersion", value: there.metadata.resourceVersion },
    ...Object.entries(content).map(([field, value]) => ({ op: "add", path: `/${field}`, value })),
    ...marks("labels"),
    ...marks("annotations"),
    ...(metadata.ownerReferences === undefined
      ? []
      : [
          {
            op: "add",
            path: "/metadata/ownerReferences",
            value: ownersBeside(asList(metadata.ownerReferences), there),
          },
        ]),
    ...(metadata.finalizers === undefined
      ? []
      : [{ op: "add", path: "/metadata/finalizers", value: union(there.metadata.finalizers, metadata.finalizers) }]),
  ];
}

function union(...lists: readonly unknown[]): unknown[] {
  return [...new Set(lists.flatMap(asList))];
}

/** Our owner references beside those of others; an earlier one of the same object goes. Where there are to be none, all go. */
function ownersBeside(own: readonly unknown[], there: Seen): unknown[] {
  const nameOf = (one: unknown) => `${asBag(one)?.kind}/${asBag(one)?.name}`;
  const names = new Set(own.map(nameOf));
  if (own.length === 0) return [];
  return [...own, ...asList(there.metadata.ownerReferences).filter((one) => !names.has(nameOf(one)))];
}
