import { IpamError, type Issue, type Place, placed } from "../core/index.ts";
import { nameIssue } from "./names.ts";
import { type ClusterNode, hostnameLabel } from "./node.ts";
import { type Bag, cutOff, isCut, itemsOf } from "./objects.ts";
import { type Path, refuseConflicts, type SourceFile, splitDocuments, YamlDocument } from "./yaml.ts";

/** A node as a text says it, unchecked; or an issue instead. */
export interface NodeRow {
  readonly name?: unknown;
  /** Absent: only the name is known. */
  readonly labels?: unknown;
  readonly issue?: string;
  readonly at?: Place;
}

/**
 * Reads nodes from any form people have them in: `kubectl get nodes` as JSON, YAML, names (`-o name`) or a table;
 * a YAML list of names or of `{name, labels}`; plain lines `NAME [label=value,...]`. Where labels are given, the
 * hostname label is one of them: it is the name only of nodes given by name alone.
 * Throws IpamError `invalid` with every issue.
 */
export function readNodes(file: SourceFile): ClusterNode[] {
  refuseConflicts([file]);
  const rows = looksLikeYaml(file.text) ? fromYaml(file) : fromLines(file);
  const { nodes, issues } = checkNodes(rows);
  if (issues.length > 0) throw new IpamError("invalid", issues);
  if (nodes.length > 0) return nodes;
  throw new IpamError("invalid", `${file.label ?? file.path} lists no nodes`, {
    hint: "Give it names, one on a line, or kubectl get nodes -o json.",
  });
}

/** Documents with fields, or lists; everything else is lines of names. */
function looksLikeYaml(text: string): boolean {
  return /^(?:[{[]|-\s|-$|[\w./"-]+:(?:\s|$))/m.test(text.replace(/^[^\S\n]*#.*\n/gm, "").replace(/^---.*\n/, ""));
}

function fromLines({ path, text, label = path }: SourceFile): NodeRow[] {
  const header = /^NAME\s.*/.exec(text.trimStart())?.[0];
  const hasLabels = header?.trimEnd().endsWith(" LABELS");
  return text.split("\n").flatMap((line, i): NodeRow[] => {
    const cells = line.replace(/#.*/, "").trim().split(/\s+/);
    const [first = "", second, third] = header !== undefined && hasLabels ? [cells[0], cells.at(-1)] : cells;
    if (first === "" || (header !== undefined && first === "NAME")) return [];
    const at = { file: label, line: i + 1, column: line.indexOf(first) + 1 };
    const name = first.replace(/^node\//, "");
    if ((header !== undefined && !hasLabels) || second === undefined) return [{ name, at }];
    const pairs = second.split(",").map((pair) => /^([^=]+)=(.*)$/.exec(pair)?.slice(1));
    if (third !== undefined || pairs.includes(undefined))
      return [
        { issue: `a line is a name, and after a blank all its labels: NAME ${hostnameLabel}=NAME,label=value`, at },
      ];
    return [{ name, labels: Object.fromEntries(pairs as string[][]), at }];
  });
}

/** JSON goes through JSON.parse: a dump of 5,000 nodes is 75 MB, for which a YAML parser takes minutes. */
function fromYaml(file: SourceFile): NodeRow[] {
  try {
    const top = { file: file.label ?? file.path, line: 1, column: 1 };
    return rowsOf(JSON.parse(file.text), [], () => top);
  } catch {
    return splitDocuments(file).flatMap((chunk) => {
      const yaml = new YamlDocument(chunk);
      const issues = [...yaml.errors, ...yaml.traps];
      if (issues.length > 0) throw new IpamError("invalid", issues);
      return rowsOf(yaml.value, [], (path) => yaml.at(path));
    });
  }
}

function rowsOf(value: unknown, path: Path, at: (path: Path) => Place): NodeRow[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => rowsOf(item, [...path, i], at));
  if (typeof value === "string") return [{ name: value.replace(/^node\//, ""), at: at(path) }];
  if (typeof value !== "object" || value === null) return [{ name: value, at: at(path) }];
  const { kind, items, name, labels } = value as { [field: string]: unknown };
  if (isCut(value)) return [{ issue: cutOff, at: at([...path, "metadata", "continue"]) }];
  if (Array.isArray(items)) return rowsOf(itemsOf(value as Bag), [...path, "items"], at);
  if (kind === "Node") return [nodeRow(value, at([...path, "metadata", "name"]))];
  if (path.length === 0 || kind !== undefined) return name === undefined ? [] : [{ name, labels, at: at(path) }];
  return [{ name, labels, at: at([...path, "name"]) }];
}

/** A Node object. */
export function nodeRow(object: object, at: Place): NodeRow {
  const { name, labels } = ((object as { metadata?: unknown }).metadata ?? {}) as { name?: unknown; labels?: unknown };
  return { name, labels: labels ?? {}, at };
}

/** The nodes of these rows, and what is wrong with the others. */
export function checkNodes(rows: readonly NodeRow[]): { nodes: ClusterNode[]; issues: Issue[] } {
  const issues: Issue[] = [];
  const nodes = new Map<string, ClusterNode>();
  for (const { name, labels, issue, at } of rows) {
    const wrong = issue ?? labelIssue(labels) ?? prefixed("a node's name ", nameIssue(name));
    const place = placed(at);
    if (wrong !== undefined) issues.push({ message: wrong, ...place });
    else if (nodes.has(name as string)) issues.push({ message: `node ${name} is listed twice`, ...place });
    else nodes.set(name as string, { ...nodeOf(name as string, labels), ...place });
  }
  return { nodes: [...nodes.values()], issues };
}

function prefixed(prefix: string, text: string | undefined): string | undefined {
  return text === undefined ? undefined : prefix + text;
}

function labelIssue(labels: unknown): string | undefined {
  if (labels === undefined || labels === null) return undefined;
  const isMapping = typeof labels === "object" && !Array.isArray(labels);
  const isText = (value: unknown) => ["string", "boolean", "number"].includes(typeof value);
  if (!isMapping || !Object.values(labels).every(isText)) return "labels must be a mapping of text";
  const wrong = Object.entries(labels).find(([, value]) => !labelValue.test(`${value}`));
  if (wrong === undefined) return undefined;
  return `${JSON.stringify(`${wrong[1]}`)} is not a value of label ${wrong[0]}: letters, digits, -, _ and . only, at most 63`;
}

/** As the API server has it. */
const labelValue = /^(?:[A-Za-z\d](?:[\w.-]{0,61}[A-Za-z\d])?)?$/;

function nodeOf(name: string, labels: unknown): ClusterNode {
  if (labels === undefined || labels === null) return { name, labels: new Map([[hostnameLabel, name]]), bare: true };
  return {
    name,
    labels: new Map(Object.entries(labels).map(([key, value]) => [key, String(value)])),
    bare: false,
  };
}
