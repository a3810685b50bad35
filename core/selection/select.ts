import { type Family, familyOf } from "../address.ts";
import { byCodeUnit } from "../errors.ts";
import { partition } from "../partition.ts";
import type { Pool } from "../pool.ts";
import { mayMeetAll, nodesReaching, nodesWith } from "./node-rules.ts";
import type { PoolRules } from "./pool-rules.ts";
import { type Labels, meets, type PoolLabelSelector } from "./pool-selector.ts";

/** A pool that may be selected. */
export interface Selectable {
  readonly pool: Pick<Pool, "name" | "prefix">;
  readonly rules: PoolRules;
  readonly isTerminating: boolean;
  /** How many addresses it has: all of its range, those that are not excluded, those of these that are not reserved, and those of these that nobody has. */
  readonly room: Readonly<Record<"all" | "usable" | "unreserved" | "free", bigint>>;
}

/** Where candidates come from, the highest first. */
export const poolSources = ["subnet", "workload", "namespace", "network", "cluster"] as const;
/** Where a candidate comes from. */
export type PoolSource = (typeof poolSources)[number];

/** Names of pools as somebody writes them: those of one family, or of either. A name may have wildcards. */
export type NamedPools = Partial<Readonly<Record<4 | 6 | "any", readonly string[]>>>;

/** The pools that each source names, in its order. `cluster` is what the pools say themselves. */
export type NamedBySource = Partial<Readonly<Record<Exclude<PoolSource, "cluster">, NamedPools>>>;

/** The source that counts, alone: the first one that names a pool, be it of one family; else the cluster. */
export function countingSource(named: NamedBySource): PoolSource {
  const namesAny = (one: PoolSource) =>
    one !== "cluster" && Object.values(named[one] ?? {}).some((names) => names.length > 0);
  return poolSources.find(namesAny) ?? "cluster";
}

/** The owner that asks for an address on one NIC. */
export interface PoolRequest {
  readonly family: Family;
  readonly namespace: { readonly name: string; readonly labels: Labels };
  /** The labels of the pod. */
  readonly labels: Labels;
  /** What the pod says of the labels of its node. Others that may have, or not. */
  readonly nodeSelector: Labels;
  /** The NetworkAttachmentDefinition of the NIC, as `namespace/name`; absent for the network that all pods have. */
  readonly network?: string;
  readonly named: NamedBySource;
}

/** What became of a pool, in the order in which they are tried; those that are not tried come after. */
export interface Verdict {
  readonly pool: string;
  readonly source: PoolSource;
  /** From 1; absent where it is not tried. */
  readonly place?: number;
  /** The rules by which it comes before others; or why it is not tried. */
  readonly why: readonly string[];
}

/**
 * Which pools are tried for a NIC, and in which order: candidates, filter, sort. Pure.
 *
 *  candidates: of the sources subnet, workload, namespace, network, cluster (pools with `default`), the first one that names a pool
 *  replaces all others, also if each of its pools is dropped then.
 *
 *  a pool is dropped if it        | because
 *  -------------------------------+-----------------------------------------------
 *  is being deleted               | what it has is on its way out
 *  has `disable`                  | somebody says so
 *  is of the other family         | each family is selected by itself
 *  is for other nodes             | `nodeName`, or else `nodeAffinity`, as far as `nodeSelector` of the pod tells
 *  is for other namespaces        | `namespaceName`, or else `namespaceAffinity`
 *  is for other pods              | `podAffinity`
 *  is for other networks          | `multusName`
 *  has no address to give         | all are excluded, reserved, or somebody's
 *
 *  sort: a pool with an earlier one of these rules comes first, whatever later ones others have: podAffinity, nodeName, nodeAffinity,
 *  namespaceName, namespaceAffinity, multusName. Pools with the same rules stay in the order of their source; those of the cluster
 *  come by name.
 */
export function selectPools(request: PoolRequest, pools: readonly Selectable[]): Verdict[] {
  const source = countingSource(request.named);
  const judged = candidatesOf(source, request, pools).map((one) => ({
    name: one.name,
    rules: one.found?.rules ?? {},
    not: whyDropped(one, request),
  }));
  const passed = poolSources.slice(poolSources.indexOf(source) + 1);
  const [tried, dropped] = partition(judged, ({ not }) => not === undefined);
  const notAsked = `not asked: ${wordsOf[source]} come first`;
  return [
    ...tried
      .toSorted((a, b) => byRules(a.rules, b.rules))
      .map(({ name, rules }, i) => ({
        ...{ pool: name, source, place: i + 1 },
        why: ranked.filter((rule) => has(rules, rule)),
      })),
    ...passed.flatMap((one) =>
      candidatesOf(one, request, pools).map(({ name }) => ({ pool: name, source: one, why: [notAsked] })),
    ),
    ...dropped.map(({ name, not }) => ({ pool: name, source, why: [`dropped: ${not}`] })),
  ];
}

/** How people call what a source names. */
const wordsOf = {
  subnet: "subnets of the pod",
  workload: "pools of the pod",
  namespace: "pools of the namespace",
  network: "pools of the network",
  cluster: "default pools",
} as const;

