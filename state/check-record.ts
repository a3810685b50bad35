import { type Allocation, byAddress, formatBlock, formatPrefix, lastOf, type PoolRecord } from "../core/index.ts";

/** A line of a record: what it says, and where it stands. */
export interface Line<T> {
  readonly value: T;
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
}

/** The lines of a record, each well formed by itself. */
export interface Lines {
  readonly pools: readonly Line<PoolRecord>[];
  readonly allocations: readonly Line<Allocation>[];
  readonly releasing: readonly Line<Allocation>[];
}

/** Stops at the first line that breaks an invariant of the record; see `decode`. */
export function checkRecord(lines: Lines, fail: (line: Line<unknown>, why: string) => never): void {
  const pools = checkPools(lines.pools, fail);
  checkList(lines.allocations, pools, fail);
  checkList(lines.releasing, pools, fail);
  checkClaims(lines.allocations, fail);
  checkAddresses([...lines.allocations, ...lines.releasing], pools, fail);
}

type Fail = (line: Line<unknown>, why: string) => never;

function checkPools(lines: readonly Line<PoolRecord>[], fail: Fail): Map<string, PoolRecord> {
  const pools = new Map<string, PoolRecord>();
  let last = "";
  for (const line of lines) {
    if (pools.has(line.value.name)) fail(line, "records a pool a second time");
    if (line.value.name < last) fail(line, "is out of order");
    last = line.value.name;
    pools.set(last, line.value);
  }
  return pools;
}

/** Sorted by address, each in its pool's prefix. */
function checkList(lines: readonly Line<Allocation>[], pools: ReadonlyMap<string, PoolRecord>, fail: Fail): void {
  let previous: Allocation | undefined;
  for (const line of lines) {
    const { address, pool: name } = line.value;
    const pool = pools.get(name);
    if (pool === undefined) fail(line, `names pool ${name}, which is not recorded above`);
    else if (address < pool.prefix.first || lastOf(line.value) > pool.prefix.last)
      fail(line, `holds ${formatBlock(line.value)}, outside ${formatPrefix(pool.prefix)} of pool ${name}`);
    const order = previous === undefined ? -1 : byAddress(previous, line.value);
    if (order === 0) fail(line, `gives ${formatBlock(line.value)} away again; ${previous?.claim} holds it`);
    if (order > 0) fail(line, "is out of order");
    previous = line.value;
  }
}

/** A claim has one live address in a pool. */
function checkClaims(lines: readonly Line<Allocation>[], fail: Fail): void {
  const claims = new Map<string, Set<string>>();
  for (const line of lines) {
    const { pool, claim } = line.value;
    const known = claims.get(pool) ?? new Set();
    if (known.has(claim)) fail(line, `gives claim ${claim} a second address`);
    claims.set(pool, known.add(claim));
  }
}

/** No two lines of a network share an address, live and releasing together. */
function checkAddresses(lines: readonly Line<Allocation>[], pools: ReadonlyMap<string, PoolRecord>, fail: Fail): void {
  /** The last line of each network so far: as none of them overlap, it reaches furthest. */
  const holders = new Map<string, Allocation>();
  for (const line of [...lines].sort((a, b) => byAddress(a.value, b.value))) {
    const { address, length, claim, pool } = line.value;
    const network = (pools.get(pool) as PoolRecord).network;
    const holder = holders.get(network);
    if (holder !== undefined && lastOf(holder) >= address) {
      const what = holder.address === address && holder.length === length ? "it too" : formatBlock(holder);
      fail(line, `gives ${formatBlock(line.value)} to ${claim}; ${holder.claim} holds ${what}`);
    }
    holders.set(network, line.value);
  }
}
