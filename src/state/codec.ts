import { createHash } from "node:crypto";
import {
  type Address,
  type Allocation,
  byAddress,
  formatAddress,
  formatPrefix,
  IpamError,
  type PoolRecord,
  parseAddress,
  parseClaimKey,
  parsePrefix,
  type Snapshot,
} from "../core/index.ts";
import type { Record } from "./apply.ts";

const heading = "# Written by nodeippool. Review it like code.";

/** The text of a record: valid YAML, one line of JSON for each pool and allocation, sorted by address. */
export function encode(record: Record): string {
  return [
    heading,
    "version: 1",
    ...section("pools", record.pools.map(poolLine)),
    ...section("allocations", record.allocations.map(allocationLine)),
    ...section("releasing", record.releasing.map(allocationLine)),
    "",
  ].join("\n");
}

function section(name: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [`${name}: []`] : [`${name}:`, ...lines];
}

function poolLine({ name, prefix, network }: PoolRecord): string {
  const cidr = formatPrefix(prefix);
  return `- ${JSON.stringify(network === "default" ? { pool: name, cidr } : { pool: name, cidr, network })}`;
}

function allocationLine(line: Allocation): string {
  return `- ${JSON.stringify({
    address: formatAddress(line.address),
    pool: line.pool,
    claim: line.claim,
    set: line.set === "default" ? undefined : line.set,
    interface: line.interface,
    uid: line.uid,
  })}`;
}

/** A record with its tokens. */
export function snapshotOf(record: Record): Snapshot {
  const content = new Map<string, string[]>(record.pools.map((pool) => [pool.name, [poolLine(pool)]]));
  for (const line of record.allocations) content.get(line.pool)?.push(allocationLine(line));
  for (const line of record.releasing) content.get(line.pool)?.push(`releasing ${allocationLine(line)}`);
  return { ...record, base: tokens(content) };
}

function tokens(content: ReadonlyMap<string, readonly string[]>): Map<string, string> {
  const hash = (lines: readonly string[]) => createHash("sha256").update(lines.join("\n")).digest("base64url");
  return new Map([...content].filter(([, lines]) => lines.length > 1).map(([pool, lines]) => [pool, hash(lines)]));
}

/**
 * Reads the text of a record and checks every invariant: known form, order, pools recorded, addresses inside their
 * prefix, an address once per network, a claim once per pool. So a text that two branches made together can fail
 * to be read, but can never hold a duplicate. Throws IpamError `corrupt` with `file:line` of the first broken line.
 */
export function decode(text: string, file: string): Snapshot {
  return new Reader(text, file).read();
}

type Fields = { readonly [field: string]: unknown };

class Reader {
  private readonly lines: readonly string[];
  private readonly file: string;
  /** The line being read, counted from 0. */
  private at = 0;
  private readonly pools = new Map<string, PoolRecord>();
  private readonly content = new Map<string, string[]>();

  constructor(text: string, file: string) {
    this.lines = text.replaceAll("\r\n", "\n").split("\n");
    this.file = file;
  }

  read(): Snapshot {
    while (this.lines[this.at]?.startsWith("#")) this.at++;
    this.expect("version: 1");
    this.section("pools", (fields, line) => this.pool(fields, line));
    const allocations = this.allocations("allocations", "");
    const releasing = this.allocations("releasing", "releasing ");
    this.expect("");
    if (this.at < this.lines.length) this.fail("stands after the end of the record");
    this.once(allocations, releasing);
    const used = new Set([...this.content].filter(([, lines]) => lines.length > 1).map(([pool]) => pool));
    const pools = [...this.pools.values()].filter((pool) => used.has(pool.name));
    return { pools, allocations, releasing, base: tokens(this.content) };
  }

  private expect(text: string): void {
    if (this.lines[this.at] !== text) this.fail(text === "" ? "is not part of a record" : `should be \`${text}\``);
    this.at++;
  }

  /** `name: []`, or `name:` and its lines; each line must be exactly what `encode` would write. */
  private section(name: string, read: (fields: Fields, line: string) => string): void {
    if (this.lines[this.at] === `${name}: []`) {
      this.at++;
      return;
    }
    this.expect(`${name}:`);
    for (let line = this.lines[this.at]; line?.startsWith("- "); line = this.lines[++this.at]) {
      if (read(this.fields(line), line) !== line) this.fail("is not written as nodeippool writes it");
    }
  }

