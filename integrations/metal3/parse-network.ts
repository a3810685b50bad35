import {
  type Address,
  bitsOf,
  familyOf,
  formatAddress,
  formatPrefix,
  type Issue,
  normalised,
  type Parsed,
  type PoolSpec,
  type PoolWords,
  parseAddress,
  prefixAt,
} from "../../core/index.ts";
import { unknownField } from "../../schema/nearest.ts";
import { parsePoolSpec } from "../../schema/node-ip-pool.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import type { Path } from "../../schema/yaml.ts";
import type { Network } from "./infra.ts";

/**
 * Reads a network as a pool. All issues, with their paths inside the network.
 *
 *  what is written       | the pool
 *  ----------------------+------------------------------------------------------------
 *  addressRange          | from start to end, both included
 *  addresses             | exactly these, whatever their order
 *  netmask               | the prefix of them all
 *  gateway, dnsServers   | never handed out, nor are network and broadcast address, nor what is `named` for something else
 *
 * Addresses that end in .0 or .255 are handed out like others: a host has what its network has.
 */
export function parseNetwork(name: string, value: unknown, named: ReadonlySet<Address>): Parsed<Network> {
  const reader = new NetworkReader(named);
  const network = reader.network(name, value);
  return network === undefined || reader.issues.length > 0 ? { issues: reader.issues } : { value: network };
}

const known = ["netmask", "addressRange", "addresses", "gateway", "dnsServers"];

class NetworkReader {
  readonly issues: Issue[] = [];
  private readonly named: ReadonlySet<Address>;

  constructor(named: ReadonlySet<Address>) {
    this.named = named;
  }

  network(name: string, value: unknown): Network | undefined {
    const bag = asBag(value);
    if (bag === undefined) return this.fail("a network needs netmask, and addressRange or addresses", []);
    const unknown = unknownField(bag, known);
    if (unknown !== undefined) this.fail(unknown, [Object.keys(bag).find((key) => !known.includes(key)) ?? ""]);
    if ("addressRange" in bag === "addresses" in bag)
      this.fail("a network has either addressRange or addresses", "addresses" in bag ? ["addresses"] : []);
    const dnsServers = this.texts(bag, "dnsServers").map((text, i) => this.address(text, ["dnsServers", i]));
    const gateway = bag.gateway === undefined ? undefined : this.address(bag.gateway, ["gateway"]);
    const list = "addresses" in bag ? this.listed(bag) : undefined;
    const range = list === undefined ? this.range(asBag(bag.addressRange)) : undefined;
    const sample = list?.find((address) => address !== undefined) ?? range?.first;
    const length = this.netmask(bag.netmask, sample);
    if (sample === undefined || length === undefined) return undefined;
    if (list !== undefined) this.checkSubnet(list, sample, length);
    if (this.issues.length > 0) return undefined;
    const [first, ...more] = range === undefined ? normalised(present(list ?? []).map(alone)) : [range];
    const subnet = prefixAt(sample, length);
    const exclude = [...this.named].filter((one) => one >= subnet.first && one <= subnet.last).map(formatAddress);
    const spec: PoolSpec = {
      range: { cidr: `${formatAddress(sample)}/${length}`, ...(first && texts(first)), exclude },
      ...(more.length === 0 ? {} : { additionalRanges: more.map(texts) }),
      ...(gateway === undefined ? {} : { gateway: formatAddress(gateway) }),
      dnsServers: present(dnsServers).map(formatAddress),
      authority: "Plan",
      allowZeroAnd255: true,
    };
    const { value: pool, issues = [] } = parsePoolSpec(name, spec);
    for (const issue of issues) this.issues.push({ ...issue, path: pathInNetwork(issue.path ?? []) });
    const words = wordsFor(`infra.networks.${name}`, list === undefined);
    return pool === undefined ? undefined : { pool: { ...pool, words }, spec, dnsServers: present(dnsServers) };
  }

  private range(range: Bag | undefined): Interval | undefined {
    const path = ["addressRange"];
    if (range === undefined) return undefined;
    const unknown = unknownField(range, ["start", "end"]);
    if (unknown !== undefined) return this.fail(unknown, path);
    const first = this.address(range.start, [...path, "start"]);
    const last = this.address(range.end, [...path, "end"]);
    if (first === undefined || last === undefined) return undefined;
    if (familyOf(first) !== familyOf(last)) return this.fail(oneFamily, [...path, "end"]);
    if (first <= last) return { first, last };
    const [start, end] = [first, last].map(formatAddress);
    return this.fail(`addressRange ends (${end}) before it starts (${start})`, [...path, "end"]);
  }

