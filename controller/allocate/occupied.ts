import {
  type Address,
  type Allocation,
  contains,
  formatAddress,
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
} from "../../core/index.ts";
import type { LinesByOwner, OwnLines } from "../record/lines-by-owner.ts";

/** What a report shows, or an owner without a line asks to have. */
export interface Observation extends Use {
  /** An object that gives addresses to owners says it. */
  readonly isGiven?: boolean;
  /** An owner only asks for it: a plan decides between those that do. */
  readonly isAsked?: boolean;
  /** A host that is nobody's here answers for it. */
  readonly isUnknownHost?: boolean;
}

/** What nobody else is given. */
export interface Taken extends MaybeBlock {
  /** The owner that may have it; undefined if none may. */
  readonly owner: string | undefined;
  readonly shown: readonly Observation[];
}

/** What owners show to have beside the record. */
export interface Occupied {
  /** Addresses of a pool, or blocks, that nobody is given. */
  readonly taken: ReadonlyMap<string, readonly Taken[]>;
  /** Of a pool, what one owner has: a claim of it may get that. */
  readonly own: ReadonlyMap<string, readonly Observation[]>;
  /** Of a pool, what its owners have of it although it gives that to nobody: they keep it. */
  readonly outside: ReadonlyMap<string, readonly MaybeBlock[]>;
  /** Of a pool, what one owner has and is on record for another one. */
  readonly ofOthers: ReadonlyMap<string, readonly { readonly use: Observation; readonly line: Allocation }[]>;
  /** Of a pool, what two have. For people. */
  readonly collisions: ReadonlyMap<string, readonly string[]>;
}

/** Returns whether the cluster says that a node, by its name, is the machine of an owner. */
export type IsMachine = (owner: string, node: string) => boolean;

/**
 * What the reports of owners say about pools, beside the record. An object that gives addresses to owners (an IPAddress, the Secret
 * of a host, a NodeSlicePool) says whose one is. Where there is one, what a node observes does not say it: the node may be that owner's
 * machine. Nor does what an owner asks for, or a status that anybody may write (IPAMClaim).
 *
 *  an address of a pool is shown by | on record for | it is
 *  ---------------------------------+---------------+---------------------------------------------------------
 *  one owner                        | that owner    | nothing new; of what it is to lose, and the report names the pool,
 *                                   |               |  its claim gets that back
 *  one owner                        | nobody        | taken: only a claim of that owner may get it (core's `adoptable`
 *                                   |               |  says which), and what the pool gives to nobody only if the report
 *                                   |               |  names the pool
 *  one owner, not its own for good  | nobody        | taken
 *   (DHCP, a copy)                  |               |
 *  several, given to one of them,   | nobody        | taken: only a claim of that one may get it, likewise
 *   or others only ask for it       |               |
 *  several owners, otherwise        | nobody        | taken
 *  a host that is nobody's here     | nobody        | taken; where an owner shows it, too, it is that one's
 *  anybody                          | another one   | that one's; contested-lines.ts says what of it is not for long
 *
 * Two that have an address, by the record or by what is shown, are a collision, unless one is a node that the cluster says to be
 * the machine of the other. Two nodes always are.
 *
 * Where a report names the pool, an address that its range has no more is one of it, too. One that names a pool which nobody
 * knows counts for those that have its addresses, as far as nobody knows better.
 */
export function occupied(
  pools: readonly Pool[],
  uses: Iterable<Observation>,
  lines: LinesByOwner,
  isMachine: IsMachine = () => false,
): Occupied {
  const byName = poolsByName(pools);
  const unrecorded = new Map<Pool, Observation[]>();
  for (const use of uses) for (const pool of poolsWithout(use, lines, byName)) push(unrecorded, pool, use);
  const asked = new Set([...unrecorded.values()].flatMap((found) => found.map(({ address }) => address)));
  const holders = holdersOf(asked, lines.record);
  const taken = new Map<string, Taken[]>();
  const own = new Map<string, Observation[]>();
  const outside = new Map<string, MaybeBlock[]>();
  const ofOthers = new Map<string, { use: Observation; line: Allocation }[]>();
  const collisions = new Map<string, string[]>();
  for (const [pool, found] of unrecorded)
    for (const [address, all] of Map.groupBy(found, (one) => one.address)) {
      const alike = all.filter((one) => one.pool === undefined || one.pool === pool.name);
      const shown = alike.length > 0 ? alike : all;
      const { use, isOnly } = ownerIn(shown);
      const held = (holders.get(address) ?? []).filter((line) => isOfNetwork(line, pool, byName, lines.record));
      const { address: first, length } = use;
      const block = { address: first, ...(length === undefined ? {} : { length }) };
      if (held.length === 0) push(taken, pool.name, { ...block, owner: isOnly ? use.owner : undefined, shown });
      const twice = collisionOf(shown, held, isMachine);
      if (twice !== undefined) push(collisions, pool.name, twice);
      const isAssignable = holds(pool.assignable, use);
      if (!isOnly || use.isTemporary || !(isAssignable || use.pool === pool.name)) continue;
      // A claim gets a block of the pool's length: of another length it is nothing that a claim can have.
      if (use.length !== undefined && use.length !== pool.blockLength) continue;
      const line = held.find(({ claim }) => ownerOfKey(claim) !== use.owner);
      if (line === undefined) push(own, pool.name, use);
      else if (!use.isAsked) push(ofOthers, pool.name, { use, line });
      if (line === undefined && !isAssignable) push(outside, pool.name, use);
    }
  return { taken, own, outside, ofOthers, collisions };
}

