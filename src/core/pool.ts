import {
  type Address,
  bitsOf,
  familyOf,
  formatAddress,
  formatPrefix,
  mappedIPv4,
  type Prefix,
  parseAddress,
  parsePrefix,
} from "./address.ts";
import { nameOfKey, parseClaimKey } from "./claim.ts";
import type { Issue, Parsed } from "./errors.ts";
import { contains, covers, type Interval, minus, normalised, type Range, rangeOf } from "./range.ts";
import { parseReserver, type Reservation, Reservations } from "./reservation.ts";

/** First and last address, as text. */
export interface RangeText {
  readonly start: string;
  readonly end: string;
}

/** An address kept for an owner, or, without one, kept away from everybody. */
export interface ReservationSpec {
  readonly address: string;
  /** `Kind/name` or `Kind/namespace:name`, for example `Node/node05`. */
  readonly owner?: string;
  /** The name of the owner's claim (`POLICY/CAPTURE` of a node), where it has several claims on this pool. */
  readonly claim?: string;
  readonly description?: string;
}

/** Who may allocate from a pool: tools that plan (lockfile, stack), or the controller in the cluster. */
export type Authority = "Plan" | "Cluster";

/** `spec` of a NodeIPPool, word for word; deploy/crd/ describes each field. */
export interface PoolSpec {
  readonly range: {
    readonly cidr: string;
    /** Offset 0. Default: the first address that a host may have. */
    readonly start?: string;
    /** Default: the last address that a host may have. */
    readonly end?: string;
    /** Addresses or prefixes that are never handed out. */
    readonly exclude?: readonly string[];
  };
  readonly additionalRanges?: readonly RangeText[];
  readonly gateway?: string;
  readonly dnsServers?: readonly string[];
  /** The scope in which addresses are unique (one L2 or VRF). Default `default`. */
  readonly network?: string;
  readonly reservations?: readonly ReservationSpec[];
  readonly authority?: Authority;
  /** The part that only the controller hands out. */
  readonly clusterRange?: RangeText;
  readonly reclaimPolicy?: "Delete" | "Retain";
  /** IPv4: also number and hand out addresses whose last octet is 0 or 255. */
  readonly allowZeroAnd255?: boolean;
}

/** A set of addresses to allocate from. Immutable; made by `parsePool`. */
export interface Pool {
  readonly name: string;
  readonly network: string;
  readonly prefix: Prefix;
  /** Offset 0. */
  readonly start: Address;
  /** Every address from start to end and of the additional ranges, excluded ones included. */
  readonly range: Range;
  /** What an owner may ask for: the range without excluded, network, broadcast, gateway, DNS servers' and controller-only addresses. */
  readonly assignable: Range;
  /** Where owners get theirs from who do not care which: `assignable` without the reservations. See `skipsZeroAnd255`. */
  readonly automatic: Range;
  /** IPv4 prefixes shorter than /31, unless `allowZeroAnd255`: last octets 0 and 255 have no offset and are never picked automatically. */
  readonly skipsZeroAnd255: boolean;
  readonly gateway: Address | undefined;
  /** As the spec says it; plan-time tools read an absent one as Plan, the cluster as Cluster. */
  readonly authority: Authority | undefined;
  readonly clusterRange: Range;
  readonly reservations: Reservations;
}

/** Do plan-time tools allocate from this pool? One that names no authority is theirs. */
export function isPlanned({ authority }: Pick<Pool, "authority">): boolean {
  return authority !== "Cluster";
}

/** Do two pools say the same of who gets which address? What absent fields stand for, and words for people, make no difference. */
export function isSamePool(a: Pool, b: Pool): boolean {
  return meaningOf(a) === meaningOf(b);
}

function meaningOf({ authority = "Plan", reservations, ...rest }: Pool): string {
  const kept = reservations.all.map(({ address, owner, claim }) => `${address} ${owner} ${claim}`).sort();
  return JSON.stringify({ ...rest, authority, kept }, (_, value) => (typeof value === "bigint" ? `${value}` : value));
}

/** Reads a pool. All issues at once, each with its path inside the spec. */
export function parsePool(name: string, spec: PoolSpec): Parsed<Pool> {
  const reader = new Reader(spec);
  const value = reader.pool(name);
  return value === undefined ? { issues: reader.issues } : { value };
}

type Path = readonly (string | number)[];

class Reader {
  readonly issues: Issue[] = [];
  private readonly spec: PoolSpec;
  /** Undefined if it cannot be read; everything else is then read without it. */
  private readonly prefix: Prefix | undefined;

