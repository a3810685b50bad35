import type { Issue, Parsed, Place } from "../core/index.ts";
import { enough } from "./issues.ts";
import { listKind, nameItems } from "./list-items.ts";
import type { ManifestDocument, Manifests, ReadKind } from "./manifest-document.ts";
import { namelessIn } from "./nameless.ts";
import { parseNodeIPPool } from "./node-ip-pool.ts";
import {
  asBag,
  type Bag,
  cutOff,
  flat,
  isCut,
  issueIn,
  type LocatedObject,
  misspeltKind,
  objectIdentity,
  titleOf,
  within,
} from "./objects.ts";
import { objectsIn } from "./objects-in-text.ts";
import { wrongKeysIn } from "./own-keys.ts";
import { checkNodes, nodeRow } from "./read-nodes.ts";
import { isTemplated, isUnrendered, quoteTemplates } from "./template.ts";
import {
  type Chunk,
  type Path,
  type QuotedLine,
  refuseConflicts,
  type SourceFile,
  splitDocuments,
  YamlDocument,
} from "./yaml.ts";

/**
 * Reads all documents of all files, and says everything that is wrong with them. `kinds` are those that integrations read,
 * besides pools and nodes. Throws IpamError `invalid` for files in the middle of a merge.
 */
export function readManifests(files: readonly SourceFile[], kinds: readonly ReadKind[]): Manifests {
  const reader = new ManifestReader(kinds);
  const documents = reader.documents(files);
  const { nodes, issues } = checkNodes(documents.flatMap((d) => (d.kind === "node" ? d.row : [])));
  return {
    documents,
    quoted: reader.quoted,
    issues: [...reader.issues, ...definedTwice(documents, kinds), ...issues],
    pools: documents.flatMap((d) => (d.kind === "pool" ? d.pool : [])),
    owned: documents.flatMap((d) => (d.kind === "owned" ? d.source : [])),
    others: documents.flatMap((d) => (d.kind === "foreign" ? d.objects : [])),
    nodes,
  };
}

/** Each document by itself, of those that may be pools or of these kinds, and what is wrong with them. */
export function readDocuments(
  files: readonly SourceFile[],
  kinds: readonly ReadKind[],
): { readonly documents: readonly ManifestDocument[]; readonly issues: readonly Issue[] } {
  const names = ["NodeIPPool", ...kinds.map(({ kind }) => kind)].join("|");
  const reader = new ManifestReader(kinds, new RegExp(`\\b(?:${names})(?:List)?\\b`));
  return { documents: reader.documents(files), issues: reader.issues };
}

function definedTwice(documents: readonly ManifestDocument[], kinds: readonly ReadKind[]): Issue[] {
  const seen = new Map<string, Place>();
  return documents.flatMap((document): Issue[] => {
    if (document.kind !== "pool" && document.kind !== "owned") return [];
    const { yaml, path } = document;
    const object =
      document.kind === "pool"
        ? { apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: document.pool }
        : document.source.object;
    const key = objectIdentity(object);
    const at = yaml.at([...path, "metadata", "name"]);
    const first = seen.get(key);
    seen.set(key, first ?? at);
    if (first === undefined) return [];
    const place = `${first.file}:${first.line}:${first.column}`;
    const field = kinds.find(({ kind }) => kind === object.kind)?.nameless?.field;
    const hint =
      field === undefined
        ? "If kustomize builds this folder, read what it builds: kubectl kustomize FOLDER."
        : "A folder has one such file. Plan each by itself, with a lock of its own, or with a claim set of its own and networks of other names.";
    return [{ message: `${field ?? titleOf(object)} is defined twice, here and in ${place}`, at, hint }];
  });
}

/** Documents of our own kinds are no larger. */
const maxLength = 1024 * 1024;

/** Where ACM has objects as text. */
const rawField = "object-templates-raw";

/** Texts that say that they are of one of these kinds, or Lists of it. */
export function kindPattern(kinds: readonly string[], end = ""): RegExp {
  const names = kinds.join("|");
  return new RegExp(`(?:^|[\\s{,])["']?kind["']?\\s*:\\s*(?:[&!]\\S+\\s+)?["']?(?:${names})(?:List)?\\b${end}`, "m");
}

const kindOfPool = kindPattern(["NodeIPPool"]);
const kindOfNode = kindPattern(["Node"], `["']?\\s*(?:[,}#]|$)`);

/** Reads documents one by one. */
class ManifestReader {
  readonly issues: Issue[] = [];
  readonly quoted: QuotedLine[] = [];
  private readonly kinds: readonly ReadKind[];
  /** A document without it is foreign, whatever is in it. */
  private readonly like: RegExp;
  private readonly kindOfRead: RegExp;

