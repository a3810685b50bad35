import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { byAddress, byCodeUnit, formatPrefix, IpamError, type PoolRecord, type Snapshot } from "../../core/index.ts";
import { type Content, decode, encode } from "../codec.ts";

/*
 * A record in parts, one for each subnet: all pools of one network and cidr. An address can be in two pools only if
 * their prefixes overlap, so as long as no two parts overlap (subnet-index.ts sees to that), a part that is replaced as
 * a whole keeps every address unique.
 */

/** Text that a person can read with kubectl, or, above a size, the same text compressed. */
export type Body = { readonly text: string } | { readonly gzip: string };

/** Bytes of text from which on it is compressed, bytes that a ConfigMap may hold, and bytes of text that are read at all. */
const plainLimit = 256 * 1024;
const limit = 1024 * 1024;
const textLimit = 64 * 1024 * 1024;
/** Bytes that new lines leave free: a line takes more of them while it is releasing. */
const reserve = 64 * 1024;

/**
 * The name of a part, as an object may be named: network and cidr, with `x` for `::`. No two subnets have one name, and
 * none of them is `ippool.index`. A network that is no DNS label, or that looks like a hash, goes by its hash.
 */
export function partName({ network, prefix }: Pick<PoolRecord, "network" | "prefix">): string {
  const cidr = formatPrefix(prefix).replace("::", "-x-").replace(/[:/]/g, "-").replace(/^-/, "").replace("--", "-");
  const isName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(network) && !/^hash-[0-9a-f]{40}$/.test(network);
  const name = isName ? network : `hash-${createHash("sha256").update(network).digest("hex").slice(0, 40)}`;
  return `ippool.${name}.${cidr}`;
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

/** A part of a subnet in which nobody has an address. */
export function emptyPart() {
  return { pools: [], allocations: [], releasing: [] } as { [K in keyof Content]: Content[K][number][] };
}

/** Throws IpamError `corrupt` for a part with a pool of another subnet. */
export function checkPlace(name: string, { pools }: Content): void {
  const pool = pools.find((one) => partName(one) !== name);
  if (pool === undefined) return;
  throw new IpamError("corrupt", `${name} holds pool ${pool.name}, whose place is ${partName(pool)}`, {
    hint: "Delete it if it is a copy; if the pool's line was edited, put it back as it was.",
  });
}

/** The record that parts make up. No pool is in two of them. */
export function join(parts: ReadonlyMap<string, Snapshot>): Snapshot {
  const all = [...parts.values()].filter(({ pools }) => pools.length > 0);
  if (all.length === 1) return all[0] as Snapshot;
  return {
    pools: all.flatMap(({ pools }) => pools).sort((a, b) => byCodeUnit(a.name, b.name)),
    allocations: all.flatMap(({ allocations }) => allocations).sort(byAddress),
    releasing: all.flatMap(({ releasing }) => releasing).sort(byAddress),
    base: new Map(all.flatMap(({ base }) => [...base])),
  };
}

/** Throws IpamError `exhausted` if no object can hold the part, and says how many addresses fit. Without `grows`, the reserve is used. */
export function encodePart(part: Content, name: string, grows = true): Body {
  const text = encode(part);
  const size = Buffer.byteLength(text);
  if (size <= plainLimit) return { text };
  const packed = gzipSync(text);
  const room = grows ? limit - reserve : limit;
  if (packed.length <= room && size <= textLimit) return { gzip: packed.toString("base64") };
  const lines = countLines(part);
  const fit = Math.floor(lines / Math.max(packed.length / room, size / textLimit));
  throw new IpamError(
    "exhausted",
    `${name} would hold ${lines} addresses in ${packed.length} bytes (compressed), and there is room for ${room}: about ${fit} addresses`,
    { hint: "Spread the nodes over pools of other subnets, or keep this record in a lockfile." },
  );
}

/** Throws IpamError `corrupt` with the place of the first broken line. */
export function decodePart({ text, gzip }: { readonly text?: string; readonly gzip?: string }, name: string): Snapshot {
  if (text === undefined && gzip === undefined) throw damagedMap(name, "holds no record");
  return decodeText(text ?? unpacked(gzip as string, name), name);
}

export function countLines({ allocations, releasing }: Content): number {
  return allocations.length + releasing.length;
}

function unpacked(gzip: string, name: string): string {
  try {
    return gunzipSync(Buffer.from(gzip, "base64"), { maxOutputLength: textLimit }).toString();
  } catch (error) {
    throw damagedMap(name, `holds no record: ${(error as Error).message}`);
  }
}

function decodeText(text: string, name: string): Snapshot {
  try {
    return decode(text, name);
  } catch (error) {
    if (!(error instanceof IpamError) || error.code !== "corrupt") throw error;
    throw new IpamError(
      "corrupt",
      error.issues.map(({ message, at }) => ({
        message,
        ...(at === undefined ? {} : { at }),
        hint: putBack("nothing of its subnet"),
      })),
    );
  }
}

function putBack(what: string): string {
  return `Put it back as it was, or take the object from a backup; ${what} is written until it can be read.`;
}

/** The error for what cannot be read: a part, or the index of them. `waits` says what is not written until it can be. */
export function damagedMap(name: string, what: string, waits = "nothing of its subnet"): IpamError {
  return new IpamError("corrupt", `${name} ${what}`, { hint: putBack(waits) });
}
