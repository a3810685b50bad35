import type { Objects } from "../../kube/index.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import type { Seen } from "../cache/seen.ts";
import type { World } from "../cache/world.ts";

/** Changes fields of an object's metadata, if the object is still as it was seen; null takes one away. Throws as the API server refuses. */
export async function editMetadata(object: Seen, change: Bag, world: World, objects: Objects): Promise<Seen> {
  return edit(object, { metadata: change }, world, objects);
}

/** The same of any fields. */
export async function edit(object: Seen, { metadata, ...fields }: Bag, world: World, objects: Objects): Promise<Seen> {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const kind = world.kindFor(object);
  const body = { ...fields, metadata: { ...asBag(metadata), uid, resourceVersion } };
  return world.take(kind, await objects.patch(kind, name, namespace, body, { type: "merge" }));
}
