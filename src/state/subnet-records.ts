import { gunzipSync, gzipSync } from "node:zlib";
import {
  type Address,
  byAddress,
  byCodeUnit,
  formatAddress,
  formatPrefix,
  IpamError,
  type PoolRecord,
  type Prefix,
  type Snapshot,
} from "../core/index.ts";
import { type Content, decode, encode, snapshotOf } from "./codec.ts";

/*
 * A record in parts, one for each subnet: all pools of one network and cidr. An address can be in two pools only if
 * their prefixes overlap, so as long as no two parts overlap (`overlapping`), a part that is replaced as a whole keeps
 * every address unique.
 */

/** Text that a person can read with kubectl, or, above a size, the same text compressed. */
export type Body = { readonly text: string } | { readonly gzip: string };

/** Bytes of text from which on it is compressed, and bytes that a ConfigMap may hold. */
const plainLimit = 256 * 1024;
const limit = 1024 * 1024;

/** The name of a part, as an object may be named: network and cidr, with `-x-` for `::`. */
export function partName({ network, prefix }: Pick<PoolRecord, "network" | "prefix">): string {
  const cidr = formatPrefix(prefix).replace("::", "-x-").replaceAll(":", "-").replace("/", "-");
  return `ippool.${network}.${cidr.replace(/^-/, "").replace("--", "-")}`;
}

/** A record, part by part. */
export function split(record: Content): Map<string, Content> {
  const home = new Map(record.pools.map((pool) => [pool.name, partName(pool)]));
  const parts = new Map([...new Set(home.values())].map((name) => [name, emptyPart()]));
  for (const pool of record.pools) parts.get(partName(pool))?.pools.push(pool);
  for (const kind of ["allocations", "releasing"] as const)
    for (const line of record[kind]) parts.get(home.get(line.pool) as string)?.[kind].push(line);
  return parts;
}

function emptyPart() {
  return { pools: [], allocations: [], releasing: [] } as { [K in keyof Content]: Content[K][number][] };
}

/** The record that parts make up. Throws IpamError `corrupt` for a pool in two of them. */
export function join(parts: ReadonlyMap<string, Content>): Snapshot {
  const homes = new Map<string, string>();
  for (const [name, { pools }] of parts)
    for (const pool of pools) {
      const other = homes.get(pool.name);
      if (other !== undefined) throw new IpamError("corrupt", `pool ${pool.name} is in both ${other} and ${name}`);
      homes.set(pool.name, name);
    }
  const all = [...parts.values()];
  return snapshotOf({
    pools: all.flatMap(({ pools }) => pools).sort((a, b) => byCodeUnit(a.name, b.name)),
    allocations: all.flatMap(({ allocations }) => allocations).sort(byAddress),
    releasing: all.flatMap(({ releasing }) => releasing).sort(byAddress),
  });
}

/** Throws IpamError `exhausted` if no object can hold the part, and says how many addresses fit. */
export function encodePart(part: Content, name: string): Body {
  const text = encode(part);
  if (text.length <= plainLimit) return { text };
  const packed = gzipSync(text, { level: 9 });
  if (packed.length <= limit) return { gzip: packed.toString("base64") };
  const lines = part.allocations.length + part.releasing.length;
  throw new IpamError(
    "exhausted",
    `${name} would hold ${lines} addresses in ${packed.length} bytes, and an object holds ${limit}: about ${Math.floor((lines * limit) / packed.length)} addresses`,
    { hint: "Spread the nodes over pools of other subnets, or keep this record in a lockfile." },
  );
}

/** Throws IpamError `corrupt` with the place of the first broken line. */
export function decodePart(body: Partial<{ text: string; gzip: string }>, name: string): Snapshot {
  if (body.text !== undefined) return decode(body.text, name);
  try {
    return decode(
      gunzipSync(Buffer.from(body.gzip ?? "", "base64"), { maxOutputLength: 256 * limit }).toString(),
      name,
    );
  } catch (error) {
    if (error instanceof IpamError) throw error;
    throw new IpamError("corrupt", `${name} holds no record: ${(error as Error).message}`, { cause: error });
  }
}

/** A subnet, as the index of all of them lists it. */
export interface Subnet {
  readonly network: string;
  readonly prefix: Prefix;
}

/** Two subnets of one network that share addresses, if there are any. */
export function overlapping(subnets: readonly Subnet[]): readonly [Subnet, Subnet] | undefined {
  const sorted = [...subnets].sort(
    (a, b) => byCodeUnit(a.network, b.network) || compare(a.prefix.first, b.prefix.first),
  );
  for (const [i, next] of sorted.entries()) {
    const last = sorted[i - 1];
    if (last?.network === next.network && last.prefix.last >= next.prefix.first) return [last, next];
  }
  return undefined;
}

function compare(a: Address, b: Address): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** `10.0.0.0/24 (network default)` */
export function describeSubnet({ network, prefix }: Subnet): string {
  return `${formatAddress(prefix.first)}/${prefix.length} (network ${network})`;
}
