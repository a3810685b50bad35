import type { ReadKind } from "./manifest-document.ts";
import { asBag, type LocatedObject } from "./objects.ts";
import { type Chunk, YamlDocument } from "./yaml.ts";

/** A document that says no kind, by a field that it has; without `source` if it cannot be read, undefined if it is none. */
export function namelessIn(
  chunk: Chunk,
  kinds: readonly ReadKind[],
): { readonly yaml: YamlDocument; readonly source?: LocatedObject } | undefined {
  const kind = kinds.find(({ nameless }) => nameless !== undefined && mayHaveField(chunk.text, nameless.field));
  if (kind?.nameless === undefined) return undefined;
  const yaml = new YamlDocument(chunk, kind.nameless.quote(chunk.text));
  const object = asBag(yaml.value);
  if (object === undefined) return { yaml };
  if (object.kind !== undefined || !(kind.nameless.field in object)) return undefined;
  return {
    yaml,
    source: { object: { kind: kind.kind, ...object }, at: (path, _, part) => yaml.at(path, part) },
  };
}

/** At its top: on a line of its own, or in JSON anywhere. */
function mayHaveField(text: string, field: string): boolean {
  return new RegExp(`^["']?${field}["']?\\s*:`, "m").test(text) || (/^\s*\{/.test(text) && text.includes(`"${field}"`));
}
