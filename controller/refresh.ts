import type { Objects, Stored } from "../kube/index.ts";
import { kindOf, namesOf } from "./seen.ts";
import type { World } from "./world.ts";

/** Asks the server how an object is now: somebody else was there before, or nobody knows what became of a write. */
export async function refresh(key: string, world: World, objects: Objects): Promise<void> {
  const stored = await fetched(key, world, objects);
  if (stored === undefined) world.delete(key);
  else world.take(kindOf(key), stored);
}

/** An object as the server has it; undefined if it has none. */
export function fetched(key: string, world: World, objects: Objects): Promise<Stored | undefined> {
  const { name, namespace } = namesOf(key);
  return objects.get(world.kind(kindOf(key)), name, namespace);
}