  constructor(spec: PoolSpec) {
    this.spec = spec;
    this.prefix = this.take(parsePrefix(spec.range.cidr), ["range", "cidr"]);
    if (this.prefix !== undefined && spec.range.start === undefined) this.checkFirst(this.prefix);
  }

  /** Where `start` does not say it, a subnet that is written by an address inside of it may be meant to begin there. */
  private checkFirst(prefix: Prefix): void {
    const text = this.spec.range.cidr;
    if (parseAddress(text.slice(0, text.indexOf("/"))).value === prefix.first) return;
    this.issues.push({
      message: `${text} is the subnet ${formatPrefix(prefix)}`,
      path: ["range", "cidr"],
      hint: "Write it so; or say by start where its addresses begin.",
    });
  }

  pool(name: string): Pool | undefined {
    const { spec, prefix } = this;
    const main = this.main();
    const more = (spec.additionalRanges ?? []).map((text, i) => this.interval(text, ["additionalRanges", i]));
    const exclude = (spec.range.exclude ?? []).map((text, i) => this.block(text, ["range", "exclude", i]));
    const gateway = spec.gateway === undefined ? undefined : this.address(spec.gateway, ["gateway"]);
    const dns = (spec.dnsServers ?? []).map((text, i) => this.take(parseAddress(text), ["dnsServers", i]));
    const cluster = this.clusterInterval();
    const reservations = (spec.reservations ?? []).map((reservation, i) => this.reservation(reservation, i));
    if (this.issues.length > 0 || prefix === undefined || main === undefined) return undefined;

    const range = normalised([main, ...present(more)]);
    const clusterRange = normalised(present([cluster]));
    const kept = present(reservations);
    const ofFamily = present(dns).filter((address) => familyOf(address) === familyOf(prefix.first));
    const servers = minus(normalised(ofFamily.flatMap(single)), addressesOf(kept)); // a node may be one: reserved for it
    const notForPlans = [reservedOf(prefix), normalised(present(exclude)), single(gateway), servers, clusterRange];
    const claimable = notForPlans.reduce(minus, range);
    this.checkReservations(kept, claimable);
    if (!covers(range, clusterRange)) this.fail("clusterRange is not inside start to end", ["clusterRange"]);
    if (this.issues.length > 0) return undefined;

    const assignable = minus(claimable, addressesOf(kept.filter((reservation) => reservation.owner === undefined)));
    return {
      name,
      network: spec.network ?? "default",
      prefix,
      start: main.first,
      range,
      assignable,
      automatic: minus(assignable, addressesOf(kept)),
      skipsZeroAnd255: familyOf(prefix.first) === 4 && prefix.length < 31 && spec.allowZeroAnd255 !== true,
      gateway,
      authority: spec.authority,
      clusterRange,
      reservations: new Reservations(kept),
    };
  }

  /** From start to end; without them, all that a host may have. */
  private main(): Interval | undefined {
    const { start, end } = this.spec.range;
    const hosts = this.prefix && minus([this.prefix], reservedOf(this.prefix));
    const first = start === undefined ? hosts?.[0]?.first : this.address(start, ["range", "start"]);
    const last = end === undefined ? hosts?.at(-1)?.last : this.address(end, ["range", "end"]);
    return this.ordered(first, last, ["range"]);
  }

  private clusterInterval(): Interval | undefined {
    const { clusterRange, authority } = this.spec;
    if (clusterRange && authority === "Cluster")
      this.issues.push({
        message: "clusterRange divides a pool of authority Plan, and this one has authority Cluster",
        path: ["clusterRange"],
        hint: "Leave it out: the controller has the whole pool; or let the pool have authority Plan.",
      });
    return clusterRange && this.interval(clusterRange, ["clusterRange"]);
  }

  private interval(text: RangeText, path: Path): Interval | undefined {
    return this.ordered(this.address(text.start, [...path, "start"]), this.address(text.end, [...path, "end"]), path);
  }

  private ordered(first: Address | undefined, last: Address | undefined, path: Path): Interval | undefined {
    if (first === undefined || last === undefined) return undefined;
    if (first <= last) return { first, last };
    this.fail(`the range ends (${formatAddress(last)}) before it starts (${formatAddress(first)})`, [...path, "end"]);
    return undefined;
  }

  /** An address inside the prefix. */
  private address(text: string, path: Path): Address | undefined {
    const address = this.take(parseAddress(text), path);
    return address !== undefined && this.inside({ first: address, last: address }, text, path) ? address : undefined;
  }