  private fields(line: string): Fields {
    try {
      const value: unknown = JSON.parse(line.slice(2));
      if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
    } catch {
      // Reported below, with the line.
    }
    return this.fail("is not a line of a record");
  }

  private pool(fields: Fields, line: string): string {
    const { pool: name, cidr, network = "default" } = fields;
    const prefix = parsePrefix(cidr).value ?? this.fail("has no valid cidr");
    if (typeof name !== "string" || typeof network !== "string" || !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name))
      return this.fail("names no pool");
    const last = [...this.pools.keys()].at(-1);
    if (last !== undefined && last >= name) this.fail(last === name ? "records a pool twice" : "is out of order");
    const record = { name, prefix, network };
    this.pools.set(name, record);
    this.content.set(name, [line]);
    return poolLine(record);
  }

  private allocations(name: string, mark: string): Allocation[] {
    const read: Allocation[] = [];
    const claims = new Map<string, Set<string>>();
    this.section(name, (fields, line) => {
      const allocation = this.allocation(fields);
      const previous = read.at(-1);
      if (previous !== undefined && byAddress(previous, allocation) >= 0) this.fail(outOfOrder(previous, allocation));
      const known = claims.get(allocation.pool) ?? new Set();
      claims.set(allocation.pool, known);
      if (mark === "" && known.has(allocation.claim)) this.fail(`gives claim ${allocation.claim} a second address`);
      known.add(allocation.claim);
      read.push(allocation);
      this.content.get(allocation.pool)?.push(mark + line);
      return allocationLine(allocation);
    });
    return read;
  }

  private allocation(fields: Fields): Allocation {
    const { pool, claim, set = "default", interface: nic, uid } = fields;
    const address = parseAddress(fields.address).value ?? this.fail("has no valid address");
    const record = typeof pool === "string" ? this.pools.get(pool) : undefined;
    if (record === undefined) return this.fail(`names pool ${JSON.stringify(pool)}, which is not recorded above`);
    if (address < record.prefix.first || address > record.prefix.last)
      this.fail(`holds ${formatAddress(address)}, outside ${formatPrefix(record.prefix)} of pool ${record.name}`);
    if (typeof claim !== "string" || parseClaimKey(claim).issues) return this.fail("names no valid claim");
    if (typeof set !== "string" || !isText(nic) || !isText(uid)) return this.fail("has a field that is not text");
    const optional = { ...(nic === undefined ? {} : { interface: nic }), ...(uid === undefined ? {} : { uid }) };
    return { address, pool: record.name, claim, set, ...optional };
  }

  /** An address stands once per network, live and releasing together. Both lists are sorted: one walk. */
  private once(allocations: readonly Allocation[], releasing: readonly Allocation[]): void {
    let current: Address | undefined;
    let holders = new Map<string, Allocation>();
    for (const line of [...allocations, ...releasing].sort(byAddress)) {
      if (line.address !== current) holders = new Map();
      current = line.address;
      const network = this.pools.get(line.pool)?.network as string;
      const holder = holders.get(network);
      if (holder !== undefined) {
        this.at = this.lines.lastIndexOf(allocationLine(line));
        this.fail(`gives ${formatAddress(line.address)} to ${line.claim}; ${holder.claim} holds it too`);
      }
      holders.set(network, line);
    }
  }

  private fail(why: string): never {
    const line = this.lines[this.at] ?? "";
    const shown = line.length > 100 ? `${line.slice(0, 97)}...` : line;
    throw new IpamError("corrupt", [
      {
        message: `this line ${why}:\n  ${shown}`,
        at: { file: this.file, line: Math.min(this.at, this.lines.length - 1) + 1, column: 1 },
        hint: "Restore the file from git; or, after a merge, run nodeippool allocate --landed REV with the branch that came first.",
      },
    ]);
  }
}

function outOfOrder(previous: Allocation, line: Allocation): string {
  return previous.address === line.address && previous.pool === line.pool
    ? `gives ${formatAddress(line.address)} away a second time; ${previous.claim} holds it`
    : "is out of order";
}

function isText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}
