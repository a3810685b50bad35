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
import { type Block, blockAt, formatBlock, holds, intervalOf } from "./block.ts";
import { nameOfKey, parseClaimKey } from "./claim.ts";
import type { Issue, Parsed } from "./errors.ts";
import { neverAutomatic, type Pool, reservedOf, single, whyNoHost } from "./pool.ts";
import type { PoolSpec, RangeText, ReservationSpec } from "./pool-spec.ts";
import { covers, type Interval, minus, normalised, type Range } from "./range.ts";
import { parseReserver, type Reservation, Reservations } from "./reservation.ts";
import { rulesIn } from "./selection/pool-rules.ts";

/** Reads a pool. All issues at once, each with its path inside the spec. */
export function parsePool(name: string, spec: PoolSpec): Parsed<Pool> {
  const reader = new Reader(spec);
  const value = reader.pool(name);
  return value === undefined ? { issues: reader.issues } : { value };
}

type Path = readonly (string | number)[];

/** Returns whether a prefix is written by another address than its first one. */
function hasHostBits(text: string, { first }: Prefix): boolean {
  return parseAddress(text.slice(0, text.indexOf("/"))).value !== first;
}

class Reader {
  readonly issues: Issue[] = [];
  private readonly spec: PoolSpec;
  /** Undefined if it cannot be read; everything else is then read without it. */
  private readonly prefix: Prefix | undefined;
  private readonly blockLength: number;

  constructor(spec: PoolSpec) {
    this.spec = spec;
    this.prefix = this.take(parsePrefix(spec.range.cidr), ["range", "cidr"]);
    this.blockLength = this.lengthOfBlocks(this.prefix);
    if (this.prefix !== undefined && spec.range.start === undefined) this.checkFirst(this.prefix);
  }

  /** Where `start` does not say it, a subnet that is written by an address inside of it may be meant to begin there. */
  private checkFirst(prefix: Prefix): void {
    const text = this.spec.range.cidr;
    if (!hasHostBits(text, prefix)) return;
    const hint = "Write it so; or say by start where its addresses begin.";
    this.fail(`${text} is the subnet ${formatPrefix(prefix)}`, ["range", "cidr"], hint);
  }

  private lengthOfBlocks(prefix: Prefix | undefined): number {
    const bits = prefix === undefined ? 32 : bitsOf(familyOf(prefix.first));
    const { blockLength = bits } = this.spec;
    if (prefix === undefined || (Number.isInteger(blockLength) && blockLength >= prefix.length && blockLength <= bits))
      return blockLength;
    this.fail(`blockLength is ${blockLength}, and must be from ${prefix.length} (all of cidr) to ${bits}`, [
      "blockLength",
    ]);
    return bits;
  }

  pool(name: string): Pool | undefined {
    const { spec, prefix, blockLength } = this;
    const main = this.main();
    const more = (spec.additionalRanges ?? []).map((text, i) => this.interval(text, ["additionalRanges", i]));
    const exclude = (spec.range.exclude ?? []).map((text, i) => this.block(text, ["range", "exclude", i]));
    const gateway = this.gateway();
    const dnsServers = this.dnsServers();
    const clusterRange = this.clusterRange();
    const kept = present((spec.reservations ?? []).map((reservation, i) => this.reservation(reservation, i)));
    if (this.issues.length > 0 || prefix === undefined || main === undefined) return undefined;

    const range = normalised([main, ...present(more)]);
    const servers = minus(dnsServers, this.blocksOf(kept)); // a node may be one: reserved for it
    const excluded = normalised(present(exclude));
    const never = [excluded, reservedOf(prefix, blockLength), single(gateway), servers, clusterRange];
    const claimable = never.reduce(minus, range);
    this.checkReservations(kept, claimable);
    if (!covers(range, clusterRange)) this.fail("clusterRange is not inside start to end", ["clusterRange"]);
    if (this.issues.length > 0) return undefined;

    const assignable = minus(claimable, this.blocksOf(kept.filter((reservation) => reservation.owner === undefined)));
    return {
      name,
      network: spec.network ?? "default",
      prefix,
      start: main.first,
      blockLength,
      range,
      excluded,
      assignable,
      automatic: minus(minus(assignable, this.blocksOf(kept)), neverAutomatic(prefix)),
      skipsZeroAnd255: prefix.length < 31 && blockLength === 32 && spec.allowZeroAnd255 !== true && isIPv4(prefix),
      allocationOrder: spec.allocationOrder ?? "Lowest",
      gateway,
      authority: spec.authority,
      clusterRange,
      reservations: new Reservations(kept, blockLength),
      rules: rulesIn(spec),
    };
  }

  /** From start to end; without them, all that a host may have. */
  private main(): Interval | undefined {
    const { start, end } = this.spec.range;
    const hosts = this.prefix && minus([this.prefix], reservedOf(this.prefix, this.blockLength));
    const first = start === undefined ? hosts?.[0]?.first : this.address(start, ["range", "start"]);
    const last = end === undefined ? hosts?.at(-1)?.last : this.address(end, ["range", "end"]);
    return this.ordered(first, last, ["range"]);
  }