  /** An address or a prefix, inside the prefix. */
  private block(text: string, path: Path): Interval | undefined {
    if (/^[\da-f.:]+\s*-\s*[\da-f.:]+$/i.test(text)) {
      const message = `${JSON.stringify(text)} is not an IP address`;
      this.issues.push({
        message,
        path,
        hint: "What is left out is written as prefixes or single addresses; where a range begins and ends, start and end say.",
      });
      return undefined;
    }
    if (!text.includes("/")) return single(this.address(text, path))[0];
    const block = this.take(parsePrefix(text), path);
    return block !== undefined && this.inside(block, text, path) ? block : undefined;
  }

  private inside(block: Interval, text: string, path: Path): boolean {
    if (this.prefix === undefined || covers([this.prefix], [block])) return true;
    const isOther = familyOf(block.first) !== familyOf(this.prefix.first);
    const hint = isOther ? { hint: "A pool is of one family: make a pool of its own for the other one." } : {};
    this.issues.push({ message: `${text} is not in ${formatPrefix(this.prefix)}`, path, ...hint });
    return false;
  }

  private reservation(spec: ReservationSpec, i: number): Reservation | undefined {
    const address = this.address(spec.address, ["reservations", i, "address"]);
    if (spec.owner !== undefined) this.take(parseReserver(spec.owner), ["reservations", i, "owner"]);
    else if (spec.claim !== undefined) this.fail("a claim needs its owner", ["reservations", i, "claim"]);
    if (spec.claim !== undefined && parseClaimKey(spec.claim).value !== undefined && isKey(spec.claim, spec.owner))
      this.issues.push({
        message: `${JSON.stringify(spec.claim.slice(0, 80))} is a claim with its owner`,
        path: ["reservations", i, "claim"],
        hint: `Write its name alone: ${nameOfKey(spec.claim)}`,
      });
    return address === undefined ? undefined : { ...spec, address };
  }

  private checkReservations(reservations: readonly Reservation[], claimable: Range): void {
    const seen = new Set<Address>();
    reservations.forEach(({ address, owner }, i) => {
      const path = ["reservations", i, "address"];
      const text = formatAddress(address);
      if (owner !== undefined && !contains(claimable, address))
        this.issues.push({
          message: `${text} is outside start to end, excluded, or reserved for the network itself`,
          path,
          hint: "Reserve what the pool could give: leave it out of exclude; outside of start to end it needs additionalRanges.",
        });
      if (seen.has(address)) this.fail(`${text} is reserved twice`, path);
      seen.add(address);
    });
  }

  private take<T>(parsed: Parsed<T>, path: Path): T | undefined {
    for (const issue of parsed.issues ?? []) this.issues.push({ ...issue, path });
    return parsed.value;
  }

  private fail(message: string, path: Path): void {
    this.issues.push({ message, path });
  }
}

/** What to do where a pool is too small. Its end, and more ranges, stay inside its prefix. */
export function howToGrow({ prefix, range, start }: Pool): string {
  const room = minus(minus([prefix], reservedOf(prefix)), range);
  if (room.length === 0) return "Take addresses from another pool too: this one has its whole prefix.";
  const end = room.some(({ last }) => last > start) ? "a later end, or " : "";
  return `Let the pool grow: ${end}additionalRanges.`;
}

/**
 * What no host may have: network and broadcast address; in IPv6 the subnet-router anycast address (RFC 4291 2.6.1)
 * and IPv4 in disguise. /31, /32, /127 and /128 have neither network nor broadcast.
 */
function reservedOf({ first, last, length }: Prefix): Range {
  const isPointToPoint = length >= bitsOf(familyOf(first)) - 1;
  if (familyOf(first) === 4) return isPointToPoint ? [] : rangeOf(...single(first), ...single(last));
  return normalised([...(isPointToPoint ? [] : single(first)), mappedIPv4]);
}

/** `Node/x/POLICY/CAPTURE`, where `POLICY/CAPTURE` is meant. */
function isKey(claim: string, owner: string | undefined): boolean {
  return claim.startsWith("Node/") || claim.startsWith(`${owner}/`);
}

function addressesOf(reservations: readonly Reservation[]): Range {
  return normalised(reservations.flatMap(({ address }) => single(address)));
}

function single(address: Address | undefined): Range {
  return address === undefined ? [] : [{ first: address, last: address }];
}

function present<T>(values: readonly (T | undefined)[]): T[] {
  return values.filter((value) => value !== undefined);
}
