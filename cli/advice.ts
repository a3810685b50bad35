import type { Remedy } from "../core/errors.ts";
import { type RenameRemedy, renameCommands, renamesOf } from "../core/plan/rename-remedy.ts";
import { toSetCommands } from "../core/plan/to-set.ts";
import { shellWord } from "../core/shell-word.ts";
import { allocateAgain, ownOptions, recordOptions } from "./argv.ts";

/** The verb that declares a rename, for this record and claim set. */
export function mvCommand(set = "default"): string {
  return `nodeippool mv${recordOptions()}${set === "default" ? "" : ` --set ${shellWord(set)}`}`;
}

/** What the command line has for a remedy: a command, or a flag. */
export function command(remedy: Remedy): string {
  const words = remedy.slice(1);
  switch (remedy[0]) {
    case "rename":
      return `${renameCommands(remedy, mvCommand(remedy[4]))}, or ${allowing()}${orToSet(remedy)}`;
    case "to-set":
      return toSetCommands(remedy, `--set ${shellWord(remedy[2])}`, mvCommand(remedy[2]), "--to-set");
    case "allow-move":
      return allowing();
    case "confirm":
      return "nodeippool allocate --confirm";
    case "explain":
      return `nodeippool explain ${words.join(" ")}${recordOptions()}`;
    case "release":
      return `nodeippool release${recordOptions()}`;
    case "show":
      return `nodeippool show${recordOptions()}${ownOptions(["--pools"])}`;
    case "merge":
      return allocateAgain();
    case "merge-landed":
      return `${allocateAgain("--landed REV")} (REV: a branch or commit)`;
    case "set":
      return `--set ${shellWord(remedy[1] ?? "NAME")}`;
    case "moved":
      return words[0] === "file" ? "--lock FILE" : "--backend kubernetes --context CONTEXT --namespace NAMESPACE";
  }
}

/** Where there are several claim sets, a policy that seems to be renamed may have gone to another one, and this one come in its place. */
function orToSet(remedy: RenameRemedy): string {
  const [, , , reach, set] = remedy;
  if (reach !== "policy" || set === undefined) return "";
  const policies = renamesOf(remedy).map(([from]) => from);
  return `; if it went to another set: ${command(["to-set", policies, set])}`;
}

/** The flag that lets addresses move, of this verb or of the one that has it. */
function allowing(): string {
  return process.argv[2] === "render" ? allocateAgain("--allow-move") : "--allow-move";
}
