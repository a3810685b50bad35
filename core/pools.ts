import { formatAddress, formatPrefix } from "./address.ts";
import {
  type Allocation,
  describeSubnet,
  importedSet,
  type PoolRecord,
  type Snapshot,
  sameSubnet,
} from "./allocation.ts";
import { formatBlock, holds, intervalOf, lastOf } from "./block.ts";
import { besidesAt, byCodeUnit, IpamError, type Issue, placed } from "./errors.ts";
import { hasGateway, type Pool } from "./pool.ts";
import { anotherPool } from "./pool-words.ts";
import { covers, type Interval, indexAt, intersect, overlaps } from "./range.ts";
import { listed } from "./words.ts";

/**
 * Pools of one network never share an address, a recorded pool keeps its prefix and network, and what other sets hold
 * is not given away; what becomes of a set's own lines is for its plan to say.
 * Throws IpamError `invalid` (two pools of one name), `in-use` or `overlap` (of pools, then of what is recorded), each
 * with every case.
 */
export function checkPools(pools: readonly Pool[], snapshot: Snapshot, set = "default"): void {
  const configured = new Map(pools.map((pool) => [pool.name, pool]));
  refuse("invalid", twice(pools, configured));
  refuse("in-use", changed(configured, snapshot.pools));
  refuse("overlap", overlapping(pools));
  refuse("overlap", recordedInside(pools, configured, snapshot));
  refuse("in-use", givenAway(configured, snapshot, set));
}

function refuse(code: "invalid" | "in-use" | "overlap", issues: readonly Issue[]): void {
  if (issues.length > 0)
    throw new IpamError(
      code,
      issues.toSorted((a, b) => byCodeUnit(a.message, b.message)),
    );
}

function twice(pools: readonly Pool[], configured: ReadonlyMap<string, Pool>): Issue[] {
  return pools
    .filter((pool) => configured.get(pool.name) !== pool)
    .map((pool) => ({ message: `pool ${pool.name} is defined twice`, ...placed(pool.at?.(["range"])) }));
}

function changed(configured: ReadonlyMap<string, Pool>, recorded: readonly PoolRecord[]): Issue[] {
  return recorded.flatMap((record) => {
    const pool = configured.get(record.name);
    if (pool === undefined || sameSubnet(pool, record)) return [];
    const isWider = pool.network === record.network && covers([pool.prefix], [record.prefix]);
    const [now, then] = [pool, record].map(({ prefix }) => formatPrefix(prefix));
    const wider = isWider ? ` If the subnet became wider, say so in the record as well: ${now}, not ${then}.` : "";
    return {
      message: `pool ${pool.name} is ${describeSubnet(pool)}, but its allocations were made in ${describeSubnet(record)}`,
      ...placed(pool.at?.(inCidr)),
      hint: `Restore it and add ${anotherPool(pool)}.${wider}`,
    };
  });
}

/** Every pair in one network that shares addresses, by one sweep over the starts. */
function overlapping(pools: readonly Pool[]): Issue[] {
  const sorted = [...pools].sort((a, b) =>
    a.prefix.first === b.prefix.first ? byCodeUnit(a.name, b.name) : a.prefix.first < b.prefix.first ? -1 : 1,
  );
  return sorted.flatMap((a, i) => {
    const issues: Issue[] = [];
    for (let j = i + 1; j < sorted.length; j++) {
      const b = sorted[j] as Pool;
      if (b.prefix.first > a.prefix.last) break;
      if (a.network === b.network && overlaps(a.range, b.range)) issues.push(overlapOf(a, b));
    }
    return issues;
  });
}

/**
 * Recorded addresses in the range of another pool of their network: their own pool shrank, was renamed, or is
 * configured elsewhere (then its range is not known here, but its addresses are). One issue for each pair of pools.
 */
function recordedInside(pools: readonly Pool[], configured: ReadonlyMap<string, Pool>, snapshot: Snapshot): Issue[] {
  const networks = new Map(snapshot.pools.map((record) => [record.name, record.network]));
  const poolAt = finder(pools);
  const found = new Map<string, Issue>();
  for (const line of [...snapshot.allocations, ...snapshot.releasing]) {
    const own = configured.get(line.pool);
    if (own !== undefined && holds(own.range, line)) continue;
    const pool = poolAt(networks.get(line.pool) as string, line, own);
    if (pool === undefined || found.has(`${pool.name} ${line.pool}`)) continue;
    const recorded = `${formatBlock(line)} is recorded for ${line.claim}`;
    found.set(`${pool.name} ${line.pool}`, {
      message: `${share(pool.name, line.pool, pool.network)}: ${recorded}`,
      ...placed(pool.at?.(inCidr)),
      hint: own === undefined ? renamed : apart,
    });
  }
  return [...found.values()];
}

/** Addresses that live lines of other sets hold, and their own pool has for the gateway or the controller. */
function givenAway(configured: ReadonlyMap<string, Pool>, snapshot: Snapshot, set: string): Issue[] {
  return snapshot.allocations.flatMap((line): Issue[] => {
    const pool = line.set === set ? undefined : configured.get(line.pool);
    if (pool === undefined) return [];
    const isGateway = hasGateway(pool, line);
    if (!isGateway && !overlaps(pool.clusterRange, [intervalOf(line)])) return [];
    const use = isGateway ? "is its gateway" : "lies in its clusterRange";
    return [
      {
        ...placed(pool.at?.([isGateway ? "gateway" : "clusterRange"])),
        message: `pool ${pool.name}: ${formatBlock(line)} ${use}, but is recorded for ${line.claim} (set ${line.set})`,
        ...(line.set === importedSet
          ? { hint: "Name another one in the pool, or free it once its node no longer has it.", remedy: ["release"] }
          : { hint: "Name another one in the pool, or let that set release the address first." }),
      },
    ];
  });
}

/** Finds the pool of a network, other than a line's own, in whose range a line is or reaches. Takes time with the logarithm of the pools, which share none. */
function finder(pools: readonly Pool[]): (network: string, line: Allocation, own?: Pool) => Pool | undefined {
  const intervals = pools.flatMap((pool) => pool.range.map((interval) => ({ ...interval, pool })));
  intervals.sort((a, b) => (a.first < b.first ? -1 : 1));
  const byNetwork = Map.groupBy(intervals, ({ pool }) => pool.network);
  return (network, line, own) => {
    const list = byNetwork.get(network) ?? [];
    const last = lastOf(line);
    let i = indexAt(list, line.address);
    while (list[i]?.pool === own && own !== undefined) i++;
    const found = list[i];
    return found !== undefined && found.first <= last ? found.pool : undefined;
  };
}

const renamed =
  "A recorded pool keeps its name: if this is the same one, renamed or split, give it that name. Else keep their ranges apart.";

const apart = "Give them separate ranges, or name the networks they belong to (spec.network).";

const inCidr = ["range", "cidr"];

/** The pool that is named second is the place; the first one is named in the message. */
function overlapOf(a: Pool, b: Pool): Issue {
  const both = listed(intersect(a.range, b.range).map(rangeText));
  return {
    message: `${share(a.name, b.name, a.network)}: ${both}${besidesAt(a.name, a.at?.(inCidr))}`,
    ...placed(b.at?.(inCidr)),
    hint: apart,
  };
}

function share(a: string, b: string, network: string): string {
  return `pools ${a} and ${b} of network ${network} share addresses`;
}

function rangeText({ first, last }: Interval): string {
  return first === last ? formatAddress(first) : `${formatAddress(first)} to ${formatAddress(last)}`;
}