  constructor(kinds: readonly ReadKind[], like?: RegExp) {
    const names = kinds.map(({ kind }) => kind);
    this.kinds = kinds;
    this.like = like ?? new RegExp(`\\b(?:NodeIPPool|Node|${["List", ...names].join("|")})(?:List)?\\b|nmstate\\.io/`);
    this.kindOfRead = names.length === 0 ? /(?!)/ : kindPattern(names);
  }

  /** Throws IpamError `invalid` for files in the middle of a merge. */
  documents(files: readonly SourceFile[]): ManifestDocument[] {
    refuseConflicts(files, this.like);
    return files
      .flatMap(splitDocuments)
      .flatMap(
        (chunk) => this.nameless(chunk) ?? (this.like.test(chunk.text) ? this.curtailed(chunk) : foreign(chunk)),
      );
  }

  /** A document that says no kind; undefined if it is none. */
  private nameless(chunk: Chunk): ManifestDocument[] | undefined {
    const { yaml, source } = namelessIn(chunk, this.kinds) ?? {};
    if (yaml === undefined) return undefined;
    this.quoted.push(...yaml.quoted);
    this.issues.push(...yaml.errors, ...yaml.traps);
    return source === undefined ? [] : [{ kind: "owned", file: chunk.file, source, yaml, path: [] }];
  }

  /** Reads a document, and reports no more of its issues than anybody reads. */
  private curtailed(chunk: Chunk): ManifestDocument[] {
    const before = this.issues.length;
    const documents = chunk.text.length > maxLength ? this.large(chunk) : this.chunk(chunk);
    const more = this.issues.splice(before + enough).length;
    if (more > 0) this.issues.push({ message: `and ${more} more in this document`, at: startOf(chunk) });
    return documents;
  }

  /** Must a text be one that can be read? What cannot may have an address of a pool, and kubectl may read it all the same. */
  private isStated(text: string): boolean {
    if (this.isMarked(text)) return true;
    return (this.kindOfRead.test(text) || kindOfNode.test(text)) && !isTemplated(text);
  }

  /** Does it say in its text that it is a pool, or asks one for an address? */
  private isMarked(text: string): boolean {
    return kindOfPool.test(text) || this.asks(text);
  }

  private asks(text: string): boolean {
    return this.kindOfRead.test(text) && this.kinds.some(({ mark }) => mark.test(text));
  }

  private large(chunk: Chunk): ManifestDocument[] {
    const { text } = chunk;
    if (!this.isStated(text)) return foreign(chunk);
    const { value = [], issues = [] } = objectsIn(chunk);
    this.issues.push(...issues);
    for (const one of value) this.refuseInside(one);
    if (!value.some(({ object }) => this.isOurs(object))) return foreign(chunk, this.looked(value));
    const hint = kindOfNode.test(text) ? { hint: "Give the nodes apart from the manifests, as JSON." } : {};
    this.issues.push({ message: "this document is larger than 1 MiB", at: startOf(chunk), ...hint });
    return [];
  }

  private chunk(chunk: Chunk): ManifestDocument[] {
    const { text } = chunk;
    const yaml = new YamlDocument(chunk, this.kindOfRead.test(text) ? quoteTemplates(text) : text);
    if (!isTemplated(text)) this.quoted.push(...yaml.quoted);
    if (yaml.errors.length > 0) {
      // Broken YAML that is not of our kinds is somebody else's: a Helm template, say.
      if (!this.isStated(text)) return foreign(chunk);
      this.issues.push(...(isTemplated(text) ? [unrendered(startOf(chunk))] : yaml.errors));
      return [];
    }
    nameItems(yaml.document.contents, yaml.document);
    const plain = yaml.value;
    const value = plain ?? yaml.resolved;
    const objects = flat(value).map(({ object, path }) => ({ object, at: placesOf(yaml, path) }));
    const isOurs = objects.some(({ object }) => this.isOurs(object)) || (value === undefined && this.isMarked(text));
    if (isOurs) this.issues.push(...yaml.traps);
    if (this.asks(text)) for (const one of objects) this.refuseInside(one);
    if (!isTemplated(text)) this.issues.push(...objects.flatMap(wrongKeysIn));
    if (plain === undefined) return isOurs ? [] : foreign(chunk, this.looked(objects));
    return this.object(plain, [], yaml) ?? foreign(chunk, this.looked(objects));
  }

