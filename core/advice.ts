import { formatIssue, type IpamError, type Issue, type Remedy } from "./errors.ts";
import { shellWord } from "./shell-word.ts";

interface Words {
  /** What follows `nodeippool allocate`, around which the surface is planned. */
  readonly command: string;
  readonly rename: (from: string, to: string, owner?: string) => string;
  readonly "rename-owner": (from: string, to: string) => string;
  readonly "allow move": string;
  readonly "allow release": string;
  readonly release: string;
  readonly "moved file": string;
  readonly "moved cluster": string;
}

const commandLine: Words = {
  command: "",
  rename: (...words) => `nodeippool mv ${keysOf(...words).join(" ")}`,
  "rename-owner": (from, to) => `nodeippool mv ${from} ${to}`,
  "allow move": "nodeippool allocate --allow-move",
  "allow release": "nodeippool allocate --confirm",
  release: "nodeippool release",
  "moved file": "--lock FILE",
  "moved cluster": "--backend kubernetes --context CONTEXT --namespace NAMESPACE",
};

const cdk8s: Words = {
  ...commandLine,
  command: " -- npx cdk8s synth",
  "allow move": "allowMove: true in AddressPlan.configure",
  "allow release": "nodeippool allocate --confirm -- npx cdk8s synth",
  "moved file": "lock",
  "moved cluster": "state in AddressPlan.configure, or backend, context and namespace in the validation",
};

const pulumi: Words = {
  ...commandLine,
  command: " -- pulumi preview",
  rename: (from, to, owner) => {
    const keys = keysOf(from, to, owner ?? "OWNER");
    return `moved: [{ from: "${keys[0]}", to: "${keys[1]}" }]${owner === undefined ? ", for each owner" : ""}`;
  },
  "rename-owner": (from, to) => `moved: [{ from: "${from}/NAME", to: "${to}/NAME" }], for each claim`,
  "allow move": "allowMove: true",
  "allow release": "confirmRelease: true",
  "moved file": 'state: { backend: "lockfile", path }',
  "moved cluster": 'state: { backend: "kubernetes", context, namespace }',
};

/** What each surface has for a remedy. `stack` is Pulumi with the record in the stack itself. */
const surfaces = {
  commandLine,
  cdk8s,
  pulumi,
  stack: { ...pulumi, release: 'release: ["Kind/name"], in an update without this claim' },
};

/** The surface that prints advice. */
export type Surface = keyof typeof surfaces;

/** A remedy in the words of one surface: a command, a flag or a field. */
export function remedyText(remedy: Remedy, surface: Surface): string {
  const words = surfaces[surface];
  switch (remedy[0]) {
    case "rename": {
      const [, from, to, owner] = remedy;
      return `${words.rename(from, to, owner)}, or ${words["allow move"]}`;
    }
    case "rename-owner":
      return `${words["rename-owner"](remedy[1], remedy[2])}, or ${words["allow move"]}`;
    case "to-set":
      return `nodeippool mv ${remedy[1]}${remedy[2] === "default" ? "" : ` --set ${remedy[2]}`} --to-set ${remedy[3]}`;
    case "allow":
      return words[`allow ${remedy[1]}`];
    case "release":
      return words.release;
    case "record":
      return `nodeippool allocate${remedy[1] === undefined ? "" : recordFlags[remedy[1]]}${words.command}`;
    case "moved":
      return words[`moved ${remedy[1]}`];
  }
}

/** Returns the command that releases addresses of a record in a cluster by their names. */
export function releaseCommand(addresses: readonly string[], namespace: string | undefined): string {
  const where = namespace === undefined ? "" : ` --namespace ${shellWord(namespace)}`;
  return `nodeippool release ${addresses.join(" ")} --confirm --backend kubernetes${where}`;
}

const recordFlags = { landed: " --landed REV", init: " --init" };

/** Claim keys of one owner, or the names alone, which stand for all owners. */
function keysOf(from: string, to: string, owner?: string): [from: string, to: string] {
  return owner === undefined ? [from, to] : [`${owner}/${from}`, `${owner}/${to}`];
}

/** Advice as one surface gives it: the remedy stands behind the hint, in the words of that surface. */
export function advised<T extends Pick<Issue, "hint" | "remedy">>(
  { hint, remedy, ...rest }: T,
  surface: Surface,
): Omit<T, "hint" | "remedy"> & { readonly hint?: string } {
  if (hint === undefined) return rest;
  return { ...rest, hint: remedy === undefined ? hint : `${hint.replace(/\.$/, "")}: ${remedyText(remedy, surface)}` };
}

/** All that an error says, as one surface gives it. */
export function adviceOf({ issues }: IpamError, surface: Surface): string {
  return issues.map((issue) => formatIssue(advised(issue, surface))).join("\n");
}
