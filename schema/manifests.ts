import { type Document, isMap, isSeq } from "yaml";
import { IpamError, type Issue, type Parsed, type Place, type Pool } from "../core/index.ts";
import { misfits } from "./misfits.ts";
import { didYouMean } from "./nearest.ts";
import { type ClusterNode, checkNodes, type NodeRow, nodeRow } from "./node.ts";
import { parseNodeIPPool } from "./node-ip-pool.ts";
import { type Bag, chunksOf, cutOff, isCut, misspeltKind, objectsIn, policiesIn } from "./objects.ts";
import { ofAllocation, type Policy, parsePolicy, usesPools } from "./policy.ts";
import { isTemplated, quoteTemplates } from "./template.ts";
import { type Chunk, enough, type Path, refuseConflicts, type SourceFile, YamlDocument } from "./yaml.ts";

/** One document of a folder of manifests, in its place; made by `readManifests` alone. */
export type ManifestDocument =
  | (Located & { readonly kind: "pool"; readonly pool: Pool })
  | (Located & { readonly kind: "policy"; readonly policy: Policy })
  | {
      readonly kind: "node";
      readonly file: string;
      /** @internal */
      readonly row: NodeRow;
    }
  /** Everything else, byte for byte. */
  | {
      readonly kind: "foreign";
      readonly file: string;
      readonly text: string;
      /**
       * The NodeNetworkConfigurationPolicies in it.
       * @internal
       */
      readonly policies: readonly Bag[];
    };

interface Located {
  readonly file: string;
  /** @internal */
  readonly yaml: YamlDocument;
  /**
   * Where in the document the object is: the top, or an item of a List.
   * @internal
   */
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
  const { documents, reading } = readDocuments(files);
  const { issues } = reading;
  const pools = documents.flatMap((d) => (d.kind === "pool" ? d.pool : []));
  const policies = documents.flatMap((d) => (d.kind === "policy" ? d.policy : []));
  issues.push(...crossIssues(documents, reading));
  const { nodes, issues: nodeIssues } = checkNodes(documents.flatMap((d) => (d.kind === "node" ? d.row : [])));
  issues.push(...nodeIssues);
  if (issues.length > 0) throw new IpamError("invalid", issues);
  return { documents, pools, policies, nodes };
}

/** Each document by itself, of those that have something `like` this. Throws IpamError `invalid` for files in the middle of a merge. */
export function readDocuments(
  files: readonly SourceFile[],
  like = mentionsUs,
): { readonly documents: readonly ManifestDocument[]; readonly reading: Reading } {
  const reading: Reading = { issues: [], poolNames: new Set(), hasUnreadable: false };
  refuseConflicts(files, like);
  const chunks = files.flatMap(chunksOf);
  return {
    documents: chunks.flatMap((chunk) => (like.test(chunk.text) ? readCurtailed(chunk, reading) : foreign(chunk))),
    reading,
  };
}

/** What is too large to be looked at closely is still looked through for policies. */
function largeForeign(chunk: Chunk, isStated: boolean, reading: Reading): ManifestDocument[] {
  if (!isStated) return foreign(chunk);
  const { value = [], issues = [] } = objectsIn(chunk);
  reading.issues.push(...issues);
  return foreign(
    chunk,
    value.map(({ object }) => object),
  );
}

function foreign({ file, text }: Chunk, object?: unknown): ManifestDocument[] {
  return [{ kind: "foreign", file, text, policies: policiesIn(object) }];
}

interface Reading {
  readonly issues: Issue[];
  /** Names of all pools, also of those that are wrong in some other way. */
  readonly poolNames: Set<string>;
  /** Is there a pool whose name could not be read? */
  hasUnreadable: boolean;
}

/** Documents of our own kinds are no larger. */
const maxLength = 1024 * 1024;

const mentionsUs =
  /\b(?:NodeIPPool|NodeNetworkConfigurationPolicy|Node|List|(?:NodeIPPool|NodeNetworkConfigurationPolicy|Node)List)\b|nmstate\.io\/v1/;
