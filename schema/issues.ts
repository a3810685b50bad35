import type { Issue } from "../core/index.ts";

/** Nobody reads more issues of one document. */
export const enough = 100;

/** Returns an issue and its next step as one text, for a condition or an Event. */
export function inSentences({ message, hint }: Pick<Issue, "message" | "hint">): string {
  if (hint === undefined) return message;
  return `${message}${/[.?]$/.test(message) ? "" : "."} ${hint}`;
}
