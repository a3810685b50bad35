import {
  advised,
  formatIssue,
  type IpamError,
  type Remedy,
  renameCommands,
  shellWord,
  toSetCommands,
} from "../core/index.ts";
import type { StateBackend } from "../state/index.ts";

/** What an app, or the command line beside it, has for a remedy; `record` is what tells the latter of the app's record. */
function remedyText(remedy: Remedy, record = ""): string {
  const words = remedy.slice(1);
  switch (remedy[0]) {
    case "rename":
      return `${renameCommands(remedy, mvCommand(record, remedy[4]))}, or allowMove: true in AddressPlan.configure`;
    case "to-set":
      return toSetCommands(remedy, planAs(remedy[2]), mvCommand(record, remedy[2]), "--to-set");
    case "allow-move":
      return "allowMove: true in AddressPlan.configure";
    case "confirm":
      return "confirmRelease: true in AddressPlan.plan, or nodeippool allocate --confirm -- npx cdk8s synth";
    case "explain":
      return `nodeippool explain ${words.join(" ")}${record}`;
    case "release":
      return `nodeippool release${record}`;
    case "show":
      return `nodeippool show${record}`;
    case "merge":
      return `nodeippool allocate${record} -- npx cdk8s synth`;
    case "merge-landed":
      return `nodeippool allocate${record} --landed REV -- npx cdk8s synth (REV: a branch or commit)`;
    case "set":
      return planAs(remedy[1]);
    case "moved":
      return words[0] === "file"
        ? "AddressPlan.configure(app, { lock })"
        : "AddressPlan.configure(app, { state: await loadState(await openKubernetes({ context, namespace })) })";
  }
}

function planAs(set = "NAME"): string {
  return `set: ${set} in AddressPlan.configure`;
}

function mvCommand(record: string, set = "default"): string {
  return `nodeippool mv${record}${set === "default" ? "" : ` --set ${shellWord(set)}`}`;
}

/** The same for the validation, which has properties of its own. */
export function propertyText(remedy: Remedy): string {
  if (remedy[0] !== "moved") return remedyText(remedy);
  const names = remedy[1] === "file" ? "lock" : "backend: kubernetes, context and namespace";
  return `${names} in the properties of the validation`;
}

/** What tells the command line of a record in a cluster. */
export function clusterOptions({ context, namespace }: NonNullable<StateBackend["where"]> = {}): string {
  const given = Object.entries({ backend: "kubernetes", context, namespace });
  return given.flatMap(([name, value]) => (value === undefined ? [] : ` --${name} ${shellWord(value)}`)).join("");
}

/** The same of a lockfile. */
export function lockOption(lock: string): string {
  return ` --lock ${shellWord(lock)}`;
}

/** All that an error says, each hint with what it means in an app. */
export function adviceOf({ issues }: IpamError, record: string): string {
  return issues.map((issue) => formatIssue(advised(issue, (remedy) => remedyText(remedy, record)))).join("\n");
}
