import type { Objects } from "../kube/index.ts";
import { keep } from "./seen.ts";
import type { World } from "./world.ts";

/** Asks the server how an object is now: somebody else was there before, or nobody knows what became of a write. */
export async function refresh(key: string, world: World, objects: Objects): Promise<void> {
  const kind = world.kind(key.slice(0, key.indexOf("/")));
  const stored = await objects.get(kind, key.slice(key.indexOf("/") + 1));
  if (stored === undefined) world.delete(kind.kind, key);
  else world.set(keep(kind, stored));
}
