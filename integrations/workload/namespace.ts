import type { Labels, NamedPools, Parsed } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { metadataOf } from "../contract/object-metadata.ts";
import { namedByNamespace } from "./named-pools.ts";

/** A namespace, as pools and its pods see it. */
export interface Namespace {
  readonly labels: Labels;
  /** The pools of its pods that name none; issues where that cannot be read. */
  readonly named: Parsed<NamedPools>;
}

export const namespaceKind = "Namespace";

export function isNamespace({ apiVersion, kind }: Bag): boolean {
  return apiVersion === "v1" && kind === namespaceKind;
}

export function readNamespace(object: Bag): Namespace {
  const { name, labels, annotations } = metadataOf(object);
  // The API server gives each this label.
  const all = { ...labels, "kubernetes.io/metadata.name": `${name}` };
  return { labels: all, named: namedByNamespace(annotations) };
}

/** Returns a namespace whose object is unknown. */
export function unknownNamespace(name: string): Namespace {
  return readNamespace({ metadata: { name } });
}
