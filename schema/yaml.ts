import {
  Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  Scalar,
  type Tags,
  visit,
  type YAMLMap,
} from "yaml";
import { IpamError, type Issue, type Place } from "../core/index.ts";
import { yamlOf } from "./yaml-text.ts";
import { noAliases, trapsIn } from "./yaml-traps.ts";

/** A file of manifests, read from wherever it is. */
export interface SourceFile {
  /** Relative to the folder it was read from. */
  readonly path: string;
  readonly text: string;
  /** What people call it, in messages; default is the path. */
  readonly label?: string;
}

/** One document of a file, byte for byte, and where in the file it starts (line from 1, column from 0). */
export interface Chunk {
  readonly file: string;
  readonly label: string;
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

/** Where in a document something stands: keys and indexes. */
export type Path = readonly (string | number)[];

/**
 * Splits at `---` and `...` lines, which YAML allows nowhere else at the start of a line. Directives (`%YAML`) stay with
 * the document they are for, and so does what follows `---` on its line. Empty documents vanish.
 */
export function splitDocuments({ path, text, label = path }: SourceFile): Chunk[] {
  const chunks: Chunk[] = [];
  let start = { offset: 0, line: 1, column: 0 };
  const push = (end: number) => {
    const part = text.slice(start.offset, end);
    if (part.split(/[\r\n]/).some((line) => /^[^#]/.test(line.trim())))
      chunks.push({ file: path, label, text: part, line: start.line, column: start.column });
  };
  for (let offset = 0, line = 1; offset < text.length; line++) {
    const newline = text.indexOf("\n", offset);
    const next = newline < 0 ? text.length : newline + 1;
    const marker = /^(---|\.\.\.)(?:\s|$)/.exec(text.slice(offset, offset + 4))?.[1];
    if (marker !== undefined && !(marker === "---" && isDirectives(text.slice(start.offset, offset)))) {
      push(offset);
      const rest = text.slice(offset + 3, next).trim();
      const goesOn = rest !== "" && !rest.startsWith("#");
      start = goesOn ? { offset: offset + 3, line, column: 3 } : { offset: next, line: line + 1, column: 0 };
    }
    offset = next;
  }
  push(text.length);
  return chunks;
}

function isDirectives(text: string): boolean {
  return /^%/m.test(text) && text.split("\n").every((line) => /^(%|\s*#|\s*$)/.test(line));
}

/** Throws IpamError `invalid` where git left the two sides of a merge in files that have something like this. */
export function refuseConflicts(files: readonly SourceFile[], like = /^/): void {
  const conflicts = files.filter(({ text }) => like.test(text)).flatMap((file) => conflictIn(file) ?? []);
  if (conflicts.length > 0) throw new IpamError("invalid", conflicts);
}

/** Where git left the two sides of a merge in a file, if it did. */
function conflictIn({ path, text, label = path }: SourceFile): Issue | undefined {
  const start = text.search(/^<{7}(?:\s|$)/m);
  const middle = start < 0 ? -1 : text.slice(start).search(/^={7}\r?$/m);
  if (middle < 0 || !/^>{7}(?:\s|$)/m.test(text.slice(start + middle))) return undefined;
  const line = text.slice(0, start).split("\n").length;
  return {
    message: `${label} has merge conflict markers`,
    at: { file: label, line, column: 1 },
    hint: "Keep what both sides added to this file, leave the lock as it is, and allocate.",
  };
}

/** A line that YAML does not read as it is meant, and that was read with quotes. */
export interface QuotedLine {
  readonly at: Place;
  readonly was: string;
  readonly now: string;
}

/** A parsed document: plain data, and the place of every part of it. */
export class YamlDocument {
  readonly chunk: Chunk;
  readonly document: Document;
  private readonly text: string;
  /** The first thing that is no YAML; what a parser finds behind it mostly follows from it. */
  readonly errors: readonly Issue[];
  /** What is parsed otherwise than it is written. */
  readonly quoted: readonly QuotedLine[];
  /** YAML that our kinds do not take. */
  readonly traps: readonly Issue[];
  private readonly lines = new LineCounter();
  private readonly pairs = new WeakMap<YAMLMap, ReadonlyMap<string | undefined, Pair>>();

  /** The values of a document that is read as kubectl reads it. */
  private readonly asApplied: unknown;
  private readonly isAsApplied: boolean;

  /** `text` is what is parsed, where that is not the chunk as it stands. `as` says whether it is read as data alone, or as kubectl reads it. */
  constructor(chunk: Chunk, text = chunk.text, as: "data" | "applied" = "data") {
    this.chunk = chunk;
    this.quoted = quotedLines(chunk, text);
    this.isAsApplied = as === "applied";
    // A line may end in CR alone: to this parser it goes on, a comment to the end of the document.
    this.text = text.replace(/\r(?!\n)/g, "\n");
    this.document = parseDocument(this.text, {
      lineCounter: this.lines,
      uniqueKeys: false,
      prettyErrors: false,
      stringKeys: true,
      ...(this.isAsApplied ? kubectlReads : { merge: false }),
    });
    const [first] = this.document.errors;
    const twice = first === undefined && !this.isAsApplied ? this.findKeyTwice() : undefined;
    if (first !== undefined) this.errors = [this.issueOf(first.message, first.pos[0])];
    else this.errors = twice === undefined ? [] : [twice];
    this.traps = this.isAsApplied ? [] : trapsIn(this.document, (offset) => this.placeAt(offset));
    this.asApplied = this.isAsApplied && first === undefined ? dataIn(this.document, this.text) : undefined;
  }

  /** The data. Without aliases, so it is a tree no larger than its text; undefined where there is none. */
  get value(): unknown {
    if (this.isAsApplied) return this.asApplied;
    const hasAlias = this.traps.some(({ message }) => message === noAliases);
    return this.errors.length > 0 || hasAlias ? undefined : this.document.toJS();
  }

  /** The data with aliases filled in, as kubectl does it. They may cost a thousand times their text; undefined beyond that. */
  get resolved(): unknown {
    if (this.errors.length > 0) return undefined;
    return dataIn(parseDocument(this.text, { uniqueKeys: false, merge: true, stringKeys: true }), this.text);
  }

  /** A part of the document as a document of its own: scalars spelt as they were, comments kept. */
  part(path: Path): Document {
    if (path.length === 0) return this.document.clone();
    const part = new Document();
    part.contents = (this.document.getIn(path, true) as Node).clone() as Node;
    return part;
  }

  textOf(path: Path): string {
    if (this.isAsApplied) return yamlOf(partOf(this.asApplied, path) as object);
    return this.textOfPart(this.part(path));
  }

  /** A part as text, in the writer's style: `{ a: b }` if the first flow collection of the document is padded, else `{a: b}`. */
  textOfPart(part: Document): string {
    return part.toString({ lineWidth: 0, flowCollectionPadding: this.isPadded() });
  }

  private isPadded(): boolean {
    let first: Node | undefined;
    visit(this.document, {
      Collection: (_, node) => {
        if (!node.flow || node.items.length === 0) return undefined;
        first = node;
        return visit.BREAK;
      },
    });
    return first?.range ? /\s/.test(this.text[first.range[0] + 1] ?? "") : false;
  }

  /** Where a part of the document stands; the nearest parent of a part that is not there. A number inside of a literal block is its line. */
  at(path: Path, part: "value" | "key" = "value"): Place {
    let node: unknown = this.document.contents;
    let nearest = isNode(node) ? node : undefined;
    for (const [i, step] of path.entries()) {
      if (isScalar(node) && node.type === Scalar.BLOCK_LITERAL && typeof step === "number")
        return this.lineOfBlock(node.range?.[0] ?? 0, step);
      const pair = isMap(node) ? this.pairOf(node, step) : undefined;
      node = isSeq(node) ? node.items[step as number] : pair?.value;
      const found = part === "key" && i === path.length - 1 ? pair?.key : node;
      if (isNode(found) && found.range) nearest = found;
    }
    return this.placeAt(nearest?.range?.[0] ?? 0);
  }

  /** A block begins on the line behind its mark. */
  private lineOfBlock(mark: number, line: number): Place {
    const { line: first } = this.lines.linePos(mark);
    const start = this.lines.lineStarts[first + line] ?? mark;
    return this.placeAt(start + this.text.slice(start).search(/\S|$/));
  }

  /** By an index: `map.get` looks at every key before it. */
  private pairOf(map: YAMLMap, key: string | number): Pair | undefined {
    let pairs = this.pairs.get(map);
    if (pairs === undefined) {
      pairs = new Map(map.items.map((pair) => [isScalar(pair.key) ? `${pair.key.value}` : undefined, pair]));
      this.pairs.set(map, pairs);
    }
    return pairs.get(`${key}`);
  }

  private placeAt(offset: number): Place {
    const { line, col } = this.lines.linePos(offset);
    const { label, line: first, column } = this.chunk;
    return { file: label, line: first + Math.max(line, 1) - 1, column: Math.max(col, 1) + (line <= 1 ? column : 0) };
  }

  private issueOf(message: string, offset: number): Issue {
    const [said = message] = message.split("\n");
    // In the parser's words, which are those of whatever runs it.
    const isDeep = said.includes("call stack");
    return {
      message: isDeep ? "this is nested too deep to be read" : said.replace(/ at line .*$/, ""),
      at: this.placeAt(offset),
    };
  }

  /** The parser's own check compares every key with every other. */
  private findKeyTwice(): Issue | undefined {
    let found: Node | undefined;
    visit(this.document, {
      Map: (_, map) => {
        const keys = new Set<unknown>();
        for (const { key } of map.items) {
          if (!isScalar(key)) continue;
          if (keys.has(key.value)) {
            found = key;
            return visit.BREAK;
          }
          keys.add(key.value);
        }
        return undefined;
      },
    });
    if (found === undefined) return undefined;
    const hint = "Are these two documents? Put --- between them.";
    return { message: "this key stands here a second time", at: this.placeAt(found.range?.[0] ?? 0), hint };
  }
}

const maxResolved = 1024 * 1024;

/** YAML 1.1 without the types that Kubernetes does not know: a text that looks like a date or a time is a text. */
const kubectlReads = {
  version: "1.1",
  merge: true,
  customTags: (tags: Tags) =>
    tags.filter((tag) => typeof tag === "string" || (tag.format !== "TIME" && !tag.tag.endsWith(":timestamp"))),
} as const;

/** The data with aliases filled in; undefined if they cost too much. */
function dataIn(document: Document, { length }: string): unknown {
  if (length > maxResolved) return undefined;
  try {
    return document.toJS({ maxAliasCount: 1000 });
  } catch {
    return undefined;
  }
}

function partOf(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((part, key) => (part as Record<string | number, unknown>)[key], value);
}

/** The lines of a document that this text of it has otherwise. */
function quotedLines({ label, line, text }: Chunk, quoted: string): QuotedLine[] {
  if (quoted === text) return [];
  const before = text.split("\n");
  return quoted.split("\n").flatMap((now, i): QuotedLine[] => {
    const was = before[i] ?? "";
    return now === was ? [] : [{ at: { file: label, line: line + i, column: 1 }, was, now }];
  });
}
