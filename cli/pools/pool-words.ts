import {
  type Allocation,
  familyOf,
  formatAddress,
  formatPrefix,
  freeSpaceOf,
  isSingle,
  minus,
  neverAutomatic,
  type Pool,
  sizeOf,
} from "../../core/index.ts";

/** How full a pool is with these lines in it. `reserved`: kept for owners who hold nothing yet. */
export function usage(pool: Pool, lines: readonly Allocation[]) {
  const forAny = freeSpaceOf(pool, pool.automatic, lines);
  const forNamed = freeSpaceOf(pool, minus(pool.assignable, neverAutomatic(pool.prefix)), lines);
  const { capacity } = freeSpaceOf(pool, pool.assignable);
  return { capacity, reserved: forNamed.free - forAny.free, free: forAny.free };
}

/** A number of addresses; of those nobody counts, the order of magnitude. */
export function count(addresses: bigint): string {
  return addresses < 100_000_000n ? `${addresses}` : Number(addresses).toExponential(1).replace("e+", "e");
}

/** `10.10.10.0/24 .1-.10 less 2` */
export function describePool(pool: Pool): string {
  const intervals = pool.range.map(({ first, last }) => {
    const short = (address: typeof first) => {
      const text = formatAddress(address);
      return familyOf(address) === 4 && pool.prefix.length >= 24 ? text.slice(text.lastIndexOf(".")) : text;
    };
    return first === last ? short(first) : `${short(first)}-${short(last)}`;
  });
  const excluded = sizeOf(pool.range) - sizeOf(pool.assignable);
  const isOfBlocks = !isSingle({ address: pool.prefix.first, length: pool.blockLength });
  const blocks = isOfBlocks ? [`in blocks of /${pool.blockLength}`] : [];
  const words = [formatPrefix(pool.prefix), ...blocks, ...(isWhole(pool) ? [] : [intervals.join(", ")])];
  return [...words, ...(excluded > 0n ? [`less ${count(excluded)}`] : [])].join(" ");
}

/** Has it all of an IPv6 prefix? Its last address need not be read then. */
function isWhole({ prefix, range }: Pool): boolean {
  const [only, ...others] = range;
  if (only === undefined || others.length > 0 || familyOf(prefix.first) === 4) return false;
  return only.first <= prefix.first + 1n && only.last === prefix.last;
}
