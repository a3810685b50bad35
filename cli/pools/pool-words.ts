import {
  type Allocation,
  familyOf,
  formatAddress,
  formatPrefix,
  freeSpaceOf,
  isPlanned,
  isSingle,
  minus,
  neverAutomatic,
  type Pool,
  sizeOf,
} from "../../core/index.ts";
import { plain } from "../terminal.ts";
import type { PoolView } from "./pools.ts";

/** How full a pool is with these lines in it. `reserved`: kept for owners who hold nothing yet. */
export function usage(pool: Pool, lines: readonly Allocation[]) {
  const forAny = freeSpaceOf(pool, pool.automatic, lines);
  const forNamed = freeSpaceOf(pool, minus(pool.assignable, neverAutomatic(pool.prefix)), lines);
  const { capacity } = freeSpaceOf(pool, pool.assignable);
  return { capacity, reserved: forNamed.free - forAny.free, free: forAny.free };
}

/** Where a pool is, what there is to know of it, and how full it is, also with lines that a plan adds. */
export function wordsOn(
  { record, pool, live, releasing }: Omit<PoolView, "at">,
  fresh: readonly Allocation[] = [],
): { place: string; about: string[]; counts: string[] } {
  const some = (number: number | bigint, what: string) => (number > 0 ? [`${count(BigInt(number))} ${what}`] : []);
  const network = record.network === "default" ? [] : [`network ${plain(record.network)}`];
  const order = pool === undefined || pool.allocationOrder === "Lowest" ? [] : [`order ${pool.allocationOrder}`];
  const counts = [`${live.length} held`, ...some(releasing.length, "releasing"), ...some(fresh.length, "new")];
  if (pool === undefined)
    return { place: formatPrefix(record.prefix), about: [...network, "not defined here"], counts };
  const place = describePool(pool);
  if (!isPlanned(pool))
    return { place, about: [...network, ...order, "only the controller allocates from it"], counts };
  const { capacity, reserved, free } = usage(pool, [...live, ...releasing, ...fresh]);
  return {
    place,
    about: [...network, ...order, `${count(capacity)} usable`],
    counts: [...counts, ...some(reserved, "reserved"), `${count(free)} free`],
  };
}

/** A number of addresses; of those nobody counts, the order of magnitude. */
export function count(addresses: bigint): string {
  return addresses < 100_000_000n ? `${addresses}` : Number(addresses).toExponential(1).replace("e+", "e");
}

/** `10.10.10.0/24 .1-.10 less 2` */
function describePool(pool: Pool): string {
  const intervals = pool.range.map(({ first, last }) => {
    const short = (address: typeof first) => {
      const text = formatAddress(address);
      return familyOf(address) === 4 && pool.prefix.length >= 24 ? text.slice(text.lastIndexOf(".")) : text;
    };
    return first === last ? short(first) : `${short(first)}-${short(last)}`;
  });
  const excluded = sizeOf(pool.range) - sizeOf(pool.assignable);
  const isOfBlocks = !isSingle({ address: pool.prefix.first, length: pool.blockLength });
  return [
    formatPrefix(pool.prefix),
    ...(isOfBlocks ? [`in blocks of /${pool.blockLength}`] : []),
    ...(isWhole(pool) ? [] : [intervals.join(", ")]),
    ...(excluded > 0n ? [`less ${count(excluded)}`] : []),
  ].join(" ");
}

/** Returns whether a pool has a whole IPv6 prefix. Its last address is not worth reading then. */
function isWhole({ prefix, range: [only, ...others] }: Pool): boolean {
  if (only === undefined || others.length > 0 || familyOf(prefix.first) === 4) return false;
  return only.first <= prefix.first + 1n && only.last === prefix.last;
}
