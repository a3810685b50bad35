import type { Objects } from "../../kube/index.ts";
import type { Seen } from "../cache/seen.ts";
import type { World } from "../cache/world.ts";
import { editMetadata } from "./metadata.ts";

/** While it is on a NodeIPPool, the API server does not delete the pool: it is there for as long as lines of the pool are on record. */
export const finalizer = "nmstate.io/nodeippool-in-use";

/** Sees to it that an object has this finalizer, or has not, if it is still as it was seen. Throws as the API server refuses. */
export async function setFinalizer(
  object: Seen,
  name: string,
  isWanted: boolean,
  world: World,
  objects: Objects,
): Promise<void> {
  const { finalizers = [] } = object.metadata;
  if (finalizers.includes(name) === isWanted) return;
  const wanted = isWanted ? [...finalizers, name] : finalizers.filter((one) => one !== name);
  await editMetadata(object, { finalizers: wanted }, world, objects);
}
