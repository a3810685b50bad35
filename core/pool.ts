import {
  type Address,
  bitsOf,
  familyOf,
  formatAddress,
  formatPrefix,
  mappedIPv4,
  type Prefix,
  parsePrefix,
} from "./address.ts";
import { blocksOverlap, type MaybeBlock } from "./block.ts";
import { type Place, unwrap } from "./errors.ts";
import type { AllocationOrder, Authority } from "./pool-spec.ts";
import type { PoolWords } from "./pool-words.ts";
import { contains, covers, intersect, minus, normalised, type Range, rangeOf, union } from "./range.ts";
import type { Reservations } from "./reservation.ts";
import type { PoolRules } from "./selection/pool-rules.ts";

/** A set of addresses, or of blocks of them, to allocate from. Immutable; made by `parsePool`. */
export interface Pool {
  readonly name: string;
  readonly network: string;
  readonly prefix: Prefix;
  /** Offset 0. */
  readonly start: Address;
  /** The prefix length of what an owner gets: 32 or 128 where it is one address. */
  readonly blockLength: number;
  /** Every address from start to end and of the additional ranges, excluded ones included. */
  readonly range: Range;
  /** What `exclude` names, in the range or not. */
  readonly excluded: Range;
  /** What an owner may ask for: the range without excluded, network, broadcast, gateway, DNS servers' and controller-only addresses. */
  readonly assignable: Range;
  /** Where owners get theirs from who do not care which: `assignable` without the reservations and `neverAutomatic`. See `skipsZeroAnd255`. */
  readonly automatic: Range;
  /** IPv4 prefixes shorter than /31, unless `allowZeroAnd255`: last octets 0 and 255 have no offset and are never picked automatically. */
  readonly skipsZeroAnd255: boolean;
  /** Which of `automatic` a new claim gets. */
  readonly allocationOrder: AllocationOrder;
  readonly gateway: Address | undefined;
  /** As the spec says it; plan-time tools read an absent one as Plan, the cluster as Cluster. */
  readonly authority: Authority | undefined;
  readonly clusterRange: Range;
  readonly reservations: Reservations;
  /** The selector of the nodes that it is for, where what defines it has one. */
  readonly nodeSelector?: string;
  readonly words?: PoolWords;
  /** Whom it serves. */
  readonly rules: PoolRules;
  /** Returns where a part of its spec stands, by its path; absent where the pool comes from no text. */
  readonly at?: (path: readonly (string | number)[]) => Place;
}

/** Returns whether plan-time tools allocate from this pool. They do if it names no authority. */
export function isPlanned({ authority }: Pick<Pool, "authority">): boolean {
  return authority !== "Cluster";
}

/** Returns whether an owner gets one address of the pool, not a block. */
export function isOfAddresses({ prefix, blockLength }: Pick<Pool, "prefix" | "blockLength">): boolean {
  return blockLength === bitsOf(familyOf(prefix.first));
}

/** Returns whether the gateway of the pool is in this block. */
export function hasGateway({ gateway }: Pool, block: MaybeBlock): boolean {
  return gateway !== undefined && blocksOverlap({ address: gateway }, block);
}

/** Returns whether two pools allocate alike. Defaults that are left out, and descriptions, make no difference. */
export function isSamePool(a: Pool, b: Pool): boolean {
  return meaningOf(a) === meaningOf(b);
}

function meaningOf({ authority = "Plan", reservations, excluded: _, words: __, ...rest }: Pool): string {
  const kept = reservations.all.map(({ address, owner, claim }) => `${address} ${owner} ${claim}`).sort();
  return JSON.stringify({ ...rest, authority, kept }, (_, value) => (typeof value === "bigint" ? `${value}` : value));
}

/** The one pool that two are which differ at most in what they exclude: what either excludes goes to nobody. Undefined if they differ otherwise. */
export function joinedPool(a: Pool, b: Pool): Pool | undefined {
  const [some, other] = [a, b].map((pool): Pool => ({ ...pool, assignable: [], automatic: [] })) as [Pool, Pool];
  if (!isSamePool(some, other)) return undefined;
  const [assignable, automatic] = [intersect(a.assignable, b.assignable), intersect(a.automatic, b.automatic)];
  return { ...a, excluded: union(a.excluded, b.excluded), assignable, automatic };
}

/** What to do where a pool is too small. Its end, and more ranges, stay inside its prefix. */
export function howToGrow({ prefix, range, start, blockLength, words }: Pool): string {
  if (words !== undefined) return `Let the network grow: ${words.grows}.`;
  const room = minus(minus([prefix], reservedOf(prefix, blockLength)), range);
  if (room.length === 0) return "Take addresses from another pool too: this one has its whole prefix.";
  const end = room.some(({ last }) => last > start) ? "a later end, or " : "";
  return `Let the pool grow: ${end}additionalRanges.`;
}

/**
 * What no host may have: network and broadcast address; in IPv6 the subnet-router anycast address (RFC 4291 2.6.1)
 * and IPv4 in disguise. /31, /32, /127 and /128 have neither network nor broadcast; nor has a prefix that is divided into
 * blocks, each of which has its own.
 */
export function reservedOf({ first, last, length }: Prefix, blockLength: number): Range {
  const bits = bitsOf(familyOf(first));
  const hasEnds = length < bits - 1 && blockLength === bits;
  if (familyOf(first) === 4) return hasEnds ? rangeOf(...single(first), ...single(last)) : [];
  return normalised([...(hasEnds ? single(first) : []), mappedIPv4]);
}

/** Returns why no host can have an address: it is the network address of a subnet of IPv4, or the broadcast address. */
export function whyNoHost(prefix: Prefix, address: Address): string | undefined {
  if (familyOf(prefix.first) === 6 || !contains(reservedOf(prefix, 32), address)) return undefined;
  const end = address === prefix.first ? "network" : "broadcast";
  return `${formatAddress(address)} is the ${end} address of ${formatPrefix(prefix)}, which no host can have`;
}

/** Loopback, link-local, multicast, of no network, and reserved by IANA. */
const specialPurpose = ["127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "0.0.0.0/8", "240.0.0.0/4"]
  .concat("::1/128", "fe80::/10", "ff00::/8", "::/128")
  .map((text) => unwrap(parsePrefix(text)));

/**
 * What a wide range holds beside addresses for hosts, and is handed out only where somebody asks for it by name. A pool that
 * lies in such a prefix as a whole means it.
 */
export function neverAutomatic(pool: Prefix): Range {
  const ofFamily = specialPurpose.filter(({ first }) => familyOf(first) === familyOf(pool.first));
  return normalised(ofFamily.filter((special) => !covers([special], [pool])));
}

/** The set of one address, or of none. */
export function single(address: Address | undefined): Range {
  return address === undefined ? [] : [{ first: address, last: address }];
}