/** A kind of ours, in text that need not be YAML. A policy is ours if it uses pools. */
const kindOfPool = /(?:^|[\s{,])["']?kind["']?\s*:\s*(?:&\S+\s+)?["']?NodeIPPool(?:List)?\b/;
const kindOfPolicy = /(?:^|[\s{,])["']?kind["']?\s*:\s*(?:&\S+\s+)?["']?NodeNetworkConfigurationPolicy(?:List)?\b/;
const kindOfNode = /(?:^|[\s{,])["']?kind["']?\s*:\s*(?:&\S+\s+)?["']?Node(?:List)?["']?\s*(?:[,}#]|$)/m;

/** Reads a document, and reports no more of its issues than anybody reads. */
function readCurtailed(chunk: Chunk, reading: Reading): ManifestDocument[] {
  const before = reading.issues.length;
  const documents = readChunk(chunk, reading);
  const more = reading.issues.splice(before + enough).length;
  const at = { file: chunk.label, line: chunk.line, column: chunk.column + 1 };
  if (more > 0) reading.issues.push({ message: `and ${more} more in this document`, at });
  return documents;
}

function readChunk(chunk: Chunk, reading: Reading): ManifestDocument[] {
  const { text, label, line, column } = chunk;
  const looksOurs = kindOfPool.test(text) || (kindOfPolicy.test(text) && /\bippool\b/.test(text));
  // What cannot be read may be a node, or a policy that has an address of a pool, and kubectl may read it all the same.
  const isStated = looksOurs || ((kindOfPolicy.test(text) || kindOfNode.test(text)) && !isTemplated(text));
  if (text.length > maxLength) {
    if (isOfOthers(text)) return foreign(chunk);
    if (!looksOurs && !kindOfNode.test(text)) return largeForeign(chunk, isStated, reading);
    const at = { file: label, line, column: column + 1 };
    const hint = kindOfNode.test(text) ? { hint: "Give the nodes apart from the manifests, as JSON." } : {};
    reading.issues.push({ message: "this document is larger than 1 MiB", at, ...hint });
    return [];
  }
  const yaml = new YamlDocument(chunk, kindOfPolicy.test(text) ? quoteTemplates(text) : text);
  if (yaml.errors.length === 0) nameItems(yaml.document.contents, yaml.document);
  // Broken YAML that is not of our kinds is somebody else's: a Helm template, say.
  const isOurs = yaml.errors.length > 0 ? isStated : hasOurs(yaml.document.contents);
  const { value } = yaml;
  if (!isOurs)
    return yaml.errors.length > 0
      ? foreign(chunk)
      : (readObject(value, [], yaml, reading) ?? foreign(chunk, value ?? yaml.resolved));
  reading.issues.push(...yaml.errors, ...yaml.traps);
  if (value !== undefined) return readObject(value, [], yaml, reading) ?? foreign(chunk, value);
  reading.hasUnreadable = true;
  return [];
}

/** Says a document of YAML in its first lines, or later, that it is of somebody else's kind? Whatever texts are in it. */
function isOfOthers(text: string): boolean {
  const [, kind] = /^kind:[^\S\n]+["']?(\w+)["']?[^\S\n]*$/m.exec(text) ?? [];
  return kind !== undefined && !/^Node$|^NodeIPPool$|^NodeNetworkConfigurationPolicy$|List$/.test(kind);
}

const listOfOurs = /^(Node(?:IPPool|NetworkConfigurationPolicy)?)List$/;

/** Writes into the items of our typed Lists what those, as the API server gives them, do not repeat: version and kind. */
function nameItems(list: unknown, document: Document): void {
  if (!isMap(list)) return;
  const [kind, items] = [listOfOurs.exec(`${list.get("kind")}`)?.[1], list.get("items")];
  if (!isSeq(items)) return;
  for (const item of items.items) {
    nameItems(item, document);
    if (kind === undefined || !isMap(item)) continue;
    const head = { apiVersion: list.get("apiVersion"), kind };
    const missing = Object.entries(head).filter(([key, value]) => value !== undefined && !item.has(key));
    item.items.unshift(...missing.map(([key, value]) => document.createPair(key, value)));
  }
}

/** Is this object, or one of a List, one that we read strictly? */
function hasOurs(node: unknown): boolean {
  if (!isMap(node)) return false;
  const kind = node.get("kind");
  if (kind === "NodeIPPool" || kind === "Node") return true;
  if (kind === "NodeNetworkConfigurationPolicy") {
    const text = String(node.get("spec") ?? node);
    return /\bippool\b/.test(text) || ofAllocation.test(text);
  }
  const items = node.get("items");
  return typeof kind === "string" && kind.endsWith("List") && isSeq(items) && items.items.some(hasOurs);
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
    return take(parsePolicy(object)).map((policy) => ({ kind: "policy", file, policy, yaml, path }));
  if (kind === "Node" && apiVersion === "v1")
    return [{ kind: "node", file, row: nodeRow(object, yaml.at([...path, "metadata", "name"])) }];
  if (typeof kind === "string" && kind.endsWith("List") && Array.isArray(items)) {
    const documents = readList(items, path, yaml, reading);
    const isOurs = documents !== undefined || listOfOurs.test(kind);
    if (isOurs && isCut(object)) reading.issues.push(located({ message: cutOff, path: ["metadata", "continue"] }));
    return documents;
  }
  const misspelt = misspeltKind(object as Bag);
  if (misspelt !== undefined) reading.issues.push(located({ message: misspelt, path: ["kind"] }));
  return undefined;
}

/** A List with one of our kinds in it is taken apart; what is not ours is written out as a document of its own. */
function readList(items: readonly unknown[], path: Path, yaml: YamlDocument, reading: Reading) {
  const read = items.map((item, i) => readObject(item, [...path, "items", i], yaml, reading));
  if (read.every((documents) => documents === undefined)) return undefined;
  return read.flatMap(
    (documents, i): ManifestDocument[] =>
      documents ?? [
        {
          kind: "foreign",
          file: yaml.chunk.file,
          text: yaml.textOf([...path, "items", i]),
          policies: policiesIn(items[i]),
        },
      ],
  );
}

/** What only all documents together show: names used twice, pools that no document defines, or that do not have what a policy asks of them. */
function crossIssues(documents: readonly ManifestDocument[], { poolNames, hasUnreadable }: Reading): Issue[] {
  const issues: Issue[] = [];
  const seen = new Map<string, Place>();
  const pools = new Map(documents.flatMap((d) => (d.kind === "pool" ? [[d.pool.name, d.pool] as const] : [])));
  for (const document of documents) {
    if (document.kind !== "pool" && document.kind !== "policy") continue;
    const { kind, yaml, path } = document;
    const name = kind === "pool" ? document.pool.name : document.policy.name;
    const at = yaml.at([...path, "metadata", "name"]);
    const first = seen.get(`${kind} ${name}`);
    if (first === undefined) seen.set(`${kind} ${name}`, at);
    else {
      const place = `${first.file}:${first.line}:${first.column}`;
      const hint = "If kustomize builds this folder, read what it builds: kubectl kustomize FOLDER.";
      issues.push({ message: `${kind} ${name} is defined twice, here and in ${place}`, at, hint });
    }
    if (kind === "pool") continue;
    const { policy } = document;
    for (const issue of misfits(policy, pools))
      issues.push({ ...issue, at: yaml.at([...path, "spec", "desiredState", ...(issue.path ?? [])]) });
    if (hasUnreadable) continue;
    for (const [capture, { pool }] of policy.captures) {
      if (poolNames.has(pool)) continue;
      const hint = issues.length < enough ? didYouMean(pool, poolNames) : "";
      const message = `capture ${capture} asks for pool ${pool}, which is not defined${hint}`;
      issues.push({
        message,
        at: yaml.at([...path, "spec", "capture", capture]),
        hint: "If it is defined elsewhere, as in another folder, define it here as well, word for word.",
      });
    }
  }
  return issues;
}
