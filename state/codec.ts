import { createHash } from "node:crypto";
import {
  type Allocation,
  formatAddress,
  formatBlock,
  formatPrefix,
  IpamError,
  isPlain,
  type PoolRecord,
  parseAddress,
  parseBlock,
  parseClaimKey,
  parsePrefix,
  type Snapshot,
} from "../core/index.ts";
import { checkRecord, type Line, type Lines } from "./check-record.ts";
import { refuseMarked } from "./mark.ts";

/** What a record says, without the tokens that are made of it. */
export type Content = Omit<Snapshot, "base" | "unreadable" | "full">;

/** The first line of every lock. */
export const heading = "# Written by nodeippool. Review it like code.";

/** The text of a record: valid YAML, one line of JSON for each pool and allocation, sorted by address. */
export function encode(record: Omit<Snapshot, "base">): string {
  return join(writeLines(record));
}

/** The lines of a record as they are written. */
interface Written {
  readonly pools: readonly string[];
  readonly allocations: readonly string[];
  readonly releasing: readonly string[];
}

function writeLines({ pools, allocations, releasing }: Content): Written {
  return {
    pools: pools.map(poolLine),
    allocations: allocations.map(liveLine),
    releasing: releasing.map((line) => allocationLine(line, true)),
  };
}

function join(written: Written): string {
  const sections = (["pools", "allocations", "releasing"] as const).flatMap((name) =>
    written[name].length === 0 ? [`${name}: []`] : [`${name}:`, ...written[name]],
  );
  return [heading, "version: 1", ...sections, ""].join("\n");
}

export function poolLine({ name, prefix, network, last }: PoolRecord): string {
  return `- ${JSON.stringify({
    pool: name,
    cidr: formatPrefix(prefix),
    network: network === "default" ? undefined : network,
    last: last === undefined ? undefined : formatAddress(last),
  })}`;
}

/** A line says itself that it is releasing: a merge can carry it across the border of a section. */
export function allocationLine(line: Allocation, releasing = false): string {
  return `- ${JSON.stringify({
    address: formatBlock(line),
    pool: line.pool,
    claim: line.claim,
    set: line.set === "default" ? undefined : line.set,
    interface: line.interface,
    uid: line.uid,
    releasing: releasing ? true : undefined,
  } satisfies Record<Exclude<keyof Allocation, "length"> | "releasing", unknown>)}`;
}

/** What live lines are written as: a record is written far more often than most of its lines change. */
const known = new WeakMap<Allocation, string>();

function liveLine(line: Allocation): string {
  const text = known.get(line) ?? allocationLine(line);
  known.set(line, text);
  return text;
}

/** A record with the tokens of its pools. */
export function snapshotOf(record: Content, written = writeLines(record)): Snapshot {
  const content = new Map(record.pools.map((pool, i) => [pool.name, [written.pools[i]]]));
  for (const list of ["allocations", "releasing"] as const)
    record[list].forEach((line, i) => {
      content.get(line.pool)?.push(written[list][i]);
    });
  const hash = (lines: readonly unknown[]) => createHash("sha256").update(lines.join("\n")).digest("base64url");
  return { ...record, base: new Map([...content].map(([pool, lines]) => [pool, hash(lines)])) };
}

/**
 * Reads the text of a record and checks every invariant: known form, order, pools recorded, addresses inside their
 * prefix, no two blocks of a network that share an address, a claim once per pool. So a text that two branches made together can fail
 * to be read, but can never hold a duplicate. Throws IpamError `corrupt` with `file:line` of the first broken line; a
 * record that is moving or has moved elsewhere is `unavailable` or `stale`.
 */
export function decode(text: string, file: string): Snapshot {
  refuseMarked(text, file);
  const lines = readLines(text, file);
  checkRecord(lines, (line, why) => fail(file, line.line, line.text, why));
  const { allocations, releasing } = lines;
  const used = new Set([...allocations, ...releasing].map(({ value }) => value.pool));
  const pools = lines.pools.filter(({ value }) => used.has(value.name));
  return snapshotOf(
    { pools: pools.map(contentOf), allocations: allocations.map(contentOf), releasing: releasing.map(contentOf) },
    // Every line stands as it would be written, or it would not have been read.
    { pools: pools.map(textOf), allocations: allocations.map(textOf), releasing: releasing.map(textOf) },
  );
}

function contentOf<T>(line: Line<T>): T {
  return line.value;
}

function textOf(line: Line<unknown>): string {
  return line.text;
}

