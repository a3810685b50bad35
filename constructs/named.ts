import type { Parsed } from "../core/index.ts";

/** What is wrong with an object, and which one that is: an app has no places in files to tell. */
export function named<T>(what: string, parsed: Parsed<T>): Parsed<T> {
  if (parsed.issues === undefined) return parsed;
  return { issues: parsed.issues.map((issue) => ({ ...issue, message: `${what}: ${issue.message}` })) };
}
