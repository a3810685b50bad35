import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { IpamCode, Issue, Remedy, RenameRemedy } from "../core/index.ts";
import { advised, formatIssue, renamesOf, shellWord, toSetCommands } from "../core/index.ts";
import { foldersAbove } from "../state/git.ts";
import { secretWords, withoutSecrets } from "./secret-words.ts";
import type { SetInputs, SetState, StateArgs } from "./set-state.ts";

/** Why a set cannot have `ignoreChanges`. */
export const noIgnoring = "ignoreChanges would plan addresses that the program does not ask for";

/** What a program has for a remedy. */
function input(remedy: Remedy, state: StateArgs): string {
  const words = remedy.slice(1);
  switch (remedy[0]) {
    case "rename":
      return `${movedInput(remedy)}, or allowMove: true`;
    case "to-set":
      return toSetCommands(
        remedy,
        planAs(remedy[2]),
        `nodeippool mv${ofRecord(state)} --set ${shellWord(remedy[2])}`,
        "--to-set",
      );
    case "confirm":
      return "confirmRelease: true";
    case "allow-move":
      return "allowMove: true";
    case "release":
      return state.backend === "stack"
        ? 'release: ["Kind/name"], in an update without this claim'
        : `nodeippool release${ofRecord(state)}`;
    case "set":
      return planAs(remedy[1]);
    case "moved":
      return words[0] === "file"
        ? 'state: { backend: "lockfile", path }'
        : 'state: { backend: "kubernetes", context, namespace }';
    case "merge":
      return recording(state);
    case "merge-landed":
      return `${recording(state, " --landed REV")} (REV: a branch or commit)`;
    case "explain":
      return "its range, gateway, exclude and reservations";
    case "show":
      return `nodeippool show${ofRecord(state)}`;
  }
}

function planAs(set = "NAME"): string {
  return `set: "${set}"`;
}

/** The command that records what a program asks of its lock. Its path is relative to the program; people are where Pulumi.yaml is. */
export function recording(state: StateArgs, option = ""): string {
  return `nodeippool allocate${ofRecord(state)}${option} -- pulumi preview`;
}

/** What tells the command line of the record. */
function ofRecord(state: StateArgs): string {
  if (state.backend === "stack") return "";
  if (state.backend === "kubernetes")
    return (["backend", "context", "namespace"] as const)
      .flatMap((name) => (state[name] === undefined ? [] : ` --${name} ${shellWord(state[name])}`))
      .join("");
  const lock = relative(projectFolder(), resolve(state.path));
  return lock === "nodeippool.lock" ? "" : ` --lock ${shellWord(lock)}`;
}

function projectFolder(): string {
  const folders = foldersAbove("Pulumi.yaml");
  const isProject = (folder: string) => ["Pulumi.yaml", "Pulumi.yml"].some((name) => existsSync(join(folder, name)));
  return folders.find(isProject) ?? process.cwd();
}

/** A claim is declared by its whole key: of a name that nobody has any more, for each owner. */
function movedInput(remedy: RenameRemedy): string {
  const [what, from, to, reach] = remedy;
  const isOfSome = typeof reach !== "string";
  // Owners themselves may have other names now.
  if (from.startsWith("Node/")) return `moved: [{ from: "${from}/CLAIM", to: "${to}/CLAIM" }], for each claim`;
  const renames = renamesOf([what, from, to, isOfSome ? reach : ["OWNER"]]);
  const list = renames.map(([old, fresh]) => `{ from: "${old}", to: "${fresh}" }`).join(", ");
  return `moved: [${list}]${isOfSome ? "" : ", for each owner"}`;
}

/**
 * What the engine prints of a mistake: `code: path: message`, and what to do about it. What came from secret claims is
 * struck out: those of today and those that `held` has, what the stack's state says of its sets.
 */
export function reasonOf(code: IpamCode, issue: Issue, inputs: SetInputs, held: readonly SetState[]): string {
  const text = formatIssue(advised(issue, (remedy) => input(remedy, inputs.state)));
  const place = (issue.path ?? [])
    .map((part, i) => (typeof part === "number" ? `[${part}]` : `${i === 0 ? "" : "."}${part}`))
    .join("");
  const reason = `${code}: ${place === "" ? "" : `${place}: `}${text}`;
  return withoutSecrets(reason, secretWords(inputs, held));
}