  /** The documents that an object stands for; undefined if it is none of ours. */
  private object(value: unknown, path: Path, yaml: YamlDocument): ManifestDocument[] | undefined {
    const object = asBag(value);
    if (object === undefined) return undefined;
    const { kind } = object;
    const { file } = yaml.chunk;
    const source = { object, at: placesOf(yaml, path) };
    if ((kind === "NodeIPPool" || this.owns(object)) && isUnrendered(JSON.stringify(object))) {
      this.issues.push(unrendered(source.at([], "")));
      return [];
    }
    if (kind === "NodeIPPool")
      return this.take(parseNodeIPPool(object), source).map((pool) => ({ kind: "pool", file, pool, yaml, path }));
    if (this.owns(object)) return [{ kind: "owned", file, source, yaml, path }];
    if (isNode(object)) return [{ kind: "node", file, row: nodeRow(object, source.at(["metadata", "name"], "")) }];
    if (typeof kind === "string" && listKind.test(kind) && Array.isArray(object.items))
      return this.list(object, path, yaml);
    const misspelt = misspeltKind(object);
    if (misspelt !== undefined) this.issues.push({ message: misspelt, at: source.at(["kind"], "") });
    return undefined;
  }

  /** A List with one of our kinds in it is taken apart; what is not ours is written out as a document of its own. */
  private list(list: Bag, path: Path, yaml: YamlDocument): ManifestDocument[] | undefined {
    const items = list.items as readonly unknown[];
    const read = items.map((item, i) => this.object(item, [...path, "items", i], yaml));
    const isOurs = read.some((documents) => documents !== undefined);
    if ((isOurs || this.isRead(listKind.exec(`${list.kind}`)?.[1])) && isCut(list))
      this.issues.push({ message: cutOff, at: yaml.at([...path, "metadata", "continue"]) });
    if (!isOurs) return undefined;
    return read.flatMap((documents, i): ManifestDocument[] => {
      if (documents !== undefined) return documents;
      const at = [...path, "items", i];
      const objects = flat(items[i]).map((one) => ({ ...one, at: placesOf(yaml, [...at, ...one.path]) }));
      return [{ kind: "foreign", file: yaml.chunk.file, text: yaml.textOf(at), objects: this.looked(objects) }];
    });
  }

  /** Nobody fills in what is inside of another object, and no handler takes what asks a pool. */
  private refuseInside({ object: outer, at }: LocatedObject): void {
    const around = `${outer.kind} ${asBag(outer.metadata)?.name}`;
    const hint =
      outer.kind === "Template"
        ? "Process the template first, and give the result."
        : "Write it as a document of its own, and wrap what is rendered from that.";
    for (const { object, path } of within(outer)) {
      const name = `${asBag(object.metadata)?.name}`;
      const [what, where] = [`${object.kind} ${name} is inside of ${around}`, path.join(".")];
      if (this.owns(object))
        this.issues.push({ message: `${what} (${where}), where it gets no addresses`, at: at(path, name), hint });
      const raw = object[rawField];
      if (typeof raw === "string" && this.asks(raw))
        this.issues.push({
          message: `${rawField} of ${around} asks a pool, and gets no addresses`,
          at: at([...path, rawField], rawField),
          hint,
        });
    }
  }

  private take<T>({ value, issues = [] }: Parsed<T>, source: LocatedObject): T[] {
    this.issues.push(...issues.map((issue) => issueIn(source, issue)));
    return issues.length > 0 ? [] : [value as T];
  }

  private looked(objects: readonly LocatedObject[]): LocatedObject[] {
    return objects.filter(({ object }) => this.kinds.some(({ kind }) => kind === object.kind));
  }

  private isRead(kind: unknown): boolean {
    return kind === "NodeIPPool" || kind === "Node" || this.kinds.some((one) => one.kind === kind);
  }

  private isOurs(object: Bag): boolean {
    return object.kind === "NodeIPPool" || isNode(object) || this.owns(object);
  }

  private owns(object: Bag): boolean {
    return this.kinds.some((one) => one.kind === object.kind && one.owns(object));
  }
}

function placesOf(yaml: YamlDocument, path: Path): LocatedObject["at"] {
  return (inside, _, part) => yaml.at([...path, ...inside], part);
}

function unrendered(at: Place): Issue {
  return {
    message: "this is a template, not a manifest",
    at,
    hint: "Render it first, and give the result: helm template CHART, say.",
  };
}

function startOf({ label, line, column }: Chunk): Place {
  return { file: label, line, column: column + 1 };
}

function isNode({ apiVersion, kind }: Bag): boolean {
  return kind === "Node" && apiVersion === "v1";
}

function foreign({ file, text }: Chunk, objects: readonly LocatedObject[] = []): ManifestDocument[] {
  return [{ kind: "foreign", file, text, objects }];
}
