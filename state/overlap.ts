import { byCodeUnit, compareAddresses, type PoolRecord, sameSubnet } from "../core/index.ts";

/** Returns whether two pools of different subnets share addresses. */
export function overlap(a: PoolRecord, b: PoolRecord): boolean {
  return (
    a.network === b.network && !sameSubnet(a, b) && a.prefix.first <= b.prefix.last && b.prefix.first <= a.prefix.last
  );
}

/** Two pools of different subnets that share addresses, if there are any. */
export function overlapping(pools: readonly PoolRecord[]): readonly [PoolRecord, PoolRecord] | undefined {
  const byStart = [...pools].sort(
    (a, b) =>
      byCodeUnit(a.network, b.network) ||
      compareAddresses(a.prefix.first, b.prefix.first) ||
      a.prefix.length - b.prefix.length,
  );
  let widest: PoolRecord | undefined;
  for (const pool of byStart) {
    if (widest !== undefined && overlap(widest, pool)) return [widest, pool];
    if (widest?.network !== pool.network || widest.prefix.last < pool.prefix.last) widest = pool;
  }
  return undefined;
}
