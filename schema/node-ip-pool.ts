import { formatPrefix, type Issue, type Parsed, type Pool, parsePool, parsePrefix, unwrap } from "../core/index.ts";
import type { NodeIPPool } from "./generated/node-ip-pool.types.ts";
import { isNodeIPPool } from "./generated/node-ip-pool.validator.ts";
import { nameIssue } from "./names.ts";
import { didYouMean } from "./nearest.ts";
import { asBag, type Bag } from "./objects.ts";

/** Somebody asks by it that a pool, named by its value, is rebuilt from what nodes report. */
export const resetAnnotation = "nmstate.io/reset-ippool";

/** Whether a NodeIPPool leaves all its addresses to a plan: its authority is Plan, and it has no clusterRange. */
export function isLeftToPlan(pool: Bag | undefined): boolean {
  const { authority, clusterRange } = asBag(pool?.spec) ?? {};
  return authority === "Plan" && clusterRange === undefined;
}

/** The validator that ajv generated: all errors of the object it saw last. */
export interface Validator {
  (object: unknown): object is NodeIPPool;
  readonly errors?: readonly Violation[] | null;
}

interface Violation {
  readonly keyword: string;
  /** JSON pointer. */
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message: string;
  readonly parentSchema: object;
  readonly data: unknown;
}

/** What the schema of an object says of its fields: those that are objects have fields, too. */
interface Fields {
  readonly properties: Readonly<Record<string, Partial<Fields>>>;
}

/** A NodeIPPool object as a pool: its shape by the schema, its addresses by the core. All issues, with their paths. */
export function parseNodeIPPool(object: unknown): Parsed<Pool> {
  const errors = isNodeIPPool(object) ? [] : (isNodeIPPool.errors ?? []);
  const issues = errors.map(issueOf);
  // Unknown fields do not keep the known ones from being read.
  if (errors.some((error) => error.keyword !== "additionalProperties")) return { issues };
  const { metadata, spec } = object as NodeIPPool & { metadata: { name?: unknown } };
  const name = nameIssue(metadata.name);
  if (name !== undefined) issues.push({ message: `metadata.name ${name}`, path: ["metadata", "name"] });
  const pool = parsePool(String(metadata.name), spec);
  const prefix = pool.value?.prefix;
  for (const { why, all } of noAddresses)
    if (prefix && all.first <= prefix.first && prefix.last <= all.last)
      issues.push({ message: `${formatPrefix(prefix)} is ${why}`, path: ["spec", "range", "cidr"] });
  for (const issue of pool.issues ?? []) issues.push({ ...issue, path: ["spec", ...(issue.path ?? [])] });
  return issues.length > 0 ? { issues } : pool;
}

/** The `spec` of a NodeIPPool, without the object around it. Paths begin at the spec. */
export function parsePoolSpec(name: string, spec: unknown): Parsed<Pool> {
  const parsed = parseNodeIPPool({ apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: { name }, spec });
  if (parsed.issues === undefined) return parsed;
  const relative = ({ path = [], ...issue }: Issue): Issue =>
    path[0] === "spec"
      ? { ...issue, path: path.slice(1) }
      : { ...issue, message: issue.message.replace(/^metadata\./, "") };
  return { issues: parsed.issues.map(relative) };
}

/** What no pool can hand out, and why: of its own addresses, say, nobody could tell that a node gave one up. */
const noAddresses = Object.entries({
  "link-local or loopback: nodes make such addresses themselves": ["127.0.0.0/8", "fe80::/10", "::1/128"],
  "multicast: no host has such an address": ["224.0.0.0/4", "ff00::/8"],
  "of no network: no host has such an address": ["0.0.0.0/8"],
}).flatMap(([why, texts]) => texts.map((text) => ({ why, all: unwrap(parsePrefix(text)) })));

function issueOf(error: Violation): Issue {
  const path = error.instancePath
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const field = fieldName(path);
  switch (error.keyword) {
    case "additionalProperties": {
      const unknown = error.params.additionalProperty as string;
      const { properties } = error.parentSchema as Fields;
      const home = Object.entries(properties).find(([, field]) => Object.hasOwn(field.properties ?? {}, unknown));
      const meant = home === undefined ? didYouMean(unknown, Object.keys(properties)) : `; it belongs under ${home[0]}`;
      return { message: `unknown field ${unknown}${meant}`, path: [...path, unknown] };
    }
    case "required":
      return { message: `${field} needs the field ${error.params.missingProperty}`, path };
    case "const":
      return { message: `${field} must be ${error.params.allowedValue}`, path };
    case "enum":
      return { message: `${field} must be one of ${(error.params.allowedValues as string[]).join(", ")}`, path };
    case "type":
      return { message: `${field} must be ${noun(error.params.type as string)}, but is ${describe(error.data)}`, path };
    default:
      return { message: `${field} ${error.message}`, path };
  }
}

/** `cidr`; `exclude[1]` for an item of a list; the whole for the top. */
function fieldName(path: readonly (string | number)[]): string {
  const last = path.at(-1);
  if (typeof last !== "number") return last ?? "the document";
  return `${path.at(-2)}[${last}]`;
}

function noun(type: string): string {
  return (
    { string: "text", array: "a list", object: "a mapping", boolean: "true or false", integer: "a whole number" }[
      type
    ] ?? type
  );
}

function describe(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  return (
    { string: "text", object: "a mapping", boolean: "true or false" }[typeof value as string] ?? `the number ${value}`
  );
}
