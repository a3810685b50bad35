import {
  type Alias,
  type Document,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
} from "yaml";
import type { Issue, Place } from "../core/index.ts";

export interface SourceFile {
  /** Relative to the folder it was read from. */
  readonly path: string;
  readonly text: string;
  /** What people call it, in messages; default is the path. */
  readonly label?: string;
}

/** One document of a file: its text, byte for byte, and the line of the file it starts on (from 1). */
export interface Chunk {
  readonly file: string;
  readonly label: string;
  readonly text: string;
  readonly line: number;
}

export type Path = readonly (string | number)[];

/** Splits at `---` and `...` lines, which YAML allows nowhere else at the start of a line. Empty documents vanish. */
export function splitDocuments({ path, text, label = path }: SourceFile): Chunk[] {
  const chunks: Chunk[] = [];
  let start = 0;
  let line = 1;
  const push = (end: number) => {
    const part = text.slice(start, end);
    if (/^[^\S\n]*[^#\s]/m.test(part)) chunks.push({ file: path, label, text: part, line });
    line += part.split("\n").length - 1;
    start = end;
  };
  for (const marker of text.matchAll(/^(---|\.\.\.)(?=\s|$).*\n?/gm)) {
    push(marker.index);
    // What follows `---` on its own line belongs to the document: keep it there, without the marker.
    const rest = marker[0].slice(3).trim();
    if (rest !== "" && !rest.startsWith("#")) start = marker.index + 3;
    else {
      start = marker.index + marker[0].length;
      line += marker[0].endsWith("\n") ? 1 : 0;
    }
  }
  push(text.length);
  return chunks;
}

/** Larger documents of our own kinds are refused before they are parsed. */
const maxLength = 1024 * 1024;

/** A parsed document of one of our kinds: plain data, and the place of every part of it. */
export class YamlDocument {
  readonly document: Document;
  readonly issues: Issue[] = [];
  readonly chunk: Chunk;
  private readonly lines = new LineCounter();
  private isTree: boolean;

  constructor(chunk: Chunk) {
    this.chunk = chunk;
    const text = chunk.text.length > maxLength ? "" : chunk.text;
    this.document = parseDocument(text, { lineCounter: this.lines, uniqueKeys: true, merge: false, stringKeys: true });
    if (text !== chunk.text) this.issues.push({ message: "this document is larger than 1 MiB", at: this.placeAt(0) });
    const errors = this.document.errors.filter(
      (error, i, all) => error.code !== "DUPLICATE_KEY" || all[i - 1]?.code !== error.code,
    );
    for (const error of errors) this.issues.push(this.issueOf(error.code, error.message, error.pos[0]));
    this.isTree = this.issues.length === 0;
    this.refuseTraps();
  }

  /** The data, where it can be had in spite of the issues; aliases are refused, so it is no larger than its text. */
  get value(): unknown {
    return this.isTree ? this.document.toJS() : undefined;
  }

  /** Where a part of the document stands; the nearest parent of a part that is not there. */
  at(path: Path, part: "value" | "key" = "value"): Place {
    for (let length = path.length; length > 0; length--) {
      const found = this.find(path.slice(0, length), length === path.length ? part : "value");
      if (found?.range) return this.placeAt(found.range[0]);
    }
    return this.placeAt((this.document.contents as Node | null)?.range?.[0] ?? 0);
  }

  private find(path: Path, part: "value" | "key"): Node | undefined {
    const key = path.at(-1);
    if (part === "key") {
      const parent = path.length === 1 ? this.document.contents : this.document.getIn(path.slice(0, -1), true);
      const pair = isMap(parent)
        ? parent.items.find((item) => isScalar(item.key) && item.key.value === key)
        : undefined;
      return isNode(pair?.key) ? pair.key : undefined;
    }
    const node = this.document.getIn(path, true);
    return isNode(node) ? node : undefined;
  }

  private placeAt(offset: number): Place {
    const { line, col } = this.lines.linePos(offset);
    return { file: this.chunk.label, line: this.chunk.line + Math.max(line, 1) - 1, column: Math.max(col, 1) };
  }

  private issueOf(code: string, message: string, offset: number): Issue {
    const at = this.placeAt(offset);
    if (code === "DUPLICATE_KEY")
      return {
        message: "this key stands here a second time",
        at,
        hint: "Are these two documents? Put --- between them.",
      };
    return { message: message.split("\n")[0]?.replace(/ at line .*$/, "") ?? message, at };
  }

  /** Aliases (YAML bombs), tags, prototype keys, and plain words that YAML 1.1 (kubectl) and 1.2 read differently. */
  private refuseTraps(): void {
    const refuse = (node: { range?: readonly number[] | null }, message: string, hint?: string) =>
      this.issues.push({ message, at: this.placeAt(node.range?.[0] ?? 0), ...(hint === undefined ? {} : { hint }) });
    visit(this.document, {
      Alias: (_, node: Alias) => {
        refuse(node, "YAML aliases are not allowed here", "Write the value out.");
        this.isTree = false;
      },
      Node: (_, node) => {
        if (node.tag && !node.tag.startsWith("tag:yaml.org,2002:"))
          refuse(node, `the YAML tag ${node.tag} is not allowed here`);
      },
      Pair: (_, pair: Pair) => {
        if (isScalar(pair.key) && (pair.key.value === "__proto__" || pair.key.value === "<<"))
          refuse(pair.key, `the key ${pair.key.value} is not allowed here`);
      },
      Scalar: (_, node) => {
        if (node.type === "PLAIN" && isAmbiguous(node.source ?? ""))
          refuse(
            node,
            `${node.source} means one thing to YAML 1.2 and another to kubectl`,
            "Quote it, or write true, false or a plain number.",
          );
      },
    });
  }
}

/** yes, no, on, off, y, n; octal, binary and underscored numbers. */
function isAmbiguous(source: string): boolean {
  return (
    /^(?:y|yes|n|no|on|off|[-+]?0o?[0-7_]+|[-+]?0b[01_]+|[-+]?[0-9][0-9_]*_[0-9_]*)$/i.test(source) && source !== "0"
  );
}
