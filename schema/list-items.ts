import { type Document, isMap, isSeq } from "yaml";

/** A List of a kind, which it names; of any, if it names none. */
export const listKind = /^(\w*)List$/;

/** Writes into the items of typed Lists what those, as the API server gives them, do not repeat: version and kind. */
export function nameItems(list: unknown, document: Document): void {
  if (!isMap(list)) return;
  const kind = listKind.exec(`${list.get("kind")}`)?.[1] || undefined;
  const items = list.get("items");
  if (!isSeq(items)) return;
  for (const item of items.items) {
    nameItems(item, document);
    if (kind === undefined || !isMap(item)) continue;
    const head = { apiVersion: list.get("apiVersion"), kind };
    const missing = Object.entries(head).filter(([key, value]) => value !== undefined && !item.has(key));
    item.items.unshift(...missing.map(([key, value]) => document.createPair(key, value)));
  }
}
