import { stringify } from "yaml";
import { IpamError, type Issue, type Parsed, type Pool } from "../core/index.ts";
import { didYouMean } from "./nearest.ts";
import { type ClusterNode, nodeOf } from "./node.ts";
import { parseNodeIPPool } from "./node-ip-pool.ts";
import { type Policy, parsePolicy, usesPools } from "./policy.ts";
import { quoteTemplates } from "./template.ts";
import { type Chunk, type Path, type SourceFile, splitDocuments, YamlDocument } from "./yaml.ts";

/** One document of a folder of manifests, in its place. */
export type ManifestDocument =
  | (Located & { readonly kind: "pool"; readonly pool: Pool })
  | (Located & { readonly kind: "policy"; readonly policy: Policy })
  | { readonly kind: "node"; readonly file: string; readonly node: ClusterNode }
  /** Everything else, byte for byte. `name` is the name of a NodeNetworkConfigurationPolicy written by hand. */
  | { readonly kind: "foreign"; readonly file: string; readonly text: string; readonly policyName?: string };

interface Located {
  readonly file: string;
  readonly yaml: YamlDocument;
  /** Where in the document the object is: the top, or an item of a List. */
  readonly path: Path;
}

/** A folder of manifests, read. */
export interface Manifests {
  readonly documents: readonly ManifestDocument[];
  readonly pools: readonly Pool[];
  readonly policies: readonly Policy[];
  /** The nodes among the manifests, if any. */
  readonly nodes: readonly ClusterNode[];
}

/** Reads all documents of all files. Throws IpamError `invalid` with the issues of all of them, each with its place. */
export function readManifests(files: readonly SourceFile[]): Manifests {
  const reading: Reading = { issues: [], poolNames: new Set() };
  const { issues } = reading;
  const documents = files.flatMap(splitDocuments).flatMap((chunk) => readChunk(chunk, reading));
  const pools = documents.flatMap((d) => (d.kind === "pool" ? d.pool : []));
  const policies = documents.flatMap((d) => (d.kind === "policy" ? d.policy : []));
  issues.push(...crossIssues(documents, reading.poolNames));
  if (issues.length > 0) throw new IpamError("invalid", issues);
  return { documents, pools, policies, nodes: documents.flatMap((d) => (d.kind === "node" ? d.node : [])) };
}

interface Reading {
  readonly issues: Issue[];
  /** Names of all pools, also of those that are wrong in some other way. */
  readonly poolNames: Set<string>;
}

const ours =
  /\b(?:NodeIPPool|NodeNetworkConfigurationPolicy|NodeIPPoolList|NodeNetworkConfigurationPolicyList|NodeList|Node|List)\b|nmstate\.io\/v1/;