  private listed(bag: Bag): readonly (Address | undefined)[] {
    const list = this.texts(bag, "addresses").map((text, i) => this.address(text, ["addresses", i]));
    if (Array.isArray(bag.addresses) && list.length === 0) this.fail("addresses is empty", ["addresses"]);
    const seen = new Map<Address, number>();
    list.forEach((address, i) => {
      if (address === undefined) return;
      const before = seen.get(address);
      if (before === undefined) seen.set(address, i);
      else this.fail(`${formatAddress(address)} is addresses[${before}] already`, ["addresses", i]);
    });
    return list;
  }

  private checkSubnet(list: readonly (Address | undefined)[], sample: Address, length: number): void {
    const subnet = prefixAt(sample, length);
    list.forEach((address, i) => {
      if (address === undefined || (address >= subnet.first && address <= subnet.last)) return;
      const isOther = familyOf(address) !== familyOf(sample);
      const message = `${formatAddress(address)} is not in ${formatPrefix(subnet)}, where the first one is`;
      this.fail(isOther ? oneFamily : message, ["addresses", i]);
    });
  }

  /** The length of the prefix. */
  private netmask(value: unknown, address: Address | undefined): number | undefined {
    const bits = address === undefined ? 128 : bitsOf(familyOf(address));
    if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= bits) return value;
    const length = typeof value === "string" ? lengthOf(value) : undefined;
    const hint = length === undefined ? undefined : `Write it as the prefix length: ${length}`;
    const range = `a number from 1 to ${bits}`;
    const message = value === undefined ? `netmask is missing: ${range}` : `netmask must be a prefix length, ${range}`;
    return this.fail(message, value === undefined ? [] : ["netmask"], hint);
  }

  private texts(bag: Bag, field: string): readonly unknown[] {
    const value = bag[field];
    if (value === undefined || Array.isArray(value)) return value ?? [];
    this.fail(`${field} must be a list`, [field]);
    return [];
  }

  private address(text: unknown, path: Path): Address | undefined {
    if (text === undefined) return this.fail(`${path.at(-1)} is missing`, path.slice(0, -1));
    const { value, issues = [] } = parseAddress(text);
    for (const issue of issues) this.issues.push({ ...issue, path });
    return value;
  }

  private fail(message: string, path: Path, hint?: string): undefined {
    this.issues.push({ message, path, ...(hint === undefined ? {} : { hint }) });
  }
}

function wordsFor(place: string, isRange: boolean): PoolWords {
  if (isRange)
    return {
      grows: `a wider ${place}.addressRange`,
      fields: "addressRange, gateway, dnsServers",
      without: `let ${place} have addresses without it, and no addressRange`,
      ...others,
    };
  return {
    grows: `more of ${place}.addresses`,
    fields: "addresses, gateway, dnsServers",
    without: `take it out of ${place}.addresses`,
    ...others,
  };
}

const others = { renumber: "give the host another address", another: "a network of another name" };

interface Interval {
  readonly first: Address;
  readonly last: Address;
}

const oneFamily = "a network is of one family; make a network of its own for the other one";

function alone(address: Address): Interval {
  return { first: address, last: address };
}

function texts({ first, last }: Interval) {
  return { start: formatAddress(first), end: formatAddress(last) };
}

/** Where in a network stands what the pool has under another name. */
function pathInNetwork([head, field, ...rest]: Path): Path {
  if (head !== "range") return head === undefined ? [] : [head, ...(field === undefined ? [] : [field]), ...rest];
  return field === "start" || field === "end" ? ["addressRange", field] : ["netmask"];
}

/** 255.255.255.0 is 24, and so is the text "24"; undefined for all else. */
function lengthOf(text: string): number | undefined {
  if (/^\d{1,3}$/.test(text)) return Number(text);
  const { value } = parseAddress(text);
  if (value === undefined || familyOf(value) !== 4) return undefined;
  const bits = value.toString(2).padStart(32, "0");
  return /^1+0*$/.test(bits) ? bits.lastIndexOf("1") + 1 : undefined;
}

function present<T>(values: readonly (T | undefined)[]): T[] {
  return values.filter((value) => value !== undefined);
}
