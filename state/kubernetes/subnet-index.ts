import { byCodeUnit, describeSubnet, IpamError, type PoolRecord, sameSubnet } from "../../core/index.ts";
import { poolLine, readPoolLine } from "../codec.ts";
import { type Mark, parseMark } from "../mark.ts";
import { overlap, overlapping } from "../overlap.ts";
import { damagedMap, partName } from "./subnet-records.ts";

/*
 * The index of a record in parts. It alone says in which subnet a pool may begin, so that two writers who know nothing
 * of each other cannot begin subnets that overlap, nor one pool in two subnets. Parts are written one by one, so:
 *
 * 1. A pool without any line begins only while the index lists it, at its subnet, and while no pool that clashes with it
 *    has a line. Listing it takes all others off the list that clash with it; those are kept as `left`.
 * 2. A writer may have read the list before that and be about to begin a pool that has left since. So whoever begins a
 *    pool first changes the part of every clashing pool that has left (a fence): whatever was to be written there on
 *    top of what was read before now fails.
 * 3. A pool that has lines needs nothing but its part. Where a writer of 2. died before its fence, such a pool may be
 *    among those that have left: whoever writes next lists it again.
 */

/** Which pool is in which subnet. */
export interface Index {
  /** No two of them clash. */
  readonly pools: readonly PoolRecord[];
  /** Where pools have been that are elsewhere, or gone, because others came in their place. */
  readonly left: readonly PoolRecord[];
  /** Set while the record moves to or from another place. */
  readonly mark?: Mark;
  /** The moves that have ended here, of records that are here. */
  readonly arrived: readonly string[];
  /** The moves by which records have left, whatever came since. */
  readonly departed: readonly string[];
}

export const emptyIndex: Index = { pools: [], left: [], arrived: [], departed: [] };

/** What it takes to begin pools: an index to store, unless it is the one there is, and parts to fence. */
export interface Beginning {
  readonly index: Index;
  readonly fence: readonly PoolRecord[];
}

/** Lists pools that get their first line, or are not listed though they have some. `recorded` are those that have lines. Throws IpamError `overlap`. */
export function begin(index: Index, recorded: readonly PoolRecord[], fresh: readonly PoolRecord[]): Beginning {
  for (const [i, pool] of fresh.entries())
    for (const other of [...recorded, ...fresh.slice(0, i)])
      if (clash(pool, other))
        throw new IpamError(
          "overlap",
          `pool ${pool.name} in ${describeSubnet(pool)} overlaps pool ${other.name} in ${describeSubnet(other)}`,
          { hint: "Give both one cidr, each with a range of its own; or name the networks they belong to." },
        );
  const isFresh = (pool: PoolRecord) => fresh.some((one) => isSame(one, pool));
  const clashes = (pool: PoolRecord) => fresh.some((one) => clash(one, pool));
  const isLeaving = (pool: PoolRecord) => !isFresh(pool) && clashes(pool);
  const left = [...index.left.filter((pool) => !isFresh(pool)), ...index.pools.filter(isLeaving)];
  const isKnown = fresh.every((pool) => index.pools.some((one) => isSame(one, pool)));
  return {
    index: isKnown
      ? index
      : {
          ...index,
          pools: sorted([...index.pools.filter((p) => !isFresh(p) && !clashes(p)), ...fresh]),
          left: sorted(left),
        },
    fence: left.filter(clashes),
  };
}

/** Returns whether only one of these two may have lines. */
function clash(a: PoolRecord, b: PoolRecord): boolean {
  if (sameSubnet(a, b)) return false;
  return a.name === b.name || overlap(a, b);
}

/** A pool as the index lists it: where a pool allocated last is said in its part alone. */
export function listedLine({ name, prefix, network }: PoolRecord): string {
  return poolLine({ name, prefix, network });
}

export function isSame(a: PoolRecord, b: PoolRecord): boolean {
  return a.name === b.name && sameSubnet(a, b);
}

function sorted(pools: readonly PoolRecord[]): PoolRecord[] {
  return [...pools].sort((a, b) => byCodeUnit(a.name, b.name) || byCodeUnit(listedLine(a), listedLine(b)));
}

