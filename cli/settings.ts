import type { Command } from "commander";
import { IpamError } from "../core/errors.ts";
import { afterDashes } from "./argv.ts";
import {
  findUsualPlaces,
  readConfig,
  refuseSeveralNodes,
  resolveSettings,
  type Settings,
  type Typed,
} from "./config.ts";

const names = ["nodes", "out", "lock", "set", "backend", "context", "namespace"] as const;

/**
 * Gives a verb's options the values of nodeippool.yaml and of the usual places where nothing is typed. `manifests` and
 * `nodesFound` are added for verbs that read manifests. Throws IpamError `invalid` for options that contradict each other.
 */
export function completeOptions(verb: Command): void {
  refuseEmpty(verb);
  const own = names.filter((name) => verb.options.some((option) => option.attributeName() === name));
  if (own.length === 0) return;
  const typed = typedIn(verb);
  const usual = findUsualPlaces();
  const settings = resolveSettings(typed, readConfig(), usual);
  refuseContradiction(verb, typed, settings);
  // The command after -- says itself what it plans: only the record is ours.
  const isAround = verb.name() === "allocate" && afterDashes().length > 0;
  for (const name of own) {
    if (isAround && (name === "nodes" || name === "set")) continue;
    // migrate has another --set, which renames lines: nothing but the command line may ask for that.
    if (verb.name() === "migrate" && name === "set") continue;
    if (verb.getOptionValueSource(name) !== "cli") verb.setOptionValueWithSource(name, settings[name], "config");
    else if (name === "out") verb.setOptionValueWithSource(name, settings.out, "cli");
  }
  if (isAround) return;
  if (own.includes("nodes") && settings.nodesFound) refuseSeveralNodes(usual);
  const at = manifestsOf(verb);
  if (at >= 0) verb.processedArgs[at] = settings.manifests;
  verb.setOptionValueWithSource("manifests", settings.manifests, "config");
  verb.setOptionValueWithSource("nodesFound", settings.nodesFound, "config");
}

function typedIn(verb: Command): Typed {
  const options = names.map((name) => [
    name,
    verb.getOptionValueSource(name) === "cli" ? verb.getOptionValue(name) : undefined,
  ]);
  // What migrate moves is in a cluster, whatever --lock says.
  const backend = verb.name() === "migrate" ? { backend: "kubernetes" } : {};
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

function refuseContradiction(verb: Command, typed: Typed, { backend }: Settings): void {
  if (verb.name() === "migrate") return;
  if (typed.backend === "kubernetes" && typed.lock !== undefined)
    throw new IpamError("invalid", "--lock names a file, but with --backend kubernetes the record is in a cluster", {
      hint: "Leave one of them out.",
    });
  const { context, namespace } = typed;
  const ofCluster = context === undefined ? (namespace === undefined ? undefined : "--namespace") : "--context";
  if (ofCluster !== undefined && backend !== "kubernetes")
    throw new IpamError("invalid", `${ofCluster} says where in a cluster the record is`, {
      hint: "Add --backend kubernetes.",
    });
}
