import { kindOf, namesOf } from "../../integrations/contract/object-key.ts";
import type { Objects, Stored } from "../../kube/index.ts";
import type { Seen } from "./seen.ts";
import type { World } from "./world.ts";

/**
 * Reads an object from the server into the cache: another controller wrote it first, or the outcome of a write is unknown. `read` gets the
 * whole object.
 */
export async function refresh(
  key: string,
  world: World,
  objects: Objects,
  read: (stored: Stored) => void = () => {},
): Promise<Seen | undefined> {
  const before = world.get(key);
  const stored = await fetched(key, world, objects);
  if (stored !== undefined) {
    read(stored);
    return world.take(world.kind(kindOf(key)), stored);
  }
  // It may have been made anew since the server looked.
  if (world.get(key) === before) world.delete(key);
  return undefined;
}

/** Returns whether an object on the server differs from what the cache has. The cache has the server's from then on. */
export async function isOutdated(
  key: string,
  seen: Seen | undefined,
  world: World,
  objects: Objects,
): Promise<boolean> {
  return world.isChanged(seen, await refresh(key, world, objects));
}

/** Returns an object as the server has it; undefined if it has none. */
export function fetched(key: string, world: World, objects: Objects): Promise<Stored | undefined> {
  const { name, namespace } = namesOf(key);
  return objects.get(world.kind(kindOf(key)), name, namespace);
}

/** So many requests are sent at once for one decision. */
const maxInFlight = 16;

/** Asks for all items, at most `maxInFlight` at once. */
export async function inParallel<Item, Answer>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let i = 0; i < items.length; i += maxInFlight)
    answers.push(...(await Promise.all(items.slice(i, i + maxInFlight).map(ask))));
  return answers;
}
