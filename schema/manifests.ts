import type { Issue, Parsed } from "../core/index.ts";
import { definedTwice } from "./defined-twice.ts";
import { enough } from "./issues.ts";
import { kindPattern } from "./kind-pattern.ts";
import { listKind, nameItems } from "./list-items.ts";
import type { ManifestDocument, Manifests, ReadKind, UnreadDocument } from "./manifest-document.ts";
import { namelessIn } from "./nameless.ts";
import { ownPrefix } from "./node.ts";
import { parseNodeIPPool } from "./node-ip-pool.ts";
import { asBag, type Bag, cutOff, flat, isCut, issueIn, type LocatedObject, misspeltKind, within } from "./objects.ts";
import { objectsIn } from "./objects-in-text.ts";
import { wrongKeysIn } from "./own-keys.ts";
import { checkNodes, nodeRow } from "./read-nodes.ts";
import { isTemplated, isUnrendered, quoteTemplates } from "./template.ts";
import { startOf, unrendered } from "./unrendered.ts";
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
  const { documents, issues: twice } = definedTwice(reader.documents(files), kinds);
  const { nodes, issues } = checkNodes(documents.flatMap((d) => (d.kind === "node" ? d.row : [])));
  return {
    documents,
    quoted: reader.quoted,
    unread: reader.unread,
    issues: [...reader.issues, ...twice, ...issues],
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

/** Documents of our own kinds are no larger. */
const maxLength = 1024 * 1024;

/** ACM has objects as text. */
const rawField = "object-templates-raw";

const kindOfPool = kindPattern(["NodeIPPool"]);
const kindOfNode = kindPattern(["Node"], `["']?\\s*(?:[,}#]|$)`);

/** Reads documents one by one. */
class ManifestReader {
  readonly issues: Issue[] = [];
  readonly unread: UnreadDocument[] = [];
  readonly quoted: QuotedLine[] = [];
  private readonly kinds: readonly ReadKind[];
  /** A document without it is foreign, whatever is in it. */
  private readonly like: RegExp;
  /** Kinds that nodeippool alone reads; a cluster runs those of other programs as they are. */
  private readonly kindOfOwn: RegExp;
  private readonly kindsOfOthers: readonly ReadKind[];

  constructor(kinds: readonly ReadKind[], like?: RegExp) {
    const names = kinds.map(({ kind }) => kind);
    this.kinds = kinds;
    this.like = like ?? new RegExp(`\\b(?:NodeIPPool|Node|${["List", ...names].join("|")})(?:List)?\\b|nmstate\\.io/`);
    this.kindsOfOthers = kinds.filter(({ runsAsIs }) => runsAsIs);
    const own = kinds.filter(({ runsAsIs }) => !runsAsIs).map(({ kind }) => kind);
    this.kindOfOwn = own.length === 0 ? /(?!)/ : kindPattern(own);
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

  /** Whether a text must parse. A text that does not may have an address of a pool, and kubectl may parse it all the same. */
  private isStated(text: string): boolean {
    if (this.isMarked(text)) return true;
    return (this.kindOfOwn.test(text) || kindOfNode.test(text)) && !isTemplated(text);
  }

  /** Whether the text says that the object is a pool, or asks one for an address. */
  private isMarked(text: string): boolean {
    return kindOfPool.test(text) || this.asks(text);
  }

  private asks(text: string): boolean {
    return this.kindOfOwn.test(text) && this.kinds.some(({ mark, runsAsIs }) => !runsAsIs && mark.test(text));
  }

  /** Passes a document on, and says why it cannot be read if objects of other programs in it may have addresses. */
  private leave(chunk: Chunk, issues: readonly Issue[], objects?: readonly LocatedObject[]): ManifestDocument[] {
    const { text } = chunk;
    const found = this.kindsOfOthers.filter(({ kind, mark }) => mark.test(text) && kindPattern([kind]).test(text));
    if (found.length > 0)
      this.unread.push({ issues, kinds: found.map(({ kind }) => kind), asks: text.includes(ownPrefix) });
    return foreign(chunk, objects);
  }

  private large(chunk: Chunk): ManifestDocument[] {
    const { text } = chunk;
    const tooLarge = { message: "this document is larger than 1 MiB", at: startOf(chunk) };
    if (!this.isStated(text)) return this.leave(chunk, [tooLarge]);
    const { value = [], issues = [] } = objectsIn(chunk);
    this.issues.push(...issues);
    for (const one of value) this.refuseInside(one);
    if (!value.some(({ object }) => this.isOwn(object))) return this.leave(chunk, [tooLarge], this.looked(value));
    const hint = kindOfNode.test(text) ? { hint: "Give the nodes apart from the manifests, as JSON." } : {};
    this.issues.push({ ...tooLarge, ...hint });
    return [];
  }

  /** Objects of other programs are read as kubectl reads them. */
  private parsed(chunk: Chunk): YamlDocument {
    const { text } = chunk;
    const isOwn = this.kindOfOwn.test(text) || kindOfPool.test(text) || kindOfNode.test(text);
    const yaml = new YamlDocument(chunk, this.kindOfOwn.test(text) ? quoteTemplates(text) : text);
    // kubectl drops a tag, and with it the text that somebody meant.
    const isTagged = text.includes(ownPrefix) && yaml.traps.some(({ message }) => message.startsWith("the YAML tag"));
    const isPlain = isTagged || yaml.errors.length + yaml.traps.length === 0;
    if (isOwn || isPlain || !this.kindsOfOthers.some(({ mark }) => mark.test(text))) return yaml;
    const applied = new YamlDocument(chunk, text, "applied");
    return applied.value === undefined ? yaml : applied;
  }

  private chunk(chunk: Chunk): ManifestDocument[] {
    const { text } = chunk;
    const yaml = this.parsed(chunk);
    if (!isTemplated(text)) this.quoted.push(...yaml.quoted);
    if (yaml.errors.length > 0) {
      // Broken YAML that is not of our kinds is somebody else's: a Helm template, say.
      if (!this.isStated(text))
        return this.leave(chunk, isTemplated(text) ? [unrendered(startOf(chunk))] : yaml.errors);
      this.issues.push(...(isTemplated(text) ? [unrendered(startOf(chunk))] : yaml.errors));
      return [];
    }
    nameItems(yaml.document.contents, yaml.document);
    const plain = yaml.value;
    const value = plain ?? yaml.resolved;
    const objects = flat(value).map(({ object, path }) => ({ object, at: placesOf(yaml, path) }));
    const isOwn = objects.some(({ object }) => this.isOwn(object)) || (value === undefined && this.isMarked(text));
    if (isOwn) this.issues.push(...yaml.traps);
    if (this.asks(text) || text.includes(ownPrefix)) for (const one of objects) this.refuseInside(one);
    if (!isTemplated(text)) for (const one of objects) this.refuseKeys(one);
    if (plain === undefined) return isOwn ? [] : this.leave(chunk, yaml.traps, this.looked(objects));
    return this.object(plain, [], yaml) ?? foreign(chunk, this.looked(objects));
  }

  /** Labels and annotations with our prefix that have no effect; those of objects that are served are told with these. */
  private refuseKeys(one: LocatedObject): void {
    const issues = wrongKeysIn(one);
    if (this.isOwn(one.object) || ownKinds.has(one.object.kind)) this.issues.push(...issues);
    else if (issues.length > 0 && !this.owns(one.object)) this.unread.push({ issues, kinds: [], asks: true });
  }

  /** The documents that an object stands for; undefined if it is none of ours. */
  private object(value: unknown, path: Path, yaml: YamlDocument): ManifestDocument[] | undefined {
    const object = asBag(value);
    if (object === undefined) return undefined;
    const { kind } = object;
    const { file } = yaml.chunk;
    const source = { object, at: placesOf(yaml, path) };
    const isTemplate = (kind === "NodeIPPool" || this.owns(object)) && isUnrendered(JSON.stringify(object));
    const templated = isTemplate ? [unrendered(source.at([], ""))] : [];
    if (this.isOwn(object)) this.issues.push(...templated);
    if (isTemplate && this.isOwn(object)) return [];
    const at = (inside: Path) => yaml.at([...path, "spec", ...inside]);
    const pools = kind === "NodeIPPool" ? this.take(parseNodeIPPool(object), source) : undefined;
    if (pools) return pools.map((pool) => ({ kind: "pool", file, pool: { ...pool, at }, yaml, path }));
    if (this.owns(object)) {
      const issues = this.isOwn(object) ? [] : [...templated, ...yaml.traps, ...wrongKeysIn(source)];
      return [{ kind: "owned", file, source: issues.length > 0 ? { ...source, issues } : source, yaml, path }];
    }
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
    if (isCut(list)) this.refuseCut(list, { message: cutOff, at: yaml.at([...path, "metadata", "continue"]) }, yaml);
    if (!isOurs) return undefined;
    return read.flatMap((documents, i): ManifestDocument[] => {
      if (documents !== undefined) return documents;
      const at = [...path, "items", i];
      const objects = flat(items[i]).map((one) => ({ ...one, at: placesOf(yaml, [...at, ...one.path]) }));
      return [{ kind: "foreign", file: yaml.chunk.file, text: yaml.textOf(at), objects: this.looked(objects) }];
    });
  }

  private refuseCut(list: Bag, issue: Issue, { chunk: { text } }: YamlDocument): void {
    const kind = listKind.exec(`${list.kind}`)?.[1];
    const ofOthers = this.kindsOfOthers.filter((one) => one.kind === kind || kindPattern([one.kind]).test(text));
    const isOwn = kind === "NodeIPPool" || kind === "Node" || this.isMarked(text) || kindOfNode.test(text);
    if (isOwn || this.kindOfOwn.test(text)) this.issues.push(issue);
    else if (ofOthers.length > 0)
      this.unread.push({ issues: [issue], kinds: ofOthers.map((one) => one.kind), asks: text.includes(ownPrefix) });
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
      const issue = { message: `${what} (${where}), where it gets no addresses`, at: at(path, name), hint };
      if (this.isOwn(object)) this.issues.push(issue);
      else if (this.owns(object) && JSON.stringify(object).includes(ownPrefix))
        this.unread.push({ issues: [issue], kinds: [], asks: true });
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

  private isOwn(object: Bag): boolean {
    if (object.kind === "NodeIPPool" || isNode(object)) return true;
    return this.kinds.some((one) => !one.runsAsIs && one.kind === object.kind && one.owns(object));
  }

  private owns(object: Bag): boolean {
    return this.kinds.some((one) => one.kind === object.kind && one.owns(object));
  }
}

/** What is wrong with the labels and annotations of these stops a plan. */
const ownKinds = new Set<unknown>(["NodeIPPool", "Node", "NodeNetworkConfigurationPolicy"]);

function placesOf(yaml: YamlDocument, path: Path): LocatedObject["at"] {
  return (inside, _, part) => yaml.at([...path, ...inside], part);
}

function isNode({ apiVersion, kind }: Bag): boolean {
  return kind === "Node" && apiVersion === "v1";
}

function foreign({ file, text }: Chunk, objects: readonly LocatedObject[] = []): ManifestDocument[] {
  return [{ kind: "foreign", file, text, objects }];
}