/** A name that a source gives, and the pool, if there is one. */
interface Candidate {
  readonly name: string;
  readonly found?: Selectable | undefined;
}

/**
 * In the order of the source, each once.
 *
 *  who names it                     | candidates are
 *  ---------------------------------+---------------------------------------------------------------
 *  the cluster, a name with         | those of the family
 *   wildcards, as file names in a   |
 *   shell have                      |
 *  a name alone, of either family   | the pool, unless it is of the other one
 *  a name alone, of this family     | the pool: one of the other family is dropped, with a word
 */
function candidatesOf(
  source: PoolSource,
  { named, family }: PoolRequest,
  pools: readonly Selectable[],
): readonly Candidate[] {
  const isOf = ({ pool }: Selectable) => familyOf(pool.prefix.first) === family;
  const candidate = (found: Selectable): Candidate => ({ name: found.pool.name, found });
  const inOrder = (isMeant: (one: Selectable) => boolean) =>
    pools
      .filter((one) => isMeant(one) && isOf(one))
      .sort((a, b) => byCodeUnit(a.pool.name, b.pool.name))
      .map(candidate);
  if (source === "cluster") return inOrder(({ rules }) => rules.default === true);
  const { any = [], [family]: own = [] } = named[source] ?? {};
  if (own.length + any.length === 0) return [];
  const byName = new Map(pools.map((one) => [one.pool.name, one]));
  const called = (name: string): Candidate[] =>
    hasWildcards(name) ? inOrder(({ pool }) => isCalled(pool.name, name)) : [{ name, found: byName.get(name) }];
  const all = [
    ...own.flatMap(called),
    ...any.flatMap(called).filter(({ found }) => found === undefined || isOf(found)),
  ];
  const seen = new Set<string>();
  return all.filter(({ name }) => !seen.has(name) && seen.add(name));
}

/** Returns whether a name has wildcards. */
export function hasWildcards(name: string): boolean {
  return /[*?[]/.test(name);
}

/** Returns whether a name, which may have wildcards, matches a pool. */
export function isCalled(pool: string, name: string): boolean {
  return hasWildcards(name) ? patternOf(name).test(pool) : pool === name;
}

function patternOf(glob: string): RegExp {
  const parts = glob.match(/\*|\?|\[[^\]]*\]|./gs) ?? [];
  const text = parts.map((part) => {
    if (part === "*") return ".*";
    if (part === "?") return ".";
    return part.length > 1 ? part.replaceAll("\\", "") : part.replace(/\W/, "\\$&");
  });
  return new RegExp(`^${text.join("")}$`, "s");
}

/** Why a candidate is not tried; undefined if it is. */
function whyDropped({ found }: Candidate, request: PoolRequest): string | undefined {
  if (found === undefined) return "there is no pool of this name";
  const { pool, rules, isTerminating, room } = found;
  const { family, nodeSelector, namespace, labels, network } = request;
  if (isTerminating) return "it is being deleted";
  if (rules.disable) return "it is disabled";
  if (familyOf(pool.prefix.first) !== family) return `it has no IPv${family}`;
  if (!mayMeetAll([...nodesWith(nodeSelector), ...nodesReaching(found)]))
    return `it is not for nodes with ${Object.entries(nodeSelector)
      .map((label) => label.join("="))
      .join(",")}`;
  if (!serves(namespace, rules.namespaceName, rules.namespaceAffinity))
    return `it is not for namespace ${namespace.name}`;
  if (rules.podAffinity !== undefined && !meets(labels, rules.podAffinity))
    return "it is not for pods with these labels";
  if (has(rules, "multusName") && !rules.multusName?.includes(`${network}`))
    return `it is not for network ${network ?? "of all pods"}`;
  return whyFull(room);
}

/** A list of names counts before a selector. */
function serves(
  { name, labels }: { readonly name: string; readonly labels: Labels },
  names: readonly string[] = [],
  selector: PoolLabelSelector = {},
): boolean {
  return names.length > 0 ? names.includes(name) : meets(labels, selector);
}

/** Returns why a pool has no address to allocate; undefined if it has one. */
export function whyFull({ all, usable, unreserved, free }: Selectable["room"]): string | undefined {
  if (usable === 0n) return `all of its ${all} addresses are excluded`;
  if (unreserved === 0n) return `all of its ${usable} addresses are reserved`;
  return free === 0n ? `exhausted (0 of ${usable} free)` : undefined;
}

/** The rules that put a pool before others, the strongest first. */
const ranked = ["podAffinity", "nodeName", "nodeAffinity", "namespaceName", "namespaceAffinity", "multusName"] as const;

function has(rules: PoolRules, rule: (typeof ranked)[number]): boolean {
  const value = rules[rule];
  return Array.isArray(value) ? value.length > 0 : value !== undefined;
}

function byRules(a: PoolRules, b: PoolRules): number {
  const rule = ranked.find((one) => has(a, one) !== has(b, one));
  return rule === undefined ? 0 : has(a, rule) ? -1 : 1;
}
