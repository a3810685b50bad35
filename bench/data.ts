import {
  type Address,
  type Allocation,
  type Claim,
  claimKey,
  FreeSpace,
  type Pool,
  parsePool,
  type Snapshot,
  unwrap,
} from "../core/index.ts";

export function poolOf(name: string, cidr: string): Pool {
  return unwrap(parsePool(name, { range: { cidr } }));
}

export function spaceOf(pool: Pool): FreeSpace {
  return new FreeSpace(pool.automatic, pool.skipsZeroAnd255);
}

/** The first addresses that a pool hands out. */
export function firstAddresses(pool: Pool, count: number): Address[] {
  const space = spaceOf(pool);
  return Array.from({ length: count }, () => space.takeLowest() as Address);
}

/** Claims as a policy makes them: two interfaces for each node, or one. */
export function claimsOn(pool: string, count: number, from = 0): Claim[] {
  return Array.from({ length: count }, (_, i) => ({
    owner: { kind: "Node", name: `node${String(from + i).padStart(7, "0")}` },
    name: `static-ip/address-from-${pool}`,
    pool,
    interface: "eth1",
  }));
}

/** The record in which each claim holds an address, in order. */
export function linesOf(pool: Pool, claims: readonly Claim[]): Allocation[] {
  const addresses = firstAddresses(pool, claims.length);
  return claims.map((claim, i) => ({
    address: addresses[i] as Address,
    length: pool.blockLength,
    pool: claim.pool,
    claim: claimKey(claim.owner, claim.name),
    set: "default",
    interface: "eth1",
  }));
}

export function snapshotOf(pools: readonly Pool[], allocations: readonly Allocation[]): Snapshot {
  const records = pools.map(({ name, prefix, network }) => ({ name, prefix, network }));
  const base = new Map(pools.map(({ name }) => [name, "token"]));
  return { pools: records, allocations, releasing: [], base };
}

/** The same numbers in every run: mulberry32, from 0 up to `limit`. */
export function random(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}