/** Reads the form of a record; `checkRecord` checks its sense. */
function readLines(text: string, file: string): Lines {
  // As editors of Windows write it.
  const all = text.replaceAll(/^\uFEFF|\r(?=\n)/g, "").split("\n");
  let at = 0;
  const failHere = (why: string): never => fail(file, Math.min(at, all.length - 1) + 1, all[at] ?? "", why);
  const expect = (line: string, why: string) => {
    if (all[at] !== line) failHere(why);
    at++;
  };
  const list = <T>(name: string, read: (line: string) => T | string): Line<T>[] => {
    const found: Line<T>[] = [];
    if (all[at] === `${name}: []`) {
      at++;
      return found;
    }
    expect(`${name}:`, `should be \`${name}:\``);
    for (let line = all[at]; line?.startsWith("- "); line = all[++at]) {
      const value = read(line);
      if (typeof value === "string") return failHere(value);
      found.push({ value, line: at + 1, text: line });
    }
    return found;
  };

  while (all[at]?.startsWith("#")) at++;
  refuseNewer(file, at + 1, all[at] ?? "");
  expect("version: 1", "should be `version: 1`");
  const pools = list("pools", readPoolLine);
  const allocation = (isReleasing: boolean) => (line: string) => {
    const read = readAllocationLine(line);
    if (typeof read === "string" || read.releasing === isReleasing) return typeof read === "string" ? read : read.line;
    return isReleasing ? "is live, but stands under `releasing:`" : "is releasing, but stands under `allocations:`";
  };
  const allocations = list("allocations", allocation(false));
  const releasing = list("releasing", allocation(true));
  expect("", "is not part of a record");
  if (at < all.length) failHere("stands after the end of the record");
  return { pools, allocations, releasing };
}

/** One line of `pools`, or what is wrong with it. */
export function readPoolLine(line: string): PoolRecord | string {
  const fields = readFields(line);
  if (fields === undefined) return "is not a line of a record";
  const { pool: name, cidr, network = "default" } = fields;
  const prefix = parsePrefix(cidr).value;
  if (prefix === undefined) return "has no valid cidr";
  const last = fields.last === undefined ? undefined : parseAddress(fields.last).value;
  if (fields.last !== undefined && (last === undefined || last < prefix.first || last > prefix.last))
    return "has a last address that is not in its cidr";
  if (typeof name !== "string" || !isText(network) || !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name))
    return "names no pool";
  const record = { name, prefix, network: network as string, ...(last === undefined ? {} : { last }) };
  return poolLine(record) === line ? record : notOurs;
}

/** The one form of a line whose text is plain ASCII: JSON writes that as it is, so there is nothing to parse and compare. */
const ascii = String.raw`[ !#-[\]-~]+`;
const asciiLine = new RegExp(
  String.raw`^- \{"address":"(?<address>[^"]+)","pool":"(?<pool>${ascii})","claim":"(?<claim>${ascii})"` +
    `(?:,"set":"(?<set>${ascii})")?(?:,"interface":"(?<interface>${ascii})")?(?:,"uid":"(?<uid>${ascii})")?` +
    String.raw`(?:,"releasing":(?<releasing>true))?\}$`,
);

/** One line of `allocations` or `releasing`, or what is wrong with it. */
export function readAllocationLine(line: string): { line: Allocation; releasing: boolean } | string {
  const plain = asciiLine.exec(line)?.groups;
  const fields = plain ?? readFields(line);
  if (fields === undefined) return "is not a line of a record";
  const { pool, claim, set = "default", interface: nic, uid, releasing = false } = fields;
  const block = parseBlock(fields.address).value;
  if (block === undefined) return "has no valid address";
  if (typeof claim !== "string" || parseClaimKey(claim).issues) return "names no valid claim";
  if (typeof pool !== "string" || !isText(set) || !isText(nic) || !isText(uid))
    return "has a field that is not plain text";
  const optional = { ...(nic === undefined ? {} : { interface: nic }), ...(uid === undefined ? {} : { uid }) };
  const allocation = { ...block, pool, claim, set: set as string, ...optional };
  const isReleasing = releasing === (plain ? "true" : true);
  const isOurs = plain
    ? formatBlock(block) === plain.address && plain.set !== "default"
    : allocationLine(allocation, isReleasing) === line;
  return isOurs ? { line: allocation, releasing: isReleasing } : notOurs;
}

// A line has one form only, so that equal allocations are equal lines to git.
const notOurs = "is not written as nodeippool writes it";

function readFields(line: string): { readonly [field: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(line.slice(2));
    return typeof value === "object" && value !== null ? (value as { [field: string]: unknown }) : undefined;
  } catch {
    return undefined;
  }
}

function isText(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === "string" && value !== "" && isPlain(value));
}

function refuseNewer(file: string, line: number, text: string): void {
  if (Number(/^version: (\d+)$/.exec(text)?.[1] ?? 1) <= 1) return;
  const message = `a newer nodeippool wrote this (${text}); this one reads version 1`;
  throw new IpamError("corrupt", [{ message, at: { file, line, column: 1 }, hint: "Use the one that wrote it." }]);
}

function fail(file: string, line: number, text: string, why: string): never {
  const shown = text.length > 120 ? `${text.slice(0, 117)}...` : text;
  throw new IpamError("corrupt", [
    {
      message: `this line ${why}${shown === "" ? "" : `:\n  ${shown}`}`,
      at: { file, line, column: 1 },
      hint: "Restore it as it was. After a merge: merge again, and say which revision (REV) is in force.",
      remedy: ["record", "landed"],
    },
  ]);
}
