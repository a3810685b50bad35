import { parseDocument } from "yaml";
import { IpamError, type Issue, type Place } from "../core/index.ts";
import { nameIssue } from "./names.ts";
import type { SourceFile } from "./yaml.ts";

/** A cluster node: what selectors see of it. */
export interface ClusterNode {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** Given by name alone: nothing is known of its labels but the hostname, which is taken to be the name. */
  readonly bare: boolean;
}

export const hostnameLabel = "kubernetes.io/hostname";

/**
 * Reads nodes from any form people have them in: `kubectl get nodes` as JSON, YAML, names (`-o name`) or a table;
 * a YAML list of names or of `{name, labels}`; plain lines `NAME [label=value,...]`.
 * Throws IpamError `invalid` with every issue.
 */
export function readNodes(file: SourceFile): ClusterNode[] {
  const trimmed = file.text.trimStart();
  const rows = looksLikeYaml(trimmed) ? fromYaml(file) : fromLines(file);
  return checked(rows, file);
}

interface Row {
  readonly name: unknown;
  readonly labels?: unknown;
  readonly at: Place;
}

/** Documents with fields, or lists; everything else is lines of names. */
function looksLikeYaml(text: string): boolean {
  return /^(?:[{[]|-\s|[\w./"-]+:(?:\s|$))/m.test(text.replace(/^\s*#.*\n/gm, "").replace(/^---.*\n/, ""));
}

function fromLines({ path, text }: SourceFile): Row[] {
  const lines = text.split("\n");
  const isTable = /^NAME\s/.test(text.trimStart());
  return lines.flatMap((line, i): Row[] => {
    const [name = "", second] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (name === "" || (isTable && name === "NAME")) return [];
    const at = { file: path, line: i + 1, column: line.indexOf(name) + 1 };
    const bare = name.replace(/^node\//, "");
    if (isTable || second === undefined) return [{ name: bare, at }];
    return [{ name: bare, at, labels: Object.fromEntries(second.split(",").map((pair) => pair.split(/=(.*)/s))) }];
  });
}

function fromYaml({ path, text }: SourceFile): Row[] {
  const top = { file: path, line: 1, column: 1 };
  return documents(text, top).flatMap((value) => rowsOf(value, top));
}

/** JSON goes through JSON.parse: a dump of 5,000 nodes is 75 MB, for which a YAML parser takes minutes. */
function documents(text: string, at: Place): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return text.split(/^---(?=\s|$).*$/m).map((part) => {
      const document = parseDocument(part, { uniqueKeys: true });
      const error = document.errors[0];
      if (error !== undefined) throw new IpamError("invalid", [{ message: error.message, at }]);
      return document.toJS({ maxAliasCount: 0 });
    });
  }
}

function rowsOf(value: unknown, at: Place): Row[] {
  if (Array.isArray(value)) return value.flatMap((item) => rowsOf(item, at));
  if (typeof value === "string") return [{ name: value.replace(/^node\//, ""), at }];
  if (typeof value !== "object" || value === null) return [];
  const { kind, items, metadata, name, labels, nodes } = value as { [field: string]: unknown };
  if (Array.isArray(items)) return rowsOf(items, at);
  if (Array.isArray(nodes)) return rowsOf(nodes, at);
  if (kind === "Node" && typeof metadata === "object" && metadata !== null) {
    const meta = metadata as { name?: unknown; labels?: unknown };
    return [{ name: meta.name, labels: meta.labels ?? {}, at }];
  }
  return kind === undefined && name !== undefined ? [{ name, labels, at }] : [];
}

function checked(rows: readonly Row[], file: SourceFile): ClusterNode[] {
  const issues: Issue[] = [];
  const nodes = new Map<string, ClusterNode>();
  for (const { name, labels, at } of rows) {
    const issue = nameIssue(name);
    if (issue !== undefined) {
      issues.push({ message: `a node's name ${issue}`, at });
      continue;
    }
    const node = name as string;
    if (nodes.has(node)) issues.push({ message: `node ${node} is listed twice`, at });
    nodes.set(node, nodeOf(node, labels));
  }
  if (nodes.size === 0 && issues.length === 0)
    issues.push({
      message: `${file.path} lists no nodes`,
      hint: "Give it names, one on a line, or kubectl get nodes -o yaml.",
    });
  if (issues.length > 0) throw new IpamError("invalid", issues);
  return [...nodes.values()];
}

export function nodeOf(name: string, labels: unknown): ClusterNode {
  if (typeof labels !== "object" || labels === null)
    return { name, labels: new Map([[hostnameLabel, name]]), bare: true };
  return { name, labels: new Map(Object.entries(labels).map(([key, value]) => [key, String(value)])), bare: false };
}
