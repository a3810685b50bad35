import type { IpamError, PoolRecord, UnreadableSubnet } from "../../core/index.ts";
import { firstThenOthers } from "./changed-parts.ts";
import type { Parts } from "./parts.ts";
import type { RecordMap } from "./record-map.ts";

/** Why a ConfigMap of the record cannot be written. */
export interface Blocked {
  readonly why: IpamError;
  /** The pools that wait for that write, or may have lines there. */
  readonly pools: readonly PoolRecord[];
  /** The write that the server refused, if it did. */
  readonly refused?: RecordMap;
  /** Whether it only has no room for more. */
  readonly isFull?: boolean;
}

/**
 * The ConfigMaps of the record that cannot be written. A writer that goes on plans without them, so that none keeps another one
 * from being written.
 *
 *  a ConfigMap                                        | its pools are | until
 *  ---------------------------------------------------+---------------+----------------------------------------
 *  would be larger than an object, with more lines    | full          | somebody changes it, be it by a release
 *  would be, with as many lines or fewer, or by a     | unreadable    | somebody changes it
 *   plan that was made while it was full              |               |
 *  is refused by the server, or another program has   | unreadable    | the server would take it, or somebody
 *   one of that name                                  |               |  changes it
 *  is unreadable, and lists no pool that begins there | unreadable,   | somebody changes it
 *                                                     |  that one too |
 */
export class BlockedParts {
  private readonly parts = new Map<string, Blocked & { readonly version: string | undefined }>();

  /** `version` is that of the object, undefined if there is none. */
  add(name: string, version: string | undefined, blocked: Blocked): void {
    const known = this.parts.get(name);
    const before = known?.version === version ? known : undefined;
    const pools = new Map([...(before?.pools ?? []), ...blocked.pools].map((pool) => [pool.name, pool]));
    this.parts.set(name, { ...before, ...blocked, version, pools: [...pools.values()] });
  }

  isFull(name: string): boolean {
    return this.parts.get(name)?.isFull ?? false;
  }

  /** Tries again what the server has refused, without writing it: `trial` returns why it is refused still, or undefined. */
  async retry(trial: (write: RecordMap, why: IpamError) => Promise<IpamError | undefined>): Promise<void> {
    await firstThenOthers([...this.parts], async ([name, part]) => {
      if (part.refused === undefined) return;
      const why = await trial(part.refused, part.why);
      if (why === undefined) this.parts.delete(name);
      else this.parts.set(name, { ...part, why });
    });
  }

  /** Says of parts that were read which ones are blocked still. Returns those that are full. */
  mark(found: Parts, versionOf: (name: string) => string | undefined, label: (name: string) => string) {
    const full: UnreadableSubnet[] = [];
    for (const [name, { version, why, pools, isFull }] of this.parts) {
      if (versionOf(name) !== version) this.parts.delete(name);
      else if (isFull) full.push({ pools, why: `${label(name)} is full: an object holds 1 MiB. ${spread}` });
      else found.fail(name, why, pools, true);
    }
    return full;
  }
}

const spread = "Make a pool in another subnet for what comes next, or free addresses of this one.";