const surelyOurs = /^kind:\s*["']?(?:NodeIPPool|NodeNetworkConfigurationPolicy)["']?\s*(?:#.*)?$/m;

function readChunk(chunk: Chunk, reading: Reading): ManifestDocument[] {
  const foreign: ManifestDocument = { kind: "foreign", file: chunk.file, text: chunk.text };
  if (!ours.test(chunk.text)) return [foreign];
  const isPolicy = chunk.text.includes("NodeNetworkConfigurationPolicy");
  const yaml = new YamlDocument(isPolicy ? { ...chunk, text: quoteTemplates(chunk.text) } : chunk);
  const isOurs = yaml.issues.length === 0 || surelyOurs.test(chunk.text);
  // Broken YAML that is not one of our kinds is somebody else's: a Helm template, say.
  if (!isOurs) return [foreign];
  reading.issues.push(...yaml.issues);
  return readObject(yaml.value, [], yaml, reading) ?? [foreign];
}

/** The documents an object stands for; undefined if it is none of ours. */
function readObject(object: unknown, path: Path, yaml: YamlDocument, reading: Reading): ManifestDocument[] | undefined {
  if (typeof object !== "object" || object === null) return undefined;
  const { apiVersion, kind, items, metadata } = object as { [field: string]: unknown };
  const file = yaml.chunk.file;
  const located = (issue: Issue): Issue => {
    const whole = [...path, ...(issue.path ?? [])];
    return { ...issue, path: whole, at: yaml.at(whole, issue.message.startsWith("unknown field") ? "key" : "value") };
  };
  const take = <T>(parsed: Parsed<T>): T[] => {
    for (const issue of parsed.issues ?? []) reading.issues.push(located(issue));
    return parsed.issues ? [] : [parsed.value];
  };

  if (kind === "NodeIPPool") {
    reading.poolNames.add(String((metadata as { name?: unknown } | undefined)?.name));
    return take(parseNodeIPPool(object)).map((pool) => ({ kind: "pool", file, pool, yaml, path }));
  }
  if (kind === "NodeNetworkConfigurationPolicy" && usesPools(object as never))
    return take(parsePolicy(object as never)).map((policy) => ({ kind: "policy", file, policy, yaml, path }));
  if (kind === "Node" && apiVersion === "v1") {
    const { name, labels } = (metadata ?? {}) as { name?: unknown; labels?: unknown };
    return [{ kind: "node", file, node: nodeOf(String(name), labels ?? {}) }];
  }
  if (typeof kind === "string" && kind.endsWith("List") && Array.isArray(items))
    return readList(items, path, yaml, reading);
  if (typeof apiVersion === "string" && apiVersion.startsWith("nmstate.io/") && typeof kind === "string") {
    const hint = didYouMean(kind, ["NodeIPPool", "NodeNetworkConfigurationPolicy"]);
    const known = [
      "NodeNetworkConfigurationPolicy",
      "NodeNetworkConfigurationEnactment",
      "NodeNetworkState",
      "NMState",
    ];
    if (hint !== "" && !known.includes(kind))
      reading.issues.push(located({ message: `unknown kind ${kind}${hint}`, path: ["kind"] }));
  }
  if (kind !== "NodeNetworkConfigurationPolicy") return undefined;
  const policyName = String((metadata as { name?: unknown } | undefined)?.name);
  return path.length > 0 ? undefined : [{ kind: "foreign", file, text: yaml.chunk.text, policyName }];
}

/** A List with one of our kinds in it is taken apart; what is not ours is written out as a document of its own. */
function readList(items: readonly unknown[], path: Path, yaml: YamlDocument, reading: Reading) {
  const read = items.map((item, i) => readObject(item, [...path, "items", i], yaml, reading));
  if (read.every((documents) => documents === undefined)) return undefined;
  return read.flatMap(
    (documents, i): ManifestDocument[] =>
      documents ?? [
        { kind: "foreign", file: yaml.chunk.file, text: stringify(items[i], { version: "1.1", lineWidth: 0 }) },
      ],
  );
}

/** What only all documents together show: names used twice, pools that no document defines. */
function crossIssues(documents: readonly ManifestDocument[], pools: ReadonlySet<string>): Issue[] {
  const seen = new Set<string>();
  return documents.flatMap((document): Issue[] => {
    if (document.kind !== "pool" && document.kind !== "policy") return [];
    const name = document.kind === "pool" ? document.pool.name : document.policy.name;
    const issues: Issue[] = [];
    if (seen.has(`${document.kind} ${name}`))
      issues.push({
        message: `${document.kind} ${name} is defined twice`,
        at: document.yaml.at([...document.path, "metadata", "name"]),
      });
    seen.add(`${document.kind} ${name}`);
    if (document.kind === "policy")
      for (const [capture, { pool }] of document.policy.captures)
        if (!pools.has(pool))
          issues.push({
            message: `capture ${capture} asks for pool ${pool}, which is not defined${didYouMean(pool, pools)}`,
            at: document.yaml.at([...document.path, "spec", "capture", capture]),
          });
    return issues;
  });
}
