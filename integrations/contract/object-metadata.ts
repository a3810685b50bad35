import { asBag, asList, type Bag } from "../../schema/objects.ts";

export function ownersOf({ metadata }: Bag): Bag[] {
  return asList(asBag(metadata)?.ownerReferences).map((one) => asBag(one) ?? {});
}

export function uidOf({ metadata }: Bag): string {
  return `${asBag(metadata)?.uid}`;
}

export function isDeleting({ metadata }: Bag): boolean {
  return asBag(metadata)?.deletionTimestamp !== undefined;
}

/** Returns the namespace of an object; one that is empty or null counts as absent, as for the API server. */
export function namespaceOf({ metadata }: Bag): string {
  return `${asBag(metadata)?.namespace || "default"}`;
}

export function nameOf({ metadata }: Bag): string {
  return `${asBag(metadata)?.name}`;
}
