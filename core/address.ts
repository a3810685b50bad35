import { Address6 } from "ip-address";
import { type Parsed, unwrap } from "./errors.ts";

/** IPv4 or IPv6. */
export type Family = 4 | 6;

/**
 * One IP address as one bigint: IPv4 is its 32-bit value, IPv6 is 2^128 plus its value.
 * So `===` compares, Map and Set work, every IPv4 address sorts before every IPv6 address,
 * and an address plus one is the next address of its family. Make one with `parseAddress`.
 */
export type Address = bigint & { readonly brand: "Address" };

const V6 = 1n << 128n;

/** The family that an address is of. */
export function familyOf(address: Address): Family {
  return address < V6 ? 4 : 6;
}

/** The order of addresses: by value, every IPv4 address before every IPv6 address. */
export function compareAddresses(a: Address, b: Address): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Bits of an address: 32 or 128. */
export function bitsOf(family: Family): number {
  return family === 4 ? 32 : 128;
}

/**
 * Reads one address by the strict rules of Kubernetes KEP-4858: no leading zeros, no short, octal or hex
 * IPv4 forms, no IPv4 inside IPv6, no zone, no prefix length, no blanks. IPv6 may be written uncompressed or in capitals.
 */
export function parseAddress(text: unknown): Parsed<Address> {
  if (typeof text !== "string") return bad(text, "is not text");
  if (text.length > 45) return bad(text, "is too long for an IP address");
  return text.includes(":") ? parseIPv6(text) : parseIPv4(text);
}

/** The address a literal stands for. Throws IpamError `invalid` where `parseAddress` would give issues. */
export function address(text: string): Address {
  return unwrap(parseAddress(text));
}

// A loop, not ip-address' Address4: lockfiles hold 100,000 of these and the library takes 2 us for one.
// test/property/core/address.test.ts holds the two to the same answers.
function parseIPv4(text: string): Parsed<Address> {
  let value = 0;
  let octet = -1;
  let dots = 0;
  for (let i = 0; i <= text.length; i++) {
    const digit = i === text.length ? DOT : text.charCodeAt(i) - 48;
    if (digit === DOT) {
      if (octet < 0) return bad(text, "is not an IP address");
      value = value * 256 + octet;
      octet = -1;
      dots++;
    } else if (digit < 0 || digit > 9) {
      return bad(text, "is not an IP address");
    } else {
      if (octet === 0) return bad(text, "has a leading zero, which some programs read as octal");
      octet = octet < 0 ? digit : octet * 10 + digit;
      if (octet > 255) return bad(text, "has an octet above 255");
    }
  }
  if (dots !== 4) return bad(text, `has ${dots} octets; an IPv4 address has 4`);
  return { value: BigInt(value) as Address };
}

const DOT = ".".charCodeAt(0) - 48;

function parseIPv6(text: string): Parsed<Address> {
  if (text.includes(".")) return bad(text, "mixes IPv4 into IPv6; write one or the other");
  if (text.includes("%")) return bad(text, "has a zone; write the address alone");
  if (text.includes("/")) return bad(text, "has a prefix length; write the address alone");
  try {
    const value = (V6 + (readGroups(text) ?? new Address6(text).bigInt())) as Address;
    if (value >= mappedIPv4.first && value <= mappedIPv4.last)
      return bad(text, "is an IPv4-mapped address; write the IPv4 address");
    return { value };
  } catch {
    return bad(text, "is not an IP address");
  }
}

/**
 * Lower-case groups with at most one `::`, as RFC 5952 has us write them; undefined for every other text, which the
 * library judges. It takes 4 us for one, this loop 0.2; the same test holds the two to the same answers.
 */
function readGroups(text: string): bigint | undefined {
  const found: number[] = [];
  /** How many groups stand before the `::`. */
  let gap = text.startsWith("::") ? 0 : -1;
  for (let i = gap === 0 ? 2 : 0; i < text.length; ) {
    const start = i;
    let group = 0;
    for (let digit = hexDigit(text, i); digit >= 0; digit = hexDigit(text, ++i)) group = group * 16 + digit;
    if (i === start || i > start + 4) return undefined;
    found.push(group);
    if (i === text.length) break;
    if (text.charCodeAt(i) !== COLON || ++i === text.length) return undefined;
    if (text.charCodeAt(i) !== COLON) continue;
    if (gap >= 0) return undefined;
    gap = found.length;
    i++;
  }
  const missing = 8 - found.length;
  if (gap < 0 ? missing !== 0 : missing < 1) return undefined;
  setGroups(0n);
  found.forEach((group, i) => {
    groups.setUint16(2 * (i < gap ? i : i + missing), group);
  });
  return (groups.getBigUint64(0) << 64n) | groups.getBigUint64(8);
}

