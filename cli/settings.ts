import type { Command } from "commander";
import { IpamError } from "../core/errors.ts";
import { infraFile } from "../integrations/metal3/infra-file.ts";
import { afterDashes } from "./argv.ts";
import { type Config, type Setting, settingNames } from "./config.ts";
import { configName, exists, isFolder, namesOfInputs, renderedList } from "./files.ts";
import { readConfig } from "./read-config.ts";

/** What is found in the usual places of a folder. */
export interface UsualPlaces {
  readonly manifests: string;
  /** More than one is ambiguous. */
  readonly nodes: readonly string[];
  readonly out?: string;
}

/** What a verb works with. `out`: undefined is standard output. */
export interface Settings extends Config {
  readonly manifests: string;
  readonly lock: string;
  readonly set: string;
  /** Whether `nodes` is the default, which neither the command line nor the configuration names. */
  readonly nodesFound: boolean;
}

/**
 * Gives a verb's options the values of nodeippool.yaml and of the usual places where nothing is typed. `manifests` and
 * `nodesFound` are added for verbs that read manifests. Throws IpamError `invalid` for options that contradict each other.
 */
export async function completeOptions(verb: Command): Promise<void> {
  refuseEmpty(verb);
  const own = settingNames.filter((name) => verb.options.some((option) => option.attributeName() === name));
  const at = manifestsOf(verb);
  if (own.length === 0 && at < 0) return;
  const typed = typedIn(verb);
  const usual = findUsualPlaces();
  const config = await readConfig();
  const settings = resolveSettings(typed, config, usual);
  if (verb.name() !== "migrate") refuseContradiction(typed, settings);
  const theirs = notOurs(verb);
  for (const name of own) if (!theirs.includes(name)) verb.setOptionValue(name, settings[name]);
  if (theirs.includes("manifests")) return;
  if (own.includes("nodes") && settings.nodesFound && usual.nodes.length > 1)
    throw new IpamError("invalid", `${usual.nodes.join(" and ")} may each be the list of nodes`, {
      hint: `Name the one that is: --nodes FILE, or nodes: FILE in ${configName}.`,
    });
  const isFound = typed.manifests === undefined && config.manifests === undefined;
  if (at >= 0 && isFound && settings.manifests === "." && own.includes("set")) refuseProgram(verb.name());
  if (at >= 0) verb.processedArgs[at] = settings.manifests;
  verb.setOptionValue("manifests", settings.manifests);
  verb.setOptionValue("nodesFound", settings.nodesFound);
}

/** Settings that a verb of this command line does not take from the configuration. */
function notOurs(verb: Command): Setting[] {
  // The command after -- says itself what it plans: only the record is ours.
  if (verb.name() === "allocate" && afterDashes().length > 0) return ["manifests", "nodes", "set"];
  return [];
}

function typedIn(verb: Command): Config {
  const options = settingNames.map((name) => [
    name,
    verb.getOptionValueSource(name) === "cli" ? verb.getOptionValue(name) : undefined,
  ]);
  // What migrate moves is in a cluster, whatever --lock says; the controller has its record there.
  const backend = ["migrate", "controller"].includes(verb.name()) ? { backend: "kubernetes" } : {};
  return { ...Object.fromEntries(options), ...backend, manifests: verb.processedArgs[manifestsOf(verb)] };
}

/** Where among its arguments a verb has the manifests; -1 if it has none. */
function manifestsOf(verb: Command): number {
  return verb.registeredArguments.findIndex((argument) => argument.name() === "manifests");
}

function refuseEmpty(verb: Command): void {
  const empty = verb.options.find((option) => verb.getOptionValue(option.attributeName()) === "");
  if (empty !== undefined)
    throw new IpamError("invalid", `${empty.long} is given, and empty`, {
      hint: "Is it a variable of the shell that is not set?",
    });
}

function refuseContradiction(typed: Config, { backend, context, namespace }: Settings): void {
  if (typed.backend === "kubernetes" && typed.lock !== undefined)
    throw new IpamError("invalid", "--lock names a file, but with --backend kubernetes the record is in a cluster", {
      hint: "Leave one of them out.",
    });
  if (backend !== "kubernetes" && (context ?? namespace) !== undefined)
    throw new IpamError("invalid", `${context === undefined ? "namespace" : "context"} is for the backend kubernetes`, {
      hint: "Add --backend kubernetes, or backend: kubernetes in the configuration.",
    });
}

/** What claims addresses in a folder of its own, by the file that the folder has then. */
const programs = [
  { file: "cdk8s.yaml", title: "a cdk8s app", command: "npx cdk8s synth" },
  { file: "Pulumi.yaml", title: "a Pulumi program", command: "pulumi preview" },
] as const;

/** In the folder of a program there are no manifests, or only rendered ones: a plan of these would release all addresses. */
function refuseProgram(verb: string): void {
  const program = programs.find(({ file }) => exists(file));
  if (program === undefined) return;
  const { file, title, command } = program;
  throw new IpamError("invalid", `this folder is ${title} (${file}), and no manifests are named`, {
    hint: `To plan and record what the program claims: nodeippool allocate -- ${command}. For manifests in this folder: nodeippool ${verb} .`,
  });
}

/** Looks for manifests, nodes and rendered manifests where they usually are, in the working folder. */
function findUsualPlaces(): UsualPlaces {
  const nodes = ["nodes.txt", "nodes.json", "nodes.yaml", "nodes.yml"].filter(exists);
  const manifests = ["manifests", infraFile].find(exists) ?? ".";
  return { manifests, nodes, ...(isRenderedFrom(manifests) ? { out: "rendered" } : {}) };
}

/**
 * Whether render has written `rendered`: it is there with its list, or with a file of the manifests, where git lacks the list.
 * Any other folder of this name may be another program's.
 */
function isRenderedFrom(manifests: string): boolean {
  if (exists(`rendered/${renderedList}`)) return true;
  if (!exists("rendered") || !isFolder(manifests) || !isFolder("rendered")) return false;
  return namesOfInputs(manifests).some((name) => exists(`rendered/${name}`));
}

/**
 * What holds for a verb: what is typed, else what the configuration says, else the usual place. `out` belongs to the
 * manifests of the configuration: where others are typed, they go to standard output unless `--out` is typed as well.
 * A typed `--lock` means the lockfile.
 */
export function resolveSettings(typed: Config, config: Config, usual: UsualPlaces): Settings {
  const isLock = typed.backend === "lockfile" || (typed.backend === undefined && typed.lock !== undefined);
  const first = (name: Setting, otherwise?: string) => typed[name] ?? config[name] ?? otherwise;
  const ofRecord = (name: Setting) => (isLock ? typed[name] : first(name));
  const out = typed.manifests === undefined ? first("out", usual.out) : typed.out;
  return {
    manifests: first("manifests") ?? usual.manifests,
    nodes: first("nodes", usual.nodes[0]),
    nodesFound: first("nodes") === undefined && usual.nodes.length > 0,
    out: out === "-" ? undefined : out,
    lock: first("lock") ?? "nodeippool.lock",
    set: first("set") ?? "default",
    released: first("released"),
    backend: ofRecord("backend"),
    context: ofRecord("context"),
    namespace: ofRecord("namespace"),
  };
}
