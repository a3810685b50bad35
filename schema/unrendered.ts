import type { Issue, Place } from "../core/index.ts";
import type { Chunk } from "./yaml.ts";

/** The issue of a manifest that another tool has to render first. */
export function unrendered(at: Place): Issue {
  return {
    message: "this is a template, not a manifest",
    at,
    hint: "Render it first, and give the result: helm template CHART, say.",
  };
}

/** Where a document starts. */
export function startOf({ label, line, column }: Chunk): Place {
  return { file: label, line, column: column + 1 };
}
