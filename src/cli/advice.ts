import type { Issue, Remedy } from "../core/errors.ts";

/** What the command line has for a remedy. */
function command([what, ...words]: Remedy): string {
  switch (what) {
    case "rename":
      return `nodeippool mv ${words.join(" ")}, or --allow-move`;
    case "allow-move":
      return "--allow-move";
    case "explain":
      return `nodeippool explain ${words.join(" ")}`;
    case "release":
      return "nodeippool release";
    case "show":
      return "nodeippool show";
    case "merge":
      return "nodeippool allocate";
    case "merge-landed":
      return "nodeippool allocate --landed REV (a branch or commit)";
    case "set":
      return "--set NAME";
  }
}

/** What to do, in the words of the command line: the hint, and the command or flag for it. */
export function advice({ hint, remedy }: Pick<Issue, "hint" | "remedy">): { readonly hint?: string } {
  if (hint === undefined || remedy === undefined) return hint === undefined ? {} : { hint };
  return { hint: `${hint.replace(/\.$/, "")}: ${command(remedy)}` };
}
