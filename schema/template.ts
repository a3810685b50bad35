import type { Path } from "./yaml.ts";

/** The fields an allocation offers to templates. */
export const fields = ["ip", "prefix-length", "gateway"] as const;
/** One of `fields`. */
export type Field = (typeof fields)[number];
/** Any of them, as a part of a regular expression. */
export const anyField = fields.join("|");

/** `{{ capture.NAME.FIELD }}` in a desired state, where NAME is a claim on a pool: filled in per node, its type kept. */
export class Reference {
  readonly capture: string;
  readonly field: Field;

  constructor(capture: string, field: Field) {
    this.capture = capture;
    this.field = field;
  }
}

/** Every reference in plain data, with its path. */
export function referencesIn(value: unknown, path: Path = []): { reference: Reference; path: Path }[] {
  if (value instanceof Reference) return [{ reference: value, path }];
  if (typeof value !== "object" || value === null) return [];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([key, item]) => referencesIn(item, [...path, key]));
}

/** Returns whether a place is the address of an interface, in the list of ipv4 or ipv6, which nmstate sets. */
export function isInterfaceAddress(field: string, path: Path): boolean {
  return field === "ip" && path.at(-1) === "ip" && path.at(-3) === "address";
}

export type Template =
  /** No template at all. */
  | { readonly kind: "text" }
  /** `{{ capture.NAME.rest }}` */
  | { readonly kind: "capture"; readonly capture: string; readonly rest: string }
  | { readonly kind: "bad"; readonly why: string };

/**
 * Reads one scalar by the subset that both engines of nmstate take alike: the whole value is one reference,
 * with one blank inside each pair of braces. There is no other template language here.
 */
export function readTemplate(text: string): Template {
  if (!text.includes("{{")) return { kind: "text" };
  const match = /^\{\{ capture\.([A-Za-z][A-Za-z0-9-]*)((?:\.[^\s.{}]+)*) \}\}$/.exec(text);
  if (match === null) return { kind: "bad", why: whole };
  return { kind: "capture", capture: match[1] as string, rest: (match[2] as string).slice(1) };
}

const whole = 'a template is the whole value, with one blank inside the braces: "{{ capture.NAME.ip }}"';

/** Returns whether a text has a template, whose value only the node itself, or a plan, knows. */
export function hasTemplate(value: unknown): value is string {
  return typeof value === "string" && value.includes("{{");
}

/** Letters, digits and -: what both engines take as a name; no longer than a Kubernetes name. */
export function isCaptureName(name: string): boolean {
  return /^[A-Za-z][A-Za-z0-9-]{0,252}$/.test(name);
}

/** The pool of a capture `ippool.POOL.allocate`; undefined for every other capture; `null` if it only looks like one. */
export function poolOfCapture(expression: string): string | undefined | null {
  const text = expression.trim();
  if (!/^ippool\b|^[\w.-]+\.allocate$/i.test(text)) return undefined;
  return /^ippool\.([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)\.allocate$/.exec(text)?.[1] ?? null;
}

/**
 * Quotes `{{ ... }}` values that stand unquoted, as the proposal (ADR 1) sometimes writes them: to YAML they are
 * mappings. A line is `- `, `key:`, both or neither, and then the template; text in block scalars stays as it is.
 */
export function quoteTemplates(yaml: string): string {
  return mapLines(yaml, (line) => line.replace(unquoted, '$1"$2"$3'));
}

/** YAML with every line changed but those in block scalars. */
export function mapLines(yaml: string, change: (line: string) => string): string {
  let block: number | undefined;
  const lines = yaml.split("\n").map((line) => {
    const indent = line.search(/\S/);
    if (block !== undefined && (indent < 0 || indent > block)) return line;
    block = /(?:^|[:-] )\s*[|>][-+0-9]*\s*(?:#.*)?$/.test(line) ? line.search(/[^\s-]/) : undefined;
    return change(line);
  });
  return lines.join("\n");
}

const unquoted = /^(\s*(?:-\s+)*(?:[^\s:#'"{}[\],&*!|>%@`]+:\s+)?)(\{\{[^{}"'\n]*\}\})(\s*(?:#.*)?)$/;

/** Returns whether another tool makes YAML of a text. Templates of policies refer to captures. */
export function isTemplated(text: string): boolean {
  return /\{%|\{\{-?(?!\s*capture\.)/.test(text);
}

/** Returns whether a document that parses still has values for Helm to fill in. */
export function isUnrendered(text: string): boolean {
  return /\{\{-|\{\{\s*[.$]/.test(text);
}
