import type { Issue, Parsed } from "../../core/index.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import type { Bag } from "../../schema/objects.ts";
import { type Path, splitDocuments, YamlDocument } from "../../schema/yaml.ts";
import { metadataOf } from "../contract/object-metadata.ts";
import type { ReadObject } from "../contract/read-each.ts";
import { hostSecret } from "./host-objects.ts";
import { type Infra, unitPath } from "./infra.ts";
import { infraFile } from "./infra-file.ts";
import { asData } from "./objects.ts";
import { parseInfra } from "./parse-infra.ts";
import { quoteInfra } from "./quote-infra.ts";

/** The ConfigMap that has the configuration of hosts in a cluster. A namespace has one, as a folder has one file. */
export const configMapName = "nodeippool-infra";

/** The parsed configuration of each ConfigMap: every decision needs all of it. */
const known = new WeakMap<Bag, Parsed<ReadObject<Infra>>>();

/** Parses the configuration in a ConfigMap, or returns all issues; their messages name the line. */
export function parseConfigMap(source: SourceObject): Parsed<ReadObject<Infra>> {
  const parsed = known.get(source.object) ?? parse(source);
  known.set(source.object, parsed);
  return parsed;
}

function parse({ object }: SourceObject): Parsed<ReadObject<Infra>> {
  const text = asData(object).data[infraFile];
  if (typeof text !== "string") return { issues: [{ message: `it has no ${infraFile} in its data` }] };
  const [chunk, ...more] = splitDocuments({ path: infraFile, text });
  if (chunk === undefined || more.length > 0)
    return { issues: [{ message: `${infraFile} has ${chunk === undefined ? "no" : "more than one"} document` }] };
  const yaml = new YamlDocument(chunk, quoteInfra(chunk.text));
  const located = (issues: readonly Issue[]) => ({ issues: issues.map((issue) => inFile(issue, yaml)) });
  const broken = [...yaml.errors, ...yaml.traps];
  if (broken.length > 0) return located(broken);
  const { value: infra, issues } = parseInfra(yaml.value);
  if (infra === undefined) return located(issues);
  const unfit = misfits(infra, metadataOf(object).namespace);
  if (unfit.length > 0) return located(unfit);
  const at = (path: Path, _: string, part?: "key" | "value") => yaml.at(path, part);
  return { value: { value: infra, source: { object, at } } };
}

/** Returns an issue whose message names the line: objects in a cluster have no file to refer to. */
function inFile(issue: Issue, yaml: YamlDocument): Issue {
  const { line } = issue.at ?? yaml.at(issue.path ?? []);
  return { ...issue, message: `${infraFile} line ${line}: ${issue.message}` };
}

/**
 * Returns issues about settings that are valid in a file and not in a cluster:
 *
 *  the file                           | why not
 *  -----------------------------------+------------------------------------------------------------
 *  has another mode than hosts        | its objects are planned, and rendered from the command line
 *  names another namespace            | a user who may write here need not have rights there
 *  needs more than network data has   | hosts in a cluster get network data only
 */
function misfits(infra: Infra, namespace: unknown): Issue[] {
  const { cluster } = infra;
  const ofMode = { message: `mode ${cluster.mode} is not served in a cluster`, path: ["cluster", "mode"] };
  const hint = "Render these objects from the file, or let the mode be hosts.";
  if (cluster.mode !== "hosts") return [{ ...ofMode, hint }];
  const elsewhere = {
    message: `hosts are served in the namespace of this ConfigMap, ${namespace}, and not in ${cluster.namespace}`,
    path: ["cluster", "namespace"],
  };
  const samples = new Map(
    [...infra.networks].flatMap(([name, { pool }]) =>
      pool.range.slice(0, 1).map(({ first }) => [name, first] as const),
    ),
  );
  const inexpressible = infra.units.flatMap((unit) => {
    const issues = unit.hosts.slice(0, 1).flatMap((host) => hostSecret(infra, unit, host, samples, {}).issues ?? []);
    return issues.map(({ message, path = unitPath(unit.name) }) => ({ message, path }));
  });
  return [...(cluster.namespace === undefined || cluster.namespace === namespace ? [] : [elsewhere]), ...inexpressible];
}
