import {
  type Address,
  type Allocation,
  type Claim,
  contains,
  formatAddress,
  formatOwner,
  intervalOf,
  lastOf,
  minus,
  nodeNameOf,
  ownerOfKey,
  type Pool,
  rangeOf,
  type Snapshot,
  type Use,
} from "../core/index.ts";
import type { LinesByOwner, OwnLines } from "./lines-by-owner.ts";

/** What owners show to have beside the record. */
export interface Occupied {
  /** Addresses of a pool that nobody is given. */
  readonly taken: ReadonlyMap<string, readonly Address[]>;
  /** What an owner has on a NIC, by `placeOnNic`. */
  readonly own: ReadonlyMap<string, Address>;
  /** Of a pool, what two have. For people. */
  readonly collisions: ReadonlyMap<string, readonly string[]>;
}

/**
 * What the reports of owners say about pools, beside the record.
 *
 *  an address of a pool is shown by | on record for | it is
 *  ---------------------------------+---------------+---------------------------------------------------------
 *  one owner                        | that owner    | nothing new
 *  one owner                        | nobody        | taken: only a claim of that owner on that NIC may get it
 *  one owner, for a time (DHCP)     | nobody        | taken
 *  one owner                        | another one   | a collision
 *  several owners                   | one of them   | a collision
 *  several owners                   | nobody        | taken, and a collision
 */
export function occupied(pools: readonly Pool[], uses: Iterable<Use>, lines: LinesByOwner): Occupied {
  const strange = [...uses].filter(
    ({ address, owner = "" }) =>
      !hasIt(lines.of(owner), address) && pools.some(({ range }) => contains(range, address)),
  );
  const holders = holdersOf(new Set(strange.map(({ address }) => address)), lines.record);
  const byAddress = Map.groupBy(strange, ({ address }) => address);
  const taken = new Map<string, Address[]>();
  const own = new Map<string, Address>();
  const collisions = new Map<string, string[]>();
  for (const [address, shown] of byAddress)
    for (const pool of pools.filter(({ range }) => contains(range, address))) {
      const others = [...(holders.get(address) ?? []), ...shown.slice(1).map(({ owner }) => owner ?? "")];
      const [use] = shown as [Use];
      const other = others.find((owner) => owner !== use.owner);
      if (!holders.has(address)) push(taken, pool.name, address);
      if (other !== undefined) push(collisions, pool.name, collision(use, other));
      else if (!use.isTemporary) own.set(placeOnNic(pool.name, use.owner, use.interface), address);
    }
  return { taken, own, collisions };
}

/** The pool without what is taken. */
export function without(pool: Pool, { taken }: Occupied): Pool {
  const addresses = taken.get(pool.name);
  if (addresses === undefined) return pool;
  const range = rangeOf(...addresses.map((address) => intervalOf({ address })));
  return { ...pool, automatic: minus(pool.automatic, range) };
}

/** A claim asks for the address that its owner has already, on its NIC if it is for one. */
export function asOwned(claim: Claim, pools: ReadonlyMap<string, Pool>, { own }: Occupied): Claim {
  const wanted = own.get(placeOnNic(claim.pool, formatOwner(claim.owner), claim.interface));
  const pool = pools.get(claim.pool);
  if (wanted === undefined || claim.wanted !== undefined) return claim;
  return pool !== undefined && contains(pool.assignable, wanted) ? { ...claim, wanted } : claim;
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
