import {
  type Address,
  bitsOf,
  familyOf,
  formatAddress,
  formatPrefix,
  type Prefix,
  parseAddress,
  parsePrefix,
} from "./address.ts";
import type { Issue, Parsed } from "./errors.ts";
import { contains, covers, type Interval, minus, type Range, rangeOf } from "./range.ts";

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
  /** The name of the owner's claim, where it has several claims on this pool. */
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

export interface Reservation {
  readonly address: Address;
  readonly owner?: string;
  readonly claim?: string;
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
  /** What an owner may ask for: the range without excluded, network, broadcast, gateway and controller-only addresses. */
  readonly assignable: Range;
  /** What owners get who do not care which: `assignable` without the reservations. */
  readonly automatic: Range;
  /** IPv4 prefixes shorter than /31: last octets 0 and 255 have no offset and are never picked automatically. */
  readonly skipsZeroAnd255: boolean;
  readonly gateway: Address | undefined;
  readonly dnsServers: readonly Address[];
  /** As the spec says it; plan-time tools read an absent one as Plan, the cluster as Cluster. */
  readonly authority: Authority | undefined;
  readonly clusterRange: Range;
  readonly reclaimPolicy: "Delete" | "Retain";
  readonly reservations: readonly Reservation[];
}

/** Reads a pool. All issues at once, each with its path inside the spec. */
export function parsePool(name: string, spec: PoolSpec): Parsed<Pool> {
  const issues: Issue[] = [];
  const read = <T>(parsed: Parsed<T>, path: Issue["path"]): T | undefined => {
    for (const issue of parsed.issues ?? []) issues.push({ ...issue, path: [...(path ?? []), ...(issue.path ?? [])] });
    return parsed.value;
  };

  const prefix = read(parsePrefix(spec.range.cidr), ["range", "cidr"]);
  if (prefix === undefined) return { issues };
  const whole = rangeOf(prefix);

  const inside = (text: string, path: Issue["path"]): Address | undefined => {
    const address = read(parseAddress(text), path);
    if (address === undefined || contains(whole, address)) return address;
    issues.push({ message: `${text} is not in ${formatPrefix(prefix)}`, path: path ?? [] });
    return undefined;
  };
  const insideInterval = (text: RangeText, path: (string | number)[]): Interval | undefined => {
    const first = inside(text.start, [...path, "start"]);
    const last = inside(text.end, [...path, "end"]);
    if (first === undefined || last === undefined) return undefined;
    if (first <= last) return { first, last };
    issues.push({ message: `the range ends (${text.end}) before it starts (${text.start})`, path: [...path, "end"] });
    return undefined;
  };

  const reserved = reservedOf(prefix);
  const hosts = minus(whole, reserved);
  const main = insideInterval(
    {
      start: spec.range.start ?? formatAddress((hosts[0] as Interval).first),
      end: spec.range.end ?? formatAddress((hosts.at(-1) as Interval).last),
    },
    ["range"],
  );
  const more = (spec.additionalRanges ?? []).map((text, i) => insideInterval(text, ["additionalRanges", i]));
  const exclude = (spec.range.exclude ?? []).map((text, i) => {
    const path = ["range", "exclude", i];
    const block = read(parseBlock(text), path);
    if (block !== undefined && !covers(whole, rangeOf(block)))
      issues.push({ message: `${text} is not in ${formatPrefix(prefix)}`, path });
    return block;
  });
  const gateway = spec.gateway === undefined ? undefined : inside(spec.gateway, ["gateway"]);
  const dnsServers = (spec.dnsServers ?? []).map((text, i) => read(parseAddress(text), ["dnsServers", i]));
  const cluster = spec.clusterRange && insideInterval(spec.clusterRange, ["clusterRange"]);
  const reservations = (spec.reservations ?? []).map((reservation, i): Reservation | undefined => {
    const address = inside(reservation.address, ["reservations", i, "address"]);
    return address === undefined ? undefined : { ...reservation, address };
  });
  if (issues.length > 0 || main === undefined) return { issues };

  const range = rangeOf(main, ...present(more));
  const clusterRange = rangeOf(...present([cluster]));
  const notForPlans = [reserved, rangeOf(...present(exclude)), single(gateway), clusterRange];
  const claimable = notForPlans.reduce(minus, range);
  present(reservations).forEach((reservation, i, all) => {
    const path = ["reservations", i, "address"];
    const text = formatAddress(reservation.address);
    if (!contains(claimable, reservation.address) && reservation.owner !== undefined)
      issues.push({ message: `${text} is outside start to end, excluded, or reserved for the network itself`, path });
    if (all.findIndex((other) => other.address === reservation.address) < i)
      issues.push({ message: `${text} is reserved twice`, path });
  });
  if (!covers(range, clusterRange))
    issues.push({ message: "clusterRange is not inside start to end", path: ["clusterRange"] });
  if (issues.length > 0) return { issues };

  const keptAway = present(reservations).filter((r) => r.owner === undefined);
  const assignable = minus(claimable, rangeOf(...keptAway.flatMap((r) => single(r.address))));
  return {
    value: {
      name,
      network: spec.network ?? "default",
      prefix,
      start: main.first,
      range,
      assignable,
      automatic: minus(assignable, rangeOf(...present(reservations).flatMap((r) => single(r.address)))),
      skipsZeroAnd255: familyOf(prefix.first) === 4 && prefix.length < 31 && spec.allowZeroAnd255 !== true,
      gateway,
      dnsServers: present(dnsServers),
      authority: spec.authority,
      clusterRange,
      reclaimPolicy: spec.reclaimPolicy ?? "Delete",
      reservations: present(reservations),
    },
  };
}

/** Network and broadcast address; for IPv6 the subnet-router anycast address (RFC 4291 2.6.1). None in /31, /32, /127, /128. */
function reservedOf(prefix: Prefix): Range {
  const family = familyOf(prefix.first);
  if (prefix.length >= bitsOf(family) - 1) return [];
  const first = single(prefix.first);
  return family === 6 ? first : rangeOf(...first, ...single(prefix.last));
}

/** An address or a prefix. */
function parseBlock(text: string): Parsed<Interval> {
  if (text.includes("/")) return parsePrefix(text);
  const parsed = parseAddress(text);
  return parsed.issues ? parsed : { value: { first: parsed.value, last: parsed.value } };
}

function single(address: Address | undefined): Range {
  return address === undefined ? [] : [{ first: address, last: address }];
}

function present<T>(values: readonly (T | undefined)[]): T[] {
  return values.filter((value) => value !== undefined);
}
