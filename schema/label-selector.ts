import { byCodeUnit, type Parsed } from "../core/index.ts";

/** What one label must be: one of some values, or there at all; or not. */
interface Requirement {
  readonly key: string;
  /** Absent: any value. */
  readonly values?: readonly string[];
  readonly isNot: boolean;
}

/** All of them must hold; without any, whatever the labels are. */
export type LabelSelector = readonly Requirement[];

const name = "[A-Za-z0-9](?:[-\\w.]*[A-Za-z0-9])?";
const key = `(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/)?${name}`;
const compared = `\\s*(==?|!=)\\s*(${name})?`;
const one = `\\s*(?:${name}\\s*)?`;
const listed = `\\s+(in|notin)\\s*\\((${one}(?:,${one})*)\\)`;
/** One requirement, up to a comma or the end. */
const requirement = new RegExp(`\\s*(?:!\\s*(${key})|(${key})(?:${compared}|${listed})?)\\s*(,|$)`, "y");

/**
 * Reads a selector as `kubectl get -l` does.
 *
 *  it says              | it holds where label a is
 *  ---------------------+---------------------------
 *  a=b, a==b, a in (b)  | b
 *  a=                   | there, and empty
 *  a in (b, c)          | b or c
 *  a!=b, a notin (b)    | anything else, or not there
 *  a                    | there, whatever it is
 *  !a                   | not there
 *  one, another         | as both say
 *  nothing              | anything, or not there
 */
export function parseLabelSelector(text: unknown): Parsed<LabelSelector> {
  if (text === undefined) return { value: [] };
  if (typeof text !== "string") return { issues: [{ message: "a label selector is text", hint: "Put it in quotes." }] };
  if (text.trim() === "") return { value: [] };
  const found: Requirement[] = [];
  for (let at = 0, end = ","; end === ","; at = requirement.lastIndex) {
    requirement.lastIndex = at;
    const parts = requirement.exec(text);
    if (parts === null) return { issues: [{ message: `${JSON.stringify(text.slice(at).trim())} ${wrong}`, hint }] };
    found.push(requirementOf(parts));
    end = `${parts[7]}`;
  }
  return { value: found };
}

const wrong = "does not begin with a condition on a label";
const hint = "Write KEY=VALUE, KEY!=VALUE, KEY in (VALUE, VALUE), KEY notin (VALUE), KEY or !KEY, and commas between.";

function requirementOf([, absent, key = "", sign, value = "", word, list]: RegExpExecArray): Requirement {
  if (absent !== undefined) return { key: absent, isNot: true };
  if (sign === undefined && word === undefined) return { key, isNot: false };
  const values = list === undefined ? [value] : list.split(",").map((one) => one.trim());
  return { key, values: [...new Set(values)].sort(byCodeUnit), isNot: sign === "!=" || word === "notin" };
}

/** Returns whether labels meet the whole selector. */
export function isSelected(labels: ReadonlyMap<string, string>, selector: LabelSelector): boolean {
  return selector.every(({ key, values, isNot }) => {
    const label = labels.get(key);
    return (label !== undefined && (values?.includes(label) ?? true)) !== isNot;
  });
}

/** The same text for selectors that say the same. */
export function formatSelector(selector: LabelSelector): string {
  const parts = selector.map(({ key, values, isNot }) => {
    if (values === undefined) return isNot ? `!${key}` : key;
    if (values.length === 1) return `${key}${isNot ? "!=" : "="}${values[0]}`;
    return `${key} ${isNot ? "notin" : "in"} (${values.join(", ")})`;
  });
  return [...new Set(parts)].sort(byCodeUnit).join(", ");
}
