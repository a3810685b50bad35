import { CST, Lexer } from "yaml";
import {
  type Address,
  contains,
  familyOf,
  IpamError,
  type Issue,
  type Pool,
  parseAddress,
  parsePrefix,
  type Range,
  rangeOf,
  type Use,
} from "../core/index.ts";
import { partition } from "../core/partition.ts";
import { isCsv, readCsv } from "../schema/csv.ts";
import { type Evidence, emptyFindings } from "../schema/findings.ts";
import { kindPattern } from "../schema/kind-pattern.ts";
import { namelessIn } from "../schema/nameless.ts";
import type { ClusterNode } from "../schema/node.ts";
import { type LocatedObject, misspeltKind } from "../schema/objects.ts";
import { isJson, linesOf, objectsIn, placeIn } from "../schema/objects-in-text.ts";
import { isTemplated } from "../schema/template.ts";
import { type Chunk, refuseConflicts, type SourceFile, splitDocuments } from "../schema/yaml.ts";
import { readersOfUses, usesOf } from "./desired.ts";
import { integrations, readKinds, tellingKinds, tellingWords, tellsAddresses } from "./integrations.ts";

/**
 * Every address of these pools that files use, of whatever kind they are. What policies and NodeNetworkStates configure
 * has an owner, the policy itself where its nodes are not known, and so has a line of CSV (`node,interface,address`); every
 * other text that reads as an address (not as a prefix, and not in a YAML comment) has none: a mention. NodeIPPools and
 * NodeNetworkStates mention nothing, and nobody mentions what the same document configures, or writes out for a NIC or
 * family that is off. `elsewhere` is what has an owner, but is in none of the pools. Linear in the text. Throws IpamError
 * `invalid` for broken addresses in reports and our own policies, kinds that are nearly ours, and objects of kinds that tell of
 * addresses and cannot be read.
 */
export function findUses(
  files: readonly SourceFile[],
  pools: readonly Pool[],
  nodes: readonly ClusterNode[],
): Evidence & { readonly elsewhere: readonly Use[] } {
  refuseConflicts(files, ours());
  const { issues, elsewhere, ...evidence } = findReadable(files, pools, nodes);
  if (issues.length > 0) throw new IpamError("invalid", issues);
  return { ...evidence, elsewhere };
}

/** Returns the same of all that can be read, and as `issues` what `findUses` throws for the rest. */
export function findReadable(
  files: readonly SourceFile[],
  pools: readonly Pool[],
  nodes: readonly ClusterNode[],
): Evidence & { readonly elsewhere: readonly Use[]; readonly issues: readonly Issue[] } {
  const like = ours();
  const read = readKinds();
  const foreign = new Set(read.flatMap(({ kind, runsAsIs }) => (runsAsIs ? kind : [])));
  const stated = kindPattern(tellingKinds().filter((kind) => !foreign.has(kind)));
  const scope = new Scope(pools);
  const readers = readersOfUses(integrations, nodes);
  const all = emptyFindings();
  const [lists, texts] = partition(files, isCsv);
  for (const list of lists) readCsv(list, all);
  for (const chunk of texts.flatMap(splitDocuments)) {
    const tokens = tokensIn(chunk.text, scope);
    if (tokens.length === 0 && !tellsAddresses(chunk.text)) continue;
    const nameless = namelessIn(chunk, read)?.source;
    const objects =
      nameless !== undefined ? { value: [nameless] } : like.test(chunk.text) ? objectsIn(chunk) : { value: [] };
    for (const { object, at } of objects.value ?? []) {
      const message = misspeltKind(object);
      if (message !== undefined) all.issues.push({ message, at: at(["kind"], String(object.kind)) });
    }
    // Whoever passes it over would say of its addresses that nobody uses them.
    const isStated = tellsAddresses(chunk.text) && stated.test(chunk.text) && !isTemplated(chunk.text);
    if (objects.issues && isStated) all.issues.push(...objects.issues);
    const configured = (objects.value ?? []).flatMap((object) => usesOf(object, readers, all));
    const known = new Set([...configured.map((use) => use.address), ...all.idle]);
    all.idle.clear();
    const others = tokens.filter(({ address }) => !known.has(address));
    const mentions = mentionsIn(chunk, others, objects.value, scope);
    for (const use of [...configured, ...mentions]) all.uses.push(use);
  }
  const [uses, elsewhere] = partition(all.uses, (use) => scope.holds(use.address));
  return { ...all, uses, elsewhere };
}

