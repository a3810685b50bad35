import {
  type Address,
  type Allocation,
  type Claim,
  claimKey,
  contains,
  formatAddress,
  formatOwner,
  holds,
  intervalOf,
  lastOf,
  lengthOf,
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
 *  one owner                        | that owner    | nothing new; of what it is to lose, and the report names the pool,
 *                                   |               |  its claim gets that back
 *  one owner                        | nobody        | taken: only a claim of that owner on that NIC may get it, and
 *                                   |               |  one that the pool gives to nobody only if the report names the pool
 *  one owner, not its own for good  | nobody        | taken
 *   (DHCP, a copy)                  |               |
 *  one owner                        | another one   | a collision
 *  several owners                   | one of them   | a collision
 *  several owners                   | nobody        | taken, and a collision
 *
 * Where a report names the pool, an address that its range has no more is one of it, too. One that names a pool which nobody
 * knows counts for those that have its addresses, as far as nobody knows better.
 */
export function occupied(pools: readonly Pool[], uses: Iterable<Use>, lines: LinesByOwner): Occupied {
  const byName = poolsByName(pools);
  const strange = new Map<Pool, Use[]>();
  for (const use of uses) for (const pool of strangeTo(use, lines, byName)) push(strange, pool, use);
  const asked = new Set([...strange.values()].flatMap((found) => found.map(({ address }) => address)));
  const holders = holdersOf(asked, lines.record);
  const taken = new Map<string, MaybeBlock[]>();
  const own = new Map<string, Address>();
  const outside = new Map<string, MaybeBlock[]>();
  const collisions = new Map<string, string[]>();
  for (const [pool, found] of strange)
    for (const [address, all] of Map.groupBy(found, (one) => one.address)) {
      const alike = all.filter((one) => one.pool === undefined || one.pool === pool.name);
      const shown = alike.length > 0 ? alike : all;
      const use = shown.find(({ isTemporary }) => !isTemporary) ?? (shown[0] as Use);
      const held = (holders.get(address) ?? []).filter((line) => mayBeOf(line, use, pool, byName));
      const others = [...held.map(({ claim }) => ownerOfKey(claim)), ...shown.map(({ owner }) => owner ?? "")];
      const other = others.find((owner) => owner !== use.owner);
      if (held.length === 0) push(taken, pool.name, use);
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

/** Pools by their names. */
type ByName = ReadonlyMap<string, Pool>;

export function poolsByName(pools: readonly Pool[]): ByName {
  return new Map(pools.map((pool) => [pool.name, pool]));
}

/** The pools of which its owner has not on record what it shows. For most of what is shown there are none. */
export function strangeTo(use: Use, lines: LinesByOwner, byName: ByName): Pool[] {
  const own = lines.of(use.owner ?? "");
  return poolsWith(use, byName).filter((pool) => !hasIt(own, use, pool, byName));
}

/**
 * The pools that an address which is shown is of.
 *
 *  the pool that is named                 | it is of
 *  ---------------------------------------+-----------------------------------------------
 *  has it in its range                    | that pool
 *  has it in its prefix, and no other one | that pool
 *   of its network has it in its range    |
 *  has it in its prefix                   | those others
 *  has it not, or none is                 | each pool that has it in its range
 */
function poolsWith({ address, pool }: Use, byName: ByName): readonly Pool[] {
  const named = byName.get(pool ?? "");
  if (named !== undefined && contains(named.range, address)) return [named];
  const inRange = [...byName.values()].filter(({ range }) => contains(range, address));
  if (named === undefined || !contains([named.prefix], address)) return inRange;
  const others = inRange.filter(({ network }) => network === named.network);
  return others.length === 0 ? [named] : others;
}

/** The pool without what is taken, and with what its owners keep. */
export function without(pool: Pool, { taken, outside }: Occupied): Pool {
  const rangeIn = (addresses: Occupied["taken"]) => rangeOf(...(addresses.get(pool.name) ?? []).map(intervalOf));
  if (!taken.has(pool.name) && !outside.has(pool.name)) return pool;
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

/**
 * Is it nothing that an owner which is gone can ask for? Such a one only puts on record what it shows to have had, once: that is
 * free when it is known to be off it.
 */
export function isPast(claim: Claim, occupied: Occupied, lines: LinesByOwner): boolean {
  const shown = shownFor(claim, occupied);
  const { allocations, releasing } = lines.of(formatOwner(claim.owner));
  const key = claimKey(claim.owner, claim.name);
  const hasLine = [...allocations, ...releasing].some((line) => line.claim === key && line.pool === claim.pool);
  return hasLine || shown === undefined || (claim.wanted ?? shown) !== shown;
}

function placeOnNic(pool: string, owner: string | undefined, nic: string | undefined): string {
  return `${pool} ${owner} ${nic}`;
}

/** Is what is shown in one of these lines? A block counts with its ends. */
function hasIt({ allocations, releasing }: OwnLines, use: Use, pool: Pool, byName: ByName): boolean {
  const { address, length } = use;
  const isIt = (line: Allocation) =>
    (line.address === address || lastOf(line) === address) &&
    (length === undefined || lengthOf(line) === length) &&
    mayBeOf(line, use, pool, byName);
  return allocations.some(isIt) || (use.pool !== pool.name && releasing.some(isIt));
}

/** May a line be what is shown? Two networks may have the same address: which one it is of, only a text says that names its pool. */
function mayBeOf({ pool: of }: Allocation, use: Use, pool: Pool, byName: ByName): boolean {
  return use.pool !== pool.name || (byName.get(of) ?? pool).network === pool.network;
}

/** What is on record of these addresses; a block counts with its ends. */
function holdersOf(asked: ReadonlySet<Address>, { allocations, releasing }: Snapshot): Map<Address, Allocation[]> {
  const holders = new Map<Address, Allocation[]>();
  for (const line of asked.size === 0 ? [] : [...allocations, ...releasing])
    for (const address of new Set([line.address, lastOf(line)])) if (asked.has(address)) push(holders, address, line);
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

function push<K, T>(map: Map<K, T[]>, key: K, value: T): void {
  const found = map.get(key);
  if (found === undefined) map.set(key, [value]);
  else found.push(value);
}
