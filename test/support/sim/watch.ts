import { keep } from "../../../controller/cache/seen.ts";
import { selectionsOf, type World, type WorldKind } from "../../../controller/cache/world.ts";
import { nameOfKind, objectKey } from "../../../integrations/object-key.ts";
import type { Bag } from "../../../schema/objects.ts";
import type { SimEvent } from "./server.ts";

/** Its watches tell a world of these changes. */
export function tellWorld(world: World, events: readonly SimEvent[]): void {
  for (const { type, object } of events) {
    const name = nameOfKind(object);
    if (!world.hasKind(name)) continue;
    const known = world.kind(name);
    const key = objectKey(object as never);
    if (type === "set" && isSelected(object, known)) world.set(keep(known, structuredClone(object)));
    else if (type === "delete" || isSelected(world.get(key), known)) world.delete(key);
  }
}

/** Does a watch show it? One that loses its label is gone, as far as the watch tells. */
function isSelected(object: Bag | undefined, kind: WorldKind): boolean {
  const { labels } = (object?.metadata ?? {}) as { labels?: Readonly<Record<string, string>> };
  return selectionsOf(kind).some((where) => {
    const [label, value] = where.labels?.split("=") ?? [];
    return label === undefined || (labels?.[label] !== undefined && (value === undefined || labels[label] === value));
  });
}