/** What is more to us than a text, and what may be meant for it. */
function ours(): RegExp {
  return new RegExp(`\\b(?:${["NodeIPPool", ...tellingWords()].join("|")})(?:List)?\\b|\\bnmstate\\.io/v`);
}

/** The addresses of some pools. Most texts are told apart from them without being parsed. */
class Scope {
  private readonly ranges: ReadonlyMap<number, Range>;
  /** First 16 bits of the IPv6 pools; undefined if that many are not the same in the whole of one. */
  private readonly heads: ReadonlySet<number> | undefined;
  readonly hasIPv6: boolean;

  constructor(pools: readonly Pool[]) {
    const families = Map.groupBy(pools, (pool) => familyOf(pool.start));
    this.ranges = new Map([...families].map(([family, list]) => [family, rangeOf(...list.flatMap((p) => p.range))]));
    const six = families.get(6) ?? [];
    this.hasIPv6 = six.length > 0;
    const isWide = six.some((pool) => pool.prefix.length < 16);
    this.heads = isWide ? undefined : new Set(six.map((pool) => Number((pool.prefix.first >> 112n) & 0xffffn)));
  }

  holds(address: Address): boolean {
    const range = this.ranges.get(familyOf(address));
    return range !== undefined && contains(range, address);
  }

  mayHoldIPv6(text: string): boolean {
    return this.heads === undefined || this.heads.has(Number.parseInt(text, 16) || 0);
  }
}

interface Token {
  readonly address: Address;
  readonly offset: number;
}

const ipv4 = /(?<![\w.])((?:\d{1,3}\.){3}\d{1,3})(?!\w|\.\w)(\/\d{1,3}(?!\w))?/g;
const ipv6 = /(?<![\w:.])([\dA-Fa-f:]{2,})(?![\w:]|\.\w)(\/\d{1,3}(?!\w))?/g;

/** The addresses in a text that are in scope. A prefix without host bits is a network, not an address. */
function tokensIn(text: string, scope: Scope): Token[] {
  const tokens: Token[] = [];
  const add = (word: string, length: string, offset: number) => {
    const address = parseAddress(word).value;
    if (address === undefined || !scope.holds(address)) return;
    const prefix = parsePrefix(word + length).value;
    if (prefix === undefined || prefix.first !== address || prefix.first === prefix.last)
      tokens.push({ address, offset });
  };
  for (const { 1: word = "", 2: length = "", index } of text.matchAll(ipv4)) add(word, length, index);
  if (!scope.hasIPv6) return tokens;
  for (const { 1: run = "", 2: length = "", index } of text.matchAll(ipv6)) {
    // A key of a mapping: its colon is not part of it.
    const word = run.length > 45 ? "" : run.replace(/(?<!:):$/, "");
    if (word.indexOf(":") !== word.lastIndexOf(":") && scope.mayHoldIPv6(word)) add(word, length, index);
  }
  return tokens.sort((a, b) => a.offset - b.offset);
}

const silent = ["NodeIPPool", "NodeNetworkState"];

function mentionsIn(
  chunk: Chunk,
  tokens: readonly Token[],
  objects: readonly LocatedObject[] | undefined,
  scope: Scope,
) {
  const ours = objects?.filter(({ object }) => silent.includes(object.kind as string)) ?? [];
  if (ours.length > 0 && ours.length === objects?.length) return [];
  const said = new Set(ours.flatMap(({ object }) => tokensIn(JSON.stringify(object), scope)).map((t) => t.address));
  const mentions = tokens.filter(({ address }) => !said.has(address));
  if (mentions.length === 0) return [];
  const lines = linesOf(chunk.text);
  const isComment = isJson(chunk) ? () => false : commentsIn(chunk.text);
  return mentions
    .filter(({ offset }) => !isComment(offset))
    .map(({ address, offset }) => ({ address, at: placeIn(chunk, lines, offset) }));
}

/**
 * Tells for ascending offsets whether they are in a comment. The lexer knows strings and block scalars, and takes any
 * text; all that it emits stands in the text, but for marks of its own.
 */
function commentsIn(text: string): (offset: number) => boolean {
  const comments: { start: number; end: number }[] = [];
  let end = 0;
  let type: string | null = null;
  for (const source of new Lexer().lex(text)) {
    type = type === "scalar" ? "text" : CST.tokenType(source);
    if (!text.startsWith(source, end)) continue;
    const start = end;
    end += source.length;
    if (type === "comment") comments.push({ start, end });
  }
  let i = 0;
  return (offset) => {
    while ((comments[i]?.end ?? Infinity) <= offset) i++;
    return (comments[i]?.start ?? Infinity) <= offset;
  };
}
