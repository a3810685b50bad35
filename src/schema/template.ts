/** The fields an allocation offers to templates. */
export const fields = ["ip", "prefix-length", "gateway"] as const;
export type Field = (typeof fields)[number];

/** `{{ capture.NAME.FIELD }}` in a desired state, where NAME is a claim on a pool: filled in per node, its type kept. */
export class Reference {
  readonly capture: string;
  readonly field: Field;

  constructor(capture: string, field: Field) {
    this.capture = capture;
    this.field = field;
  }
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
  const match = /^\{\{ capture\.([A-Za-z][A-Za-z0-9_-]*)((?:\.[^\s.{}]+)*) \}\}$/.exec(text);
  if (match === null) return { kind: "bad", why: 'a template must be the whole value, as in "{{ capture.NAME.ip }}"' };
  return { kind: "capture", capture: match[1] as string, rest: (match[2] as string).slice(1) };
}

/** The pool of a capture `ippool.POOL.allocate`; undefined for every other capture; `null` if it only looks like one. */
export function poolOfCapture(expression: string): string | undefined | null {
  const text = expression.trim();
  if (!/^ippool\b/i.test(text)) return undefined;
  return /^ippool\.([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)\.allocate$/.exec(text)?.[1] ?? null;
}

/** Quotes `{{ ... }}` values that stand unquoted, as the seed documents sometimes write them: to YAML they are mappings. */
export function quoteTemplates(yaml: string): string {
  return yaml.replace(/^(\s*(?:- +)?(?:[^\s:#'"{}[\]]+:)?\s+)(\{\{[^{}"'\n]*\}\})([^\S\n]*(?:#.*)?)$/gm, '$1"$2"$3');
}