  private gateway(): Address | undefined {
    const { gateway } = this.spec;
    return gateway === undefined ? undefined : this.host(this.address(gateway, ["gateway"]), ["gateway"]);
  }

  /** Those of the family of the pool. */
  private dnsServers(): Range {
    const { spec, prefix } = this;
    const all = (spec.dnsServers ?? []).map((text, i) =>
      this.host(this.take(parseAddress(text), ["dnsServers", i]), ["dnsServers", i]),
    );
    return normalised(
      present(all)
        .filter((at) => prefix && familyOf(at) === familyOf(prefix.first))
        .flatMap(single),
    );
  }

  private clusterRange(): Range {
    const { clusterRange, authority } = this.spec;
    if (clusterRange && authority === "Cluster") {
      const hint = "Leave it out: the controller has the whole pool; or let the pool have authority Plan.";
      this.fail("clusterRange divides a pool of authority Plan", ["clusterRange"], hint);
    }
    return clusterRange === undefined ? [] : present([this.interval(clusterRange, ["clusterRange"])]);
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

  /** The address, unless no host can have it. */
  private host(address: Address | undefined, path: Path): Address | undefined {
    const { prefix } = this;
    const why = address === undefined || prefix === undefined ? undefined : whyNoHost(prefix, address);
    if (why === undefined) return address;
    this.fail(why, path, "Write the address that the router or server has.");
    return undefined;
  }

  /** An address or a prefix, inside the prefix. */
  private block(text: string, path: Path): Interval | undefined {
    if (!text.includes("/")) return single(this.address(text, path))[0];
    const block = this.take(parsePrefix(text), path);
    if (block !== undefined && hasHostBits(text, block)) {
      const hint = `Write it so; or, for that address alone, ${text.slice(0, text.indexOf("/"))}.`;
      this.fail(`${text} is the prefix ${formatPrefix(block)}`, path, hint);
    }
    return block !== undefined && this.inside(block, text, path) ? block : undefined;
  }

  private inside(block: Interval, text: string, path: Path): boolean {
    if (this.prefix === undefined || covers([this.prefix], [block])) return true;
    const isOther = familyOf(block.first) !== familyOf(this.prefix.first);
    const hint = isOther ? "A pool is of one family: make a pool of its own for the other one." : undefined;
    this.fail(`${text} is not in ${formatPrefix(this.prefix)}`, path, hint);
    return false;
  }

  private reservation(spec: ReservationSpec, i: number): Reservation | undefined {
    const address = this.address(spec.address, ["reservations", i, "address"]);
    if (spec.owner !== undefined) this.take(parseReserver(spec.owner), ["reservations", i, "owner"]);
    else if (spec.claim !== undefined) this.fail("a claim needs its owner", ["reservations", i, "claim"]);
    const isKey = spec.claim?.startsWith("Node/") || spec.claim?.startsWith(`${spec.owner}/`);
    if (spec.claim !== undefined && isKey && parseClaimKey(spec.claim).value !== undefined) {
      const hint = `Write its name alone: ${nameOfKey(spec.claim)}`;
      this.fail("this is a claim with its owner", ["reservations", i, "claim"], hint);
    }
    return address === undefined ? undefined : { ...spec, address: this.blockOf(address).address };
  }

  private checkReservations(reservations: readonly Reservation[], claimable: Range): void {
    const seen = new Set<Address>();
    reservations.forEach(({ address, owner }, i) => {
      const path = ["reservations", i, "address"];
      const block = this.blockOf(address);
      const text = formatBlock(block);
      if (owner !== undefined && !holds(claimable, block))
        this.fail(
          `${text} is outside start to end, excluded, or reserved for the network itself`,
          path,
          "Reserve what the pool could give: leave it out of exclude; outside of start to end it needs additionalRanges.",
        );
      if (seen.has(address)) this.fail(`${text} is reserved twice`, path);
      seen.add(address);
    });
  }

  /** In a pool of blocks, an address stands for the block that it is in. */
  private blockOf(address: Address): Block {
    return blockAt(address, this.blockLength);
  }

  private blocksOf(reservations: readonly Reservation[]): Range {
    return normalised(reservations.map(({ address }) => intervalOf(this.blockOf(address))));
  }

  private take<T>(parsed: Parsed<T>, path: Path): T | undefined {
    for (const issue of parsed.issues ?? []) this.issues.push({ ...issue, path });
    return parsed.value;
  }

  private fail(message: string, path: Path, hint?: string): void {
    this.issues.push({ message, path, ...(hint === undefined ? {} : { hint }) });
  }
}

function isIPv4({ first }: Prefix): boolean {
  return familyOf(first) === 4;
}

function present<T>(values: readonly (T | undefined)[]): T[] {
  return values.filter((value) => value !== undefined);
}
