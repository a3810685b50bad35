import { IpamError, type Issue, type Parsed, unwrap } from "../core/index.ts";
import { didYouMean } from "../schema/nearest.ts";
import { type Path, splitDocuments, YamlDocument } from "../schema/yaml.ts";
import { configName, exists, readFile, renderedList } from "./files.ts";

/** What `nodeippool.yaml` says. Its paths are relative to the folder that it is in. */
export interface Config {
  readonly manifests?: string;
  readonly nodes?: string;
  readonly out?: string;
  readonly lock?: string;
  readonly set?: string;
  readonly state?: ConfigState;
}

/** Where allocations live, if not in the lockfile. `context` and `namespace` are for the backend `kubernetes`. */
export interface ConfigState {
  readonly backend?: "lockfile" | "kubernetes";
  readonly context?: string;
  readonly namespace?: string;
}

/** What is found in the usual places of a folder. */
export interface UsualPlaces {
  readonly manifests: string;
  /** More than one is ambiguous. */
  readonly nodes: readonly string[];
  readonly out?: string;
}

type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** What the command line says; undefined for what is not typed. */
export type Typed = Optional<Omit<Config, "state"> & ConfigState>;

/** What a verb works with. `out`: undefined is standard output. */
export interface Settings extends Optional<Pick<Config, "nodes" | "out"> & ConfigState> {
  readonly manifests: string;
  readonly lock: string;
  readonly set: string;
  /** Is `nodes` the usual place, which neither the command line nor the configuration names? */
  readonly nodesFound: boolean;
}

/** The lockfile where nothing names one. */
export const defaultLock = "nodeippool.lock";

const fields = ["manifests", "nodes", "out", "lock", "set", "state"];
const stateFields = ["backend", "context", "namespace"];
const backends = ["lockfile", "kubernetes"];

/** `nodeippool.yaml` of the working folder; nothing where there is none. Throws IpamError `invalid` with every mistake in it. */
export function readConfig(): Config {
  if (exists(configName)) return unwrap(parseConfig(readFile(configName)));
  const misnamed = "nodeippool.yml";
  if (exists(misnamed) && parseConfig(readFile(misnamed)).value !== undefined)
    throw new IpamError("invalid", `${misnamed} is not read: the name of the configuration is ${configName}`, {
      hint: `Rename it: mv ${misnamed} ${configName}`,
    });
  return {};
}

/** Parses the text of a `nodeippool.yaml`. Every issue has its place. */
export function parseConfig(text: string): Parsed<Config> {
  const chunks = splitDocuments({ path: configName, text });
  const [chunk] = chunks;
  if (chunk === undefined) return { value: {} };
  const yaml = new YamlDocument(chunk);
  const issues: Issue[] = [...yaml.errors, ...yaml.traps];
  if (chunks.length > 1) issues.push({ message: `${configName} must be one YAML document`, at: yaml.at([]) });
  if (issues.length === 0)
    issues.push(...issuesOf(yaml.value).map(({ at, ...rest }) => ({ ...rest, at: yaml.at(...at) })));
  return issues.length > 0 ? { issues } : { value: yaml.value as Config };
}

interface Located extends Omit<Issue, "at"> {
  readonly at: readonly [path: Path, part: "key" | "value"];
}

function issuesOf(value: unknown): Located[] {
  if (!isMapping(value)) return [{ message: `expected ${fields.join(", ")}`, at: [[], "value"] }];
  if ("kind" in value || "apiVersion" in value)
    return [
      {
        message: `this is a manifest, and ${configName} is the name of nodeippool's configuration`,
        at: [[], "value"],
        hint: "Give it another name, for example pools.yaml.",
      },
    ];
  const { state = {}, ...texts } = value;
  const ofState = isMapping(state)
    ? [...issuesOfTexts(state, stateFields, ["state"]), ...issuesOfState(state)]
    : [{ message: `state must have ${stateFields.join(", ")}`, at: [["state"], "value"] } satisfies Located];
  return [...issuesOfTexts(texts, fields, []), ...ofState];
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function issuesOfTexts(values: Record<string, unknown>, known: readonly string[], path: Path): Located[] {
  return Object.entries(values).flatMap(([field, value]): Located[] => {
    const at = [...path, field];
    if (!known.includes(field))
      return [{ message: `unknown key ${field}${didYouMean(field, known)}`, at: [at, "key"] }];
    return typeof value === "string" && value !== ""
      ? []
      : [{ message: `${field} must be a non-empty string`, at: [at, "value"] }];
  });
}

function issuesOfState({ backend, context, namespace }: Record<string, unknown>): Located[] {
  if (typeof backend === "string" && !backends.includes(backend)) {
    const message = `unknown backend ${backend}${didYouMean(backend, backends)}`;
    return [{ message, at: [["state", "backend"], "value"], hint: `Backends: ${backends.join(", ")}.` }];
  }
  const ofCluster = context === undefined ? (namespace === undefined ? undefined : "namespace") : "context";
  if (ofCluster === undefined || backend === "kubernetes") return [];
  const message = `${ofCluster} says where in a cluster the record is`;
  return [{ message, at: [["state", ofCluster], "key"], hint: "Add backend: kubernetes." }];
}

/** Looks for manifests, nodes and rendered manifests where they usually are, in the working folder. */
export function findUsualPlaces(): UsualPlaces {
  const nodes = ["nodes.txt", "nodes.json", "nodes.yaml", "nodes.yml"].filter(exists);
  if (!exists("manifests")) return { manifests: ".", nodes };
  // Only where render has written before: a folder of this name may be somebody else's.
  return { manifests: "manifests", nodes, ...(exists(`rendered/${renderedList}`) ? { out: "rendered" } : {}) };
}

/**
 * What holds for a verb: what is typed, else what the configuration says, else the usual place. `out` belongs to the
 * manifests of the configuration: where others are typed, they go to standard output unless `--out` is typed as well.
 * A typed `--lock` means the lockfile.
 */
export function resolveSettings(typed: Typed, config: Config, usual: UsualPlaces): Settings {
  const nodes = typed.nodes ?? config.nodes;
  const [found] = nodes === undefined ? usual.nodes : [];
  const out = typed.out ?? (typed.manifests === undefined ? (config.out ?? usual.out) : undefined);
  return {
    manifests: typed.manifests ?? config.manifests ?? usual.manifests,
    nodes: nodes ?? found,
    nodesFound: found !== undefined,
    out: out === "-" ? undefined : out,
    lock: typed.lock ?? config.lock ?? defaultLock,
    set: typed.set ?? config.set ?? "default",
    ...stateOf(typed, config.state),
  };
}

function stateOf(typed: Typed, state: ConfigState = {}): Optional<ConfigState> {
  const isLock = typed.backend === "lockfile" || (typed.backend === undefined && typed.lock !== undefined);
  const { backend, context, namespace } = isLock ? {} : state;
  return {
    backend: typed.backend ?? backend,
    context: typed.context ?? context,
    namespace: typed.namespace ?? namespace,
  };
}

/** Throws IpamError `invalid` where several files may be the list of nodes. */
export function refuseSeveralNodes({ nodes }: UsualPlaces): void {
  if (nodes.length > 1)
    throw new IpamError("invalid", `${nodes.join(" and ")} may each be the list of nodes`, {
      hint: `Name the one that is: --nodes FILE, or nodes: FILE in ${configName}.`,
    });
}
