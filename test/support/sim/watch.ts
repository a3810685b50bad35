import type { Cache } from "../../../controller/cache/cache.ts";
import { keep } from "../../../controller/cache/seen.ts";
import { type CachedKind, selectionsOf } from "../../../controller/cache/world-kind.ts";
import { nameOfKind, objectKey } from "../../../integrations/contract/object-key.ts";
import type { Bag } from "../../../schema/objects.ts";
import { copy, type SimEvent } from "./server.ts";

/** The watches tell a cache of these changes. */
export function tellCache(cache: Cache, events: readonly SimEvent[]): void {
  for (const { type, object } of events) {
    const name = nameOfKind(object);
    const known = cache.kind(name);
    if (known === undefined) continue;
    const key = objectKey(object as never);
    if (type === "set" && isSelected(object, known)) cache.set(keep(known, copy(object)));
    else if (type === "delete" || isSelected(cache.get(key), known)) cache.delete(key);
  }
}

/** Does a watch show it? One that loses its label is gone, as far as the watch tells. */
function isSelected(object: Bag | undefined, kind: CachedKind): boolean {
  const { labels } = (object?.metadata ?? {}) as { labels?: Readonly<Record<string, string>> };
  return selectionsOf(kind).some((where) => {
    const [label, value] = where.labels?.split("=") ?? [];
    return label === undefined || (labels?.[label] !== undefined && (value === undefined || labels[label] === value));
  });
}
