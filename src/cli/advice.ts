import { shortRename } from "../core/claim.ts";
import type { Remedy } from "../core/errors.ts";

/** What the command line has for a remedy: a command, or a flag. */
export function command([what, ...words]: Remedy): string {
  switch (what) {
    case "rename":
      return `nodeippool mv ${shortRename(words).join(" ")}, or --allow-move`;
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
    case "moved":
      return words[0] === "file" ? "--lock FILE" : "--backend kubernetes --context CONTEXT --namespace NAMESPACE";
  }
}
