import { asBag, asList } from "../schema/objects.ts";

/**
 * Returns whether an object, or a part of one, says all that was applied. It may say more: API servers and admission
 * webhooks add defaults.
 *
 *  applied  | there                                     | covered
 *  ---------+-------------------------------------------+--------------------------------------
 *  null     | nothing, or null                          | yes: the server drops it
 *  mapping  | a mapping that covers each of its fields  | yes, whatever else it has
 *  list     | a list as long that covers each item      | yes; one more item is another list
 *  a scalar | the same                                  | yes
 */
export function isSuperset(there: unknown, applied: unknown): boolean {
  if (applied === null || applied === undefined) return there === null || there === undefined;
  if (Array.isArray(applied)) {
    const items = asList(there);
    return (
      Array.isArray(there) && items.length === applied.length && applied.every((one, i) => isSuperset(items[i], one))
    );
  }
  const [fields, found] = [asBag(applied), asBag(there)];
  if (fields === undefined) return there === applied;
  return found !== undefined && Object.entries(fields).every(([name, value]) => isSuperset(found[name], value));
}