const COLON = ":".charCodeAt(0);

function hexDigit(text: string, i: number): number {
  const code = text.charCodeAt(i);
  if (code >= 48 && code <= 57) return code - 48;
  return code >= 97 && code <= 102 ? code - 87 : -1;
}

/** The groups of the address that is being read or written: taking a bigint apart by shifts costs ten times as much. */
const groups = new DataView(new ArrayBuffer(16));

function setGroups(value: bigint): void {
  groups.setBigUint64(0, value >> 64n);
  groups.setBigUint64(8, value);
}

/** IPv4 in disguise, ::ffff:0:0/96: a second text for a host. It is neither read nor handed out. */
export const mappedIPv4: Prefix = prefixAt((V6 + 0xffff_0000_0000n) as Address, 96);

/** The canonical text of an address: dotted decimal, or RFC 5952 (lower case, longest run of zeros as `::`). */
export function formatAddress(address: Address): string {
  return address < V6 ? formatIPv4(Number(address)) : formatIPv6(address - V6);
}

function formatIPv4(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

function formatIPv6(value: bigint): string {
  setGroups(value);
  const { start, end } = longestZeros();
  let text = "";
  for (let i = 0; i < 8; i++) {
    if (i >= start && i < end) {
      text += "::";
      i = end - 1;
    } else text += (i === 0 || i === end ? "" : ":") + groups.getUint16(2 * i).toString(16);
  }
  return text;
}

/** The first longest run of two zero groups or more. */
function longestZeros(): { start: number; end: number } {
  let best = { start: -1, end: -1 };
  let longest = 1;
  let length = 0;
  for (let i = 0; i < 8; i++) {
    length = groups.getUint16(2 * i) === 0 ? length + 1 : 0;
    if (length <= longest) continue;
    longest = length;
    best = { start: i + 1 - length, end: i + 1 };
  }
  return best;
}

/** An aligned block of addresses: `first` has no bits set behind `length`. */
export interface Prefix {
  readonly first: Address;
  readonly last: Address;
  readonly length: number;
}

/**
 * Reads `address/length`. Host bits are accepted and dropped (`10.10.11.0/16` is `10.10.0.0/16`, as the
 * proposal of ADR 1 writes it; a pool then says where it starts); the length is plain decimal without sign or leading zero.
 */
export function parsePrefix(text: unknown): Parsed<Prefix> {
  if (typeof text !== "string") return bad(text, "is not text");
  const slash = text.indexOf("/");
  if (slash < 0) return bad(text, "has no prefix length; write for example 10.0.0.0/24");
  const parsed = parseAddress(text.slice(0, slash));
  if (parsed.issues) return parsed;
  const bits = bitsOf(familyOf(parsed.value));
  const lengthText = text.slice(slash + 1);
  const length = Number(lengthText);
  if (String(length) !== lengthText || !Number.isInteger(length) || length < 0 || length > bits)
    return bad(text, `has a prefix length that is not a number from 0 to ${bits}`);
  return { value: prefixAt(parsed.value, length) };
}

/** The prefix of this length that an address lies in. */
export function prefixAt(address: Address, length: number): Prefix {
  const hostBits = BigInt(bitsOf(familyOf(address)) - length);
  const first = ((address >> hostBits) << hostBits) as Address;
  return { first, last: (first + (1n << hostBits) - 1n) as Address, length };
}

/** `10.0.0.0/24`: the first address and the length. */
export function formatPrefix(prefix: Prefix): string {
  return `${formatAddress(prefix.first)}/${prefix.length}`;
}

function bad(text: unknown, why: string): Parsed<never> {
  if (typeof text !== "string") return { issues: [{ message: `expected text, found ${typeof text}` }] };
  const shown = text.length > 60 ? `${text.slice(0, 57)}...` : text;
  return { issues: [{ message: `${JSON.stringify(shown)} ${why}` }] };
}