/** Whose an address is: what is given counts before what is observed, and that before what is asked for. */
function ownerIn(shown: readonly Observation[]): { readonly use: Observation; readonly isOnly: boolean } {
  const given = shown.filter(({ isGiven, isTemporary }) => isGiven && !isTemporary);
  const reported = shown.filter(({ isAsked, isUnknownHost }) => !isAsked && !isUnknownHost);
  const said = [given, reported].find((some) => some.length > 0) ?? shown;
  const use = said.find(({ isTemporary }) => !isTemporary) ?? (said[0] as Observation);
  return { use, isOnly: said.every(({ owner }) => owner === use.owner) };
}

/** The first two that have an address and are not the same machine, for people: where it is observed comes first. */
function collisionOf(
  shown: readonly Observation[],
  held: readonly Allocation[],
  isMachine: IsMachine,
): string | undefined {
  const owners = [...held.map(({ claim }) => ownerOfKey(claim)), ...shown.map(({ owner = "" }) => owner)];
  const isOf = (owner: string, other: string) => {
    const node = nodeNameOf(other);
    return node !== undefined && isMachine(owner, node);
  };
  for (const use of [...shown.filter(({ isGiven }) => !isGiven), ...shown]) {
    const { owner = "" } = use;
    const other = owners.find((one) => one !== owner && !isOf(one, owner) && !isOf(owner, one));
    if (other !== undefined) return collision(use, other);
  }
  return undefined;
}

/** Pools by their names. */
type ByName = ReadonlyMap<string, Pool>;

export function poolsByName(pools: readonly Pool[]): ByName {
  return new Map(pools.map((pool) => [pool.name, pool]));
}

/** The pools of which its owner has not on record what it shows. For most of what is shown there are none. */
export function poolsWithout(use: Use, lines: LinesByOwner, byName: ByName): Pool[] {
  const own = lines.of(use.owner ?? "");
  return poolsWith(use, byName).filter((pool) => !hasIt(own, use, pool, byName, lines.record));
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
  const rangeIn = (addresses: Occupied["outside"]) => rangeOf(...(addresses.get(pool.name) ?? []).map(intervalOf));
  if (!taken.has(pool.name) && !outside.has(pool.name)) return pool;
  const automatic = minus(pool.automatic, rangeIn(taken));
  return { ...pool, automatic, assignable: union(pool.assignable, rangeIn(outside)) };
}

/** Returns whether one of these lines has what is shown. A block matches by its ends. Only a report that names a pool tells the network. */
function hasIt(
  { allocations, releasing }: OwnLines,
  use: Use,
  pool: Pool,
  byName: ByName,
  record: Pick<Snapshot, "pools">,
): boolean {
  const { address, length } = use;
  const isIt = (line: Allocation) =>
    (line.address === address || lastOf(line) === address) &&
    (length === undefined || lengthOf(line) === length) &&
    (use.pool !== pool.name || isOfNetwork(line, pool, byName, record));
  return allocations.some(isIt) || (use.pool !== pool.name && releasing.some(isIt));
}

/** Returns whether a line is of a pool's network. Two networks may have the same address. The record knows the network of a deleted pool. */
function isOfNetwork(
  { pool: of }: Allocation,
  pool: Pool,
  byName: ByName,
  { pools }: Pick<Snapshot, "pools">,
): boolean {
  const { network } = byName.get(of) ?? pools.find(({ name }) => name === of) ?? pool;
  return network === pool.network;
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
