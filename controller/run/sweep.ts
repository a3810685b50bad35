import { nameOfKind, objectKey } from "../../integrations/contract/object-key.ts";
import type { Cache } from "../cache/cache.ts";
import { type CachedKind, selectionsOf } from "../cache/world-kind.ts";

/** The keys of all objects of a kind that the server has, of those that are selected. */
export type KeysOf = (kind: CachedKind, where: ReturnType<typeof selectionsOf>[number]) => Promise<ReadonlySet<string>>;

/**
 * Forgets objects whose end no watch has told. Only the end of one that may have any address leaves no trace: nobody knows by which
 * name to ask for it. What came, or changed, since the server was asked stays.
 */
export async function sweep(cache: Cache, keysOf: KeysOf): Promise<void> {
  const kinds = cache.allKinds().filter((kind) => kind.mayHaveAny && cache.isListed(nameOfKind(kind)));
  for (const kind of kinds) {
    const before = cache.all(nameOfKind(kind));
    const there = new Set<string>();
    for (const where of selectionsOf(kind)) for (const key of await keysOf(kind, where)) there.add(key);
    for (const seen of before)
      if (!there.has(objectKey(seen)) && cache.get(objectKey(seen)) === seen) cache.delete(objectKey(seen));
  }
}
