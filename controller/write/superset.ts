import { asBag, asList } from "../../schema/objects.ts";

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

/**
 * Returns the paths of the fields of what was written that the answer to the write has otherwise.
 *
 *  written        | changed where the answer has
 *  ---------------+----------------------------------------
 *  null, no items | anything there
 *  a list         | one of its items nowhere in the list
 *  a mapping      | one of its fields changed
 *  a scalar       | another one
 */
export function changedFields(written: unknown, answer: unknown, path = ""): string[] {
  const fields = asBag(written);
  if (fields === undefined) return isTaken(written, answer) ? [] : [path];
  const found = asBag(answer);
  return Object.entries(fields).flatMap(([name, value]) => changedFields(value, found?.[name], fieldPath(path, name)));
}

/** Returns whether the answer to a write differs from what was written only in what it lacks: API servers drop the fields that a CRD does not have. */
export function isOnlyDropped(written: unknown, answer: unknown): boolean {
  if (answer === undefined || isTaken(written, answer)) return true;
  const [fields, found] = [asBag(written), asBag(answer)];
  if (fields === undefined || found === undefined) return Array.isArray(written) && isSuperset(written, answer);
  return Object.entries(fields).every(([name, value]) => isOnlyDropped(value, found[name]));
}

function isTaken(written: unknown, answer: unknown): boolean {
  const items = asList(written);
  if (items.length === 0 && (written === null || written === undefined || Array.isArray(written)))
    return answer === null || answer === undefined || (Array.isArray(answer) && answer.length === 0);
  if (!Array.isArray(written)) return answer === written;
  const found = asList(answer);
  // Most often the list is the same, and it may be long.
  return items.every((item, i) => isSuperset(found[i], item) || found.some((one) => isSuperset(one, item)));
}

/** Returns the path of a field below another one. */
export function fieldPath(path: string, name: string): string {
  if (!/^[\w-]+$/.test(name)) return `${path}[${name}]`;
  return path === "" ? name : `${path}.${name}`;
}