/** The index as data of an object. */
export function encodeIndex({ pools, left, mark, arrived, departed }: Index): Record<string, string> {
  const lines = (list: readonly PoolRecord[]) => list.map((pool) => `${listedLine(pool)}\n`).join("");
  const ids = (list: readonly string[]) => list.map((id) => `${id}\n`).join("");
  return {
    pools: lines(pools),
    ...(left.length === 0 ? {} : { left: lines(left) }),
    ...(arrived.length === 0 ? {} : { arrived: ids(arrived) }),
    ...(departed.length === 0 ? {} : { departed: ids(departed) }),
    ...(mark === undefined ? {} : { mark: JSON.stringify(mark) }),
  };
}

/** Throws IpamError `corrupt`. */
export function decodeIndex(data: Readonly<Record<string, string>> | undefined, name: string): Index {
  const { pools: list, left, arrived, departed, mark: text, ...rest } = data ?? {};
  if (list === undefined) throw broken(name, "lists no pools");
  const [more] = Object.keys(rest);
  if (more !== undefined) throw broken(name, `holds ${JSON.stringify(more)}, which is no part of it`);
  const pools = readLines(list, name);
  const twice = new Set(pools.map((pool) => pool.name)).size < pools.length;
  if (twice) throw broken(name, "lists a pool twice");
  const two = overlapping(pools);
  if (two !== undefined) throw broken(name, `lists pools ${two[0].name} and ${two[1].name}, whose subnets overlap`);
  const mark = text === undefined ? undefined : parseMark(text);
  if (text !== undefined && mark === undefined)
    throw broken(name, `holds the mark ${JSON.stringify(text.slice(0, 80))}`);
  return {
    pools,
    left: readLines(left ?? "", name),
    arrived: idsOf(arrived),
    departed: idsOf(departed),
    ...(mark === undefined ? {} : { mark }),
  };
}

function idsOf(text = ""): string[] {
  return text.split("\n").filter((line) => line !== "");
}

function readLines(text: string, name: string): PoolRecord[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const pool = readPoolLine(line);
      if (typeof pool === "string") throw broken(name, `has a line that ${pool}: ${line.slice(0, 120)}`);
      return pool;
    });
}

/** The pools of the index of this name, and of parts, that cannot be right together, each with why: somebody edited or deleted one of them. */
export function faultsOf(
  { pools, left }: Index,
  recorded: readonly PoolRecord[],
  name: string,
): (readonly [PoolRecord, IpamError])[] {
  const listed = new Set([...pools, ...left].map(listedLine));
  const unlisted = recorded.filter((pool) => !listed.has(listedLine(pool)));
  return [
    ...unlisted.map((pool) => [pool, unlistedPool(pool, name)] as const),
    ...twice(recorded).flatMap((two) => two.map((pool) => [pool, doubled(...two)] as const)),
  ];
}

/** Pairs of pools with lines that clash: the same name in two subnets, or subnets that overlap. */
function twice(recorded: readonly PoolRecord[]): (readonly [PoolRecord, PoolRecord])[] {
  const byName = [...Map.groupBy(recorded, ({ name }) => name).values()];
  const found = byName.flatMap(([a, b]) => (a === undefined || b === undefined ? [] : [[a, b] as const]));
  for (let left = [...recorded]; ; ) {
    const two = overlapping(left);
    if (two === undefined) return found;
    found.push(two);
    left = left.filter((pool) => pool !== two[1]);
  }
}

function unlistedPool(pool: PoolRecord, name: string): IpamError {
  return new IpamError(
    "corrupt",
    `${name} does not list pool ${pool.name} in ${describeSubnet(pool)}, which has addresses`,
    { hint: `Stop all writers and add this line to its pools, or take it from a backup:\n  ${listedLine(pool)}` },
  );
}

function doubled(a: PoolRecord, b: PoolRecord): IpamError {
  if (a.name === b.name) return new IpamError("corrupt", `pool ${a.name} is in both ${partName(a)} and ${partName(b)}`);
  return new IpamError("corrupt", `pools ${a.name} and ${b.name} both have addresses, and their subnets overlap`, {
    hint: "Somebody edited these objects. Find out which addresses are in use, and take the others out.",
  });
}

function broken(name: string, what: string): IpamError {
  return damagedMap(name, what, "nothing");
}
