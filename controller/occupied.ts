import {
  type Address,
  type Allocation,
  type Claim,
  contains,
  formatAddress,
  formatOwner,
  holds,
  intervalOf,
  lastOf,
  type MaybeBlock,
  minus,
  nodeNameOf,
  ownerOfKey,
  type Pool,
  rangeOf,
  type Snapshot,
  type Use,
  union,
} from "../core/index.ts";
import type { LinesByOwner, OwnLines } from "./lines-by-owner.ts";

/** What owners show to have beside the record. */
export interface Occupied {
  /** Addresses of a pool, or blocks, that nobody is given. */
  readonly taken: ReadonlyMap<string, readonly MaybeBlock[]>;
  /** What an owner has on a NIC, by `placeOnNic`. */
  readonly own: ReadonlyMap<string, Address>;
  /** Of a pool, what its owners have of it although it gives that to nobody: they keep it. */
  readonly outside: ReadonlyMap<string, readonly MaybeBlock[]>;
  /** Of a pool, what two have. For people. */
  readonly collisions: ReadonlyMap<string, readonly string[]>;
}

/**
 * What the reports of owners say about pools, beside the record.
 *
 *  an address of a pool is shown by | on record for | it is
 *  ---------------------------------+---------------+---------------------------------------------------------
 *  one owner                        | that owner    | nothing new
 *  one owner                        | nobody        | taken: only a claim of that owner on that NIC may get it, and
 *                                   |               |  one that the pool gives to nobody only if the report names the pool
 *  one owner, for a time (DHCP)     | nobody        | taken
 *  one owner                        | another one   | a collision
 *  several owners                   | one of them   | a collision
 *  several owners                   | nobody        | taken, and a collision
 *
 * Where a report names the pool, an address that its range has no more is one of it, too.
 */
export function occupied(pools: readonly Pool[], uses: Iterable<Use>, lines: LinesByOwner): Occupied {
  const strange = [...uses].filter(
    (use) => !hasIt(lines.of(use.owner ?? ""), use.address) && poolsWith(use, pools).length > 0,
  );
  const holders = holdersOf(new Set(strange.map(({ address }) => address)), lines.record);
  const byAddress = Map.groupBy(strange, ({ address }) => address);
  const taken = new Map<string, MaybeBlock[]>();
  const own = new Map<string, Address>();
  const outside = new Map<string, MaybeBlock[]>();
  const collisions = new Map<string, string[]>();
  for (const [address, shown] of byAddress)
    for (const pool of new Set(shown.flatMap((use) => poolsWith(use, pools)))) {
      const others = [...(holders.get(address) ?? []), ...shown.slice(1).map(({ owner }) => owner ?? "")];
      const [use] = shown as [Use];
      const other = others.find((owner) => owner !== use.owner);
      if (!holders.has(address)) push(taken, pool.name, use);
      if (other !== undefined) push(collisions, pool.name, collision(use, other));
      const isAssignable = holds(pool.assignable, use);
      if (other !== undefined || use.isTemporary || !(isAssignable || use.pool === pool.name)) continue;
      // A claim gets a block of the pool's length: of another length it is nothing that a claim can have.
      if (use.length !== undefined && use.length !== pool.blockLength) continue;
      own.set(placeOnNic(pool.name, use.owner, use.interface), address);
      if (!isAssignable) push(outside, pool.name, use);
    }
  return { taken, own, outside, collisions };
}

/** The pools that an address which is shown is of. */
function poolsWith({ address, pool: named }: Use, pools: readonly Pool[]): readonly Pool[] {
  const inRange = pools.filter(({ range }) => contains(range, address));
  // Of two networks that have the same addresses each in a space of its own, it is the one that is named.
  const own = inRange.filter(({ name }) => name === named);
  if (own.length > 0) return own;
  return inRange.length > 0
    ? inRange
    : pools.filter(({ name, prefix }) => name === named && contains([prefix], address));
}

/** The pool without what is taken, and with what its owners keep. */
export function without(pool: Pool, { taken, outside }: Occupied): Pool {
  const rangeIn = (addresses: Occupied["taken"]) => rangeOf(...(addresses.get(pool.name) ?? []).map(intervalOf));
  if (!taken.has(pool.name)) return pool;
  const automatic = minus(pool.automatic, rangeIn(taken));
  return { ...pool, automatic, assignable: union(pool.assignable, rangeIn(outside)) };
}

/** A claim asks for the address that its owner has already, on its NIC if it is for one. */
export function asOwned(claim: Claim, occupied: Occupied): Claim {
  const wanted = shownFor(claim, occupied);
  return wanted === undefined || claim.wanted !== undefined ? claim : { ...claim, wanted };
}

/** What the owner of a claim shows to have for it, beside the record. */
export function shownFor(claim: Claim, { own }: Occupied): Address | undefined {
  return own.get(placeOnNic(claim.pool, formatOwner(claim.owner), claim.interface));
}

function placeOnNic(pool: string, owner: string | undefined, nic: string | undefined): string {
  return `${pool} ${owner} ${nic}`;
}

/** Is a single address in one of these lines? A block counts with its ends. */
function hasIt({ allocations, releasing }: OwnLines, address: Address): boolean {
  const isIt = (line: Allocation) => line.address === address || lastOf(line) === address;
  return allocations.some(isIt) || releasing.some(isIt);
}

/** Who has these addresses on record; a block counts with its ends. */
function holdersOf(asked: ReadonlySet<Address>, { allocations, releasing }: Snapshot): Map<Address, Set<string>> {
  const holders = new Map<Address, Set<string>>();
  const add = (address: Address, { claim }: Allocation) => {
    if (asked.has(address)) holders.set(address, (holders.get(address) ?? new Set()).add(ownerOfKey(claim)));
  };
  for (const line of asked.size === 0 ? [] : [...allocations, ...releasing]) {
    add(line.address, line);
    if (lastOf(line) !== line.address) add(lastOf(line), line);
  }
  return holders;
}

/** The proposal's sentence, where nodes collide. */
function collision({ address, owner, interface: nic }: Use, other: string): string {
  const name = (one = "") => {
    const node = nodeNameOf(one);
    return node === undefined ? one || "somebody" : `node ${node}`;
  };
  const where = nic === undefined ? "" : ` and interface ${nic}`;
  return `The IP address ${formatAddress(address)} at ${name(owner)}${where} is colliding with ${name(other)}.`;
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const found = map.get(key);
  if (found === undefined) map.set(key, [value]);
  else found.push(value);
}
