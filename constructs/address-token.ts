import {
  type Allocation,
  familyOf,
  formatAddress,
  formatBlock,
  IpamError,
  isPlanned,
  isSingle,
  nodeNameOf,
  nodeOwner,
  ownerInPool,
  ownerOfKey,
  type Pool,
  type Snapshot,
} from "../core/index.ts";
import { didYouMean } from "../schema/nearest.ts";

export const scheme = "ippool://";
const name = "[A-Za-z0-9](?:[\\w.-]*[A-Za-z0-9])?";
const token = new RegExp(
  `${scheme}(?<pool>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)/(?<path>(?:[A-Z][A-Za-z0-9]*/(?:${name}:)?)?${name}(?:/${name})*)(?:#(?<form>\\w+))?`,
  "g",
);

/** A token, or the text of a claim, that nothing has made an address of. */
export const openToken = /ippool:\/[^\s"',}\]]*|\{\{ ippool\.[^}]*\}\}/;

/**
 * Replaces every `ippool://POOL/OWNER/CLAIM` in a text by the address that claim holds. OWNER is a node's name, or
 * `Kind/name`, or `Kind/namespace:name`; CLAIM may be cut short, or left out, where one claim fits. `#cidr` after it
 * gives the address with its prefix length; `#ip`, the default, ends a token where more text follows. A block is a block in
 * either form.
 * Throws IpamError `invalid` for a token that names nothing, or more than one claim.
 */
export function replaceTokens(text: string, holders: Holders): string {
  if (!text.includes(scheme)) return text;
  let read = 0;
  const replaced = text.replace(token, (found, ...rest) => {
    read++;
    const { pool, path, form = "ip" } = rest.at(-1) as { pool: string; path: string; form?: string };
    const line = holders.find(pool, path, found);
    const after = text.slice((rest.at(-3) as number) + found.length);
    if (form === "ip" && familyOf(line.address) === 6 && /^:[0-9a-f]/i.test(after))
      throw new IpamError("invalid", `${found}${after.slice(0, 6)}: that would be one IPv6 address with what follows`, {
        hint: `Write [${found}]${after.slice(0, 6)}.`,
      });
    if (form === "ip" || (form === "cidr" && !isSingle(line))) return formatBlock(line);
    if (form === "cidr") return `${formatAddress(line.address)}/${holders.prefixLength(pool)}`;
    throw new IpamError("invalid", `${found}: an address has the forms #ip and #cidr, not #${form}`, {
      hint: "No letter, digit or _ can follow #ip or #cidr.",
    });
  });
  if (read === text.split(scheme).length - 1) return replaced;
  throw new IpamError("invalid", `${JSON.stringify(text.slice(0, 200))} holds an address token that cannot be read`, {
    hint: `Write ${scheme}POOL/NODE, ${scheme}POOL/NODE/CLAIM or ${scheme}POOL/Kind/name/CLAIM.`,
  });
}

/** The claim key that a path means, or the beginning of one. */
function keyOf(path: string): string {
  return /^[A-Z]/.test(path) ? path : nodeOwner(path.replace(/\/.*/, "")) + path.replace(/^[^/]*/, "");
}

/** The allocations, by pool and owner. */
export class Holders {
  private readonly snapshot: Snapshot;
  private readonly byOwner: Map<string, Allocation[]>;

  /** The pools of the app whose addresses the cluster gives: no record of the app has them. */
  private readonly ofCluster: ReadonlySet<string>;

  constructor(snapshot: Snapshot, defined: readonly Pool[] = []) {
    this.snapshot = snapshot;
    this.ofCluster = new Set(defined.filter((pool) => !isPlanned(pool)).map(({ name }) => name));
    this.byOwner = Map.groupBy(snapshot.allocations, ownerInPool);
  }

  prefixLength(pool: string): number | undefined {
    return this.snapshot.pools.find((record) => record.name === pool)?.prefix.length;
  }

  /** The one line of a pool whose claim key is `path`, or begins with it. */
  find(pool: string, path: string, token: string): Allocation {
    const key = keyOf(path);
    const owner = key.split("/").slice(0, 2).join("/");
    const lines = this.byOwner.get(`${pool} ${owner}`) ?? [];
    const fitting = lines.filter((line) => line.claim === key || line.claim.startsWith(`${key}/`));
    const found = fitting.find((line) => line.claim === key) ?? fitting[0];
    if (found !== undefined && (found.claim === key || fitting.length === 1)) return found;
    if (fitting.length > 1)
      throw new IpamError("invalid", `${token}: ${fitting.length} claims of ${owner} fit`, {
        hint: `Write one of them: ${fitting
          .slice(0, 5)
          .map(({ claim }) => claim.slice(owner.length + 1))
          .join(", ")}.`,
      });
    throw new IpamError("invalid", `${token}: ${this.absence(pool, owner, key, lines)}`, {
      hint: `Where text follows that is no part of it, end it with #ip: ${scheme}${pool}/NODE#ip.`,
    });
  }

  private absence(pool: string, owner: string, key: string, lines: readonly Allocation[]): string {
    if (this.ofCluster.has(pool))
      return `the cluster allocates from pool ${pool} (authority Cluster), so that no address of it is known here`;
    const pools = this.snapshot.pools.map((record) => record.name);
    if (!pools.includes(pool)) return `no address of a pool ${pool} is recorded${didYouMean(pool, pools)}`;
    if (lines.length > 0)
      return `${owner} has no claim ${key.slice(owner.length + 1)} on ${pool}${didYouMean(
        key,
        lines.map((line) => line.claim),
      )}`;
    const owners = this.snapshot.allocations.filter((line) => line.pool === pool).map((line) => ownerOfKey(line.claim));
    const node = nodeNameOf(owner);
    return `${node === undefined ? owner : `node ${node}`} holds no address of ${pool}${didYouMean(owner, new Set(owners))}`;
  }
}
