import { nameOfKind, objectKey } from "../../integrations/object-key.ts";
import { mergedKinds } from "../cache/kinds.ts";
import { selectionsOf, type World, type WorldKind } from "../cache/world.ts";

/** The keys of all objects of a kind that the server has, of those that are selected. */
export type KeysOf = (kind: WorldKind, where: ReturnType<typeof selectionsOf>[number]) => Promise<ReadonlySet<string>>;

/**
 * Forgets objects whose end no watch has told. Only the end of one that may have any address leaves no trace: nobody knows by which
 * name to ask for it. What came, or changed, since the server was asked stays.
 */
export async function sweep(worlds: readonly World[], keysOf: KeysOf): Promise<void> {
  // Each world is told of all that any of them selects.
  const all = mergedKinds(worlds.flatMap((world) => world.allKinds()));
  const kinds = all.filter((kind) => kind.mayHaveAny && worlds.every((world) => isListed(world, kind)));
  for (const kind of kinds) {
    const name = nameOfKind(kind);
    const known = worlds.filter((world) => world.hasKind(name)).map((world) => ({ world, before: world.all(name) }));
    const there = new Set<string>();
    for (const where of selectionsOf(kind)) for (const key of await keysOf(kind, where)) there.add(key);
    for (const { world, before } of known)
      for (const seen of before)
        if (!there.has(objectKey(seen)) && world.get(objectKey(seen)) === seen) world.delete(objectKey(seen));
  }
}

function isListed(world: World, kind: WorldKind): boolean {
  const name = nameOfKind(kind);
  return !world.hasKind(name) || world.isListed(name);
}
