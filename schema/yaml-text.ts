import { Document, visit } from "yaml";

/** Plain data as YAML that every parser reads alike. */
export function yamlOf(data: object): string {
  // As YAML 1.1 it quotes what older parsers would misread (on, 11:22:33:44:55:10).
  const document = new Document(data, { version: "1.1", aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === "string" && isMisread(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  // In quotes, these are blanks to kubectl unless they are escaped.
  return document.toString({ lineWidth: 0 }).replace(/[\u0085\u2028\u2029]/g, (mark) => breaks[mark] as string);
}

const breaks: Readonly<Record<string, string>> = { "\u0085": "\\N", "\u2028": "\\L", "\u2029": "\\P" };

/**
 * Does kubectl's parser, which drops every `_` and knows all prefixes, take it for a number? Or is it a text with a line
 * break that is none to everybody, or whose lines begin with tabs?
 */
function isMisread(text: string): boolean {
  const digits = text.replaceAll("_", "");
  const isNumber = /^[-+]?(?:0x[0-9a-f]+|0o?[0-7]+|0b[01]+|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)$/i.test(digits);
  return isNumber || /[\u0085\u2028\u2029]|^\t|\n\t/.test(text);
}

/** `yamlOf` each, in a tenth of the time where many are alike: the nodes' policies differ in names and addresses alone. */
export function yamlOfEach(list: readonly object[]): string[] {
  return list.map(yamlWriter());
}

/** So many texts with gaps are kept. */
const maxKnown = 1_000;

/** `yamlOf`, which writes data with a gap for each plain word once, and fills its text in for all that share it. */
export function yamlWriter(): (data: object) => string {
  /** The text around the gaps, by the JSON of the data with gaps. */
  const known = new Map<string, readonly string[]>();
  return (data) => {
    const { json, words, isPlain } = gapped(data);
    if (!isPlain) return yamlOf(data);
    const texts = known.get(json) ?? yamlOf(JSON.parse(json)).split(gap);
    if (known.size === maxKnown) known.clear();
    known.set(json, texts);
    // Somebody wrote the gap's own text in a key or a sentence.
    if (texts.length !== words.length + 1) return yamlOf(data);
    return texts.map((text, i) => text + (words[i] ?? "")).join("");
  };
}

/** Data as JSON, a gap in place of each plain word. Not plain: a number that JSON cannot write. */
function gapped(data: object): { json: string; words: string[]; isPlain: boolean } {
  const words: string[] = [];
  let isPlain = true;
  const json = JSON.stringify(data, (_, value) => {
    if (typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))) isPlain = false;
    if (typeof value !== "string") return value;
    const isMac = mac.test(value);
    if (!isMac && !plainWord.test(value)) return value;
    words.push(isMac && base60.test(value) ? `"${value}"` : value);
    return gap;
  });
  return { json, words, isPlain };
}

const gap = "nodeippool-gap";

/**
 * Stands in YAML as it is, whatever stands around it: lower-case names with a digit, dot, dash or slash in them (no
 * reserved word has one; but e1 is a number to the library), IPv4 addresses, and IPv6 addresses with a `::` inside.
 */
const plainWord = /^(?!e-?\d+$)(?:[a-z]+[0-9./-][a-z0-9./-]*|\d+(?:\.\d+){3}|[0-9a-f:]*::[0-9a-f:]*[0-9a-f])$/;

/** A MAC address stands there alike, but in quotes where older parsers would take it for a number of hours, minutes and seconds. */
const mac = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/;
const base60 = /^\d\d(?::[0-5]\d)+$/;
