import { LineCounter } from "yaml";
import { IpamError, type Parsed, type Place } from "../core/index.ts";
import { asBag, asList, type Bag, cutOff, deepest, flat, isCut, type LocatedObject } from "./objects.ts";
import { quoteTemplates } from "./template.ts";
import { type Chunk, YamlDocument } from "./yaml.ts";

/** Returns whether a text looks like JSON. A Helm template that begins with `{{` does not. */
export function isJson({ text }: Chunk): boolean {
  return /^\s*(?:\{(?!\{)|\[)/.test(text);
}

/** Larger YAML takes minutes and gigabytes to parse; JSON of any size does not. */
const maxYaml = 8 * 1024 * 1024;

function refuseCut(value: unknown, chunk: Chunk): void {
  const isCutInside = (part: unknown, depth: number): boolean => {
    const list = asBag(part) ?? {};
    return isCut(list) || (depth < deepest && asList(list.items).some((item) => isCutInside(item, depth + 1)));
  };
  if ([value].flat().some((top) => isCutInside(top, 0)))
    throw new IpamError("invalid", [{ message: cutOff, at: placeIn(chunk, linesOf(""), 0) }]);
}

/** The objects of a document, those in Lists too; or why it cannot be read. Throws IpamError `invalid` for a part of a list. */
export function objectsIn(chunk: Chunk): Parsed<LocatedObject[]> {
  const json = isJson(chunk) ? parseJson(chunk.text) : undefined;
  if (json !== undefined) {
    refuseCut(json, chunk);
    const search = new Search(chunk);
    return { value: flat(json).map(({ object }) => ({ object, at: (_, text) => search.next(text) })) };
  }
  if (chunk.text.length > maxYaml) {
    const at = placeIn(chunk, linesOf(""), 0);
    return { issues: [{ message: "this YAML is larger than 8 MiB", at, hint: "Give it as JSON: kubectl -o json." }] };
  }
  const yaml = new YamlDocument(chunk, chunk.text.includes("{{") ? quoteTemplates(chunk.text) : chunk.text);
  const value = yaml.value ?? unlessReported(yaml.resolved);
  if (value === undefined) return { issues: yaml.errors.length > 0 ? yaml.errors : yaml.traps };
  refuseCut(value, chunk);
  return { value: flat(value).map(({ object, path }) => ({ object, at: (inside) => yaml.at([...path, ...inside]) })) };
}

/** Manifests are written by hand, and some with aliases; what reports what a node has is not. */
function unlessReported(resolved: unknown): unknown {
  const objects = flat(resolved);
  const isReport = ({ object }: { object: Bag }) => object.kind === "NodeNetworkState";
  return objects.length > 0 && !objects.some(isReport) ? resolved : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The place of an offset of a chunk. */
export function placeIn({ label, line, column }: Chunk, lines: LineCounter, offset: number): Place {
  const found = lines.linePos(offset);
  return { file: label, line: line + found.line - 1, column: found.col + (found.line === 1 ? column : 0) };
}

/** Where the lines of a text begin. */
export function linesOf(text: string): LineCounter {
  const lines = new LineCounter();
  for (let start = 0; start >= 0; start = text.indexOf("\n", start) + 1 || -1) lines.addNewLine(start);
  return lines;
}

/** Finds texts again that JSON.parse gave without their places, each behind the one before. */
class Search {
  private readonly chunk: Chunk;
  private lines: LineCounter | undefined;
  private from = 0;
  private isLost = false;

  constructor(chunk: Chunk) {
    this.chunk = chunk;
  }

  /** The empty text is where the one before it was. */
  next(text: string): Place {
    if (text === "") return this.place();
    const found = this.isLost ? -1 : this.chunk.text.indexOf(JSON.stringify(text), this.from);
    // A text that is written with escapes is not found, and searching on for each would cost the square.
    if (found < 0) this.isLost = true;
    else this.from = found + 1;
    return this.place();
  }

  private place(): Place {
    this.lines ??= linesOf(this.chunk.text);
    return placeIn(this.chunk, this.lines, this.from);
  }
}
