import type { Remedy } from "../core/errors.ts";
import { renameCommands } from "../core/renames.ts";
import { allocateAgain } from "./around.ts";

/** What names a claim set to a verb, where that is not the default one. */
export function setOption(set = "default"): string {
  return set === "default" ? "" : ` --set ${set}`;
}

/** What the command line has for a remedy: a command, or a flag. */
export function command(remedy: Remedy): string {
  const words = remedy.slice(1);
  switch (remedy[0]) {
    case "rename":
      return `${renameCommands(remedy, `nodeippool mv${setOption(remedy[4])}`)}, or --allow-move`;
    case "allow-move":
      return "--allow-move";
    case "explain":
      return `nodeippool explain ${words.join(" ")}`;
    case "release":
      return "nodeippool release";
    case "show":
      return "nodeippool show";
    case "merge":
      return allocateAgain();
    case "merge-landed":
      return `${allocateAgain("--landed REV")} (REV: a branch or commit)`;
    case "set":
      return "--set NAME";
    case "moved":
      return words[0] === "file" ? "--lock FILE" : "--backend kubernetes --context CONTEXT --namespace NAMESPACE";
  }
}
