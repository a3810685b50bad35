import { type Address, compareAddresses, formatPrefix, type Prefix } from "./address.ts";
import { type Block, formatBlock, isSingle } from "./block.ts";
import { ownerOfKey } from "./claim.ts";
import { byCodeUnit } from "./errors.ts";

/** A block, mostly a single address, and the claim that holds it: one line of the record. */
export interface Allocation extends Block {
  readonly pool: string;
  /** Claim key, as `claimKey` writes it. Identity is pool and key. */
  readonly claim: string;
  /**
   * The claim set (folder, stack, app) that asked for it. `plan` and `planRename` change lines of their own set alone,
   * but for imported ones, which any set may adopt; `planRelease` frees whatever it is told to.
   */
  readonly set: string;
  readonly interface?: string;
  readonly uid?: string;
}

/** What the record holds of one pool. */
export interface PoolLines {
  readonly live: readonly Allocation[];
  readonly releasing: readonly Allocation[];
  readonly last?: Address | undefined;
}

/** What the record knows of a pool that has allocations. */
export interface PoolRecord {
  readonly name: string;
  readonly prefix: Prefix;
  readonly network: string;
  /** The address (of a block, the first one) that was allocated last in a pool of order Next: the next one comes after it. */
  readonly last?: Address;
}

/** Everything a state backend holds, at one moment. */
export interface Snapshot {
  /** One for every pool with an allocation, live or releasing; sorted by name. */
  readonly pools: readonly PoolRecord[];
  /** Live allocations, sorted by address, then pool. */
  readonly allocations: readonly Allocation[];
  /** Given up by their claims, not yet known to be off the node; nobody else gets them. Sorted likewise. */
  readonly releasing: readonly Allocation[];
  /** Per pool a token of its content; a commit compares it with what the record then holds. */
  readonly base: ReadonlyMap<string, string>;
  /** The subnets whose part of the record cannot be read: nothing of them may be allocated, changed or released. */
  readonly unreadable?: readonly UnreadableSubnet[];
  /** The subnets whose part of the record has no room for another line: nothing of them may be allocated. */
  readonly full?: readonly UnreadableSubnet[];
}

/** A subnet whose part of the record cannot be read, or has no room. */
export interface UnreadableSubnet {
  /** Every pool that may have lines there. The snapshot has those that were read last; if the part was never read, it has none. */
  readonly pools: readonly PoolRecord[];
  /** What is wrong, and what to do. */
  readonly why: string;
  /** Whether it only cannot be written: the snapshot has all of its lines. */
  readonly isRead?: boolean;
}

/** What a backend reads where nothing was ever recorded. */
export const emptySnapshot: Snapshot = { pools: [], allocations: [], releasing: [], base: new Map() };

/** The order of the record. */
export function byAddress(a: Allocation, b: Allocation): number {
  return compareAddresses(a.address, b.address) || byCodeUnit(a.pool, b.pool);
}

/** Identity of an allocation: pool and claim key. Pool names hold no blank. */
export function identityOf(allocation: { readonly pool: string; readonly claim: string }): string {
  return `${allocation.pool} ${allocation.claim}`;
}

/** An address of a pool: no two lines of a record have one place. */
export function placeOf({ pool, address }: Pick<Allocation, "pool" | "address">): string {
  return `${pool} ${address}`;
}

/** A claim of a claim set, whatever its address is. */
export function claimInSet(line: Pick<Allocation, "set" | "pool" | "claim">): string {
  return `${line.set} ${identityOf(line)}`;
}

/** The owner of a claim, in a pool: whoever asks there, whatever the claim is called. */
export function ownerInPool({ pool, claim }: Pick<Allocation, "pool" | "claim">): string {
  return `${pool} ${ownerOfKey(claim)}`;
}

/** Returns whether two pools are in one subnet: the same addresses of the same network. */
export function sameSubnet(
  a: Pick<PoolRecord, "prefix" | "network">,
  b: Pick<PoolRecord, "prefix" | "network">,
): boolean {
  return a.network === b.network && a.prefix.first === b.prefix.first && a.prefix.length === b.prefix.length;
}

/** `10.0.0.0/24 of network blue` */
export function describeSubnet({ prefix, network }: Pick<PoolRecord, "prefix" | "network">): string {
  return `${formatPrefix(prefix)} of network ${network}`;
}

/**
 * Returns whether two lines are equal. It compares field by field, because a plan does so for each line that it keeps, and a loop over
 * names takes seven times as long.
 */
export function sameLine(a: Allocation, b: Allocation): boolean {
  return (
    a.address === b.address &&
    a.length === b.length &&
    a.pool === b.pool &&
    a.claim === b.claim &&
    a.set === b.set &&
    a.interface === b.interface &&
    a.uid === b.uid
  );
}

/** Returns whether reports of these owners show a line that is in use. A block need not be on a NIC: the slice of a node is for its pods. */
export function isReportedBy(owners: ReadonlySet<string>, line: Allocation): boolean {
  return owners.has(ownerOfKey(line.claim)) && (isSingle(line) || line.interface !== undefined);
}

/** An allocation as JSON can hold it: its block is text. */
export type LineJson = Omit<Allocation, "address" | "length"> & { readonly address: string };

/** An allocation for JSON.stringify, which takes no bigint. */
export function lineJson({ length, ...line }: Allocation): LineJson {
  return { ...line, address: formatBlock({ address: line.address, length }) };
}

/** The claim set of addresses that owners have and nobody claims (see `planImport`): nobody else gets them. */
export const importedSet = "imported";

/** The claim set of what the controller allocates. */
export const clusterSet = "cluster";

/** Returns whether a line is of another claim set. Imported lines are of none yet. */
export function isOfOtherSet(line: Allocation, set: string): boolean {
  return line.set !== set && line.set !== importedSet;
}
