import type { IpamError, PoolRecord, UnreadableSubnet } from "../../core/index.ts";
import type { Parts } from "./parts.ts";

/** A part that could not be written. */
interface Blocked {
  /** The version of its object at that time. */
  readonly version: string;
  readonly why: IpamError;
  /** The pools that were to be written there. */
  readonly pools: readonly PoolRecord[];
  /** Whether it only has no room for more. */
  readonly isFull: boolean;
}

/**
 * The parts that could not be written, each for as long as its object is the one that it was. A writer that goes on plans
 * without them, so that one part keeps no other one from being written.
 *
 *  a part                                               | is then
 *  -----------------------------------------------------+-----------------
 *  would be larger than an object                       | full
 *  is full, and cannot even be written with fewer lines | unreadable
 *  is refused by the server, whoever writes it          | unreadable
 *  is unreadable, and lists no pool that begins there   | unreadable, with that pool
 */
export class BlockedParts {
  private readonly parts = new Map<string, Blocked>();

  add(name: string, version: string, why: IpamError, pools: readonly PoolRecord[]): void {
    const isFull = why.code === "exhausted" && !this.parts.has(name);
    this.parts.set(name, { version, why, pools, isFull });
  }

  /** Says of parts that were read which ones are blocked still. Returns those that are full. */
  mark(found: Parts, versionOf: (name: string) => string | undefined, label: (name: string) => string) {
    const full: UnreadableSubnet[] = [];
    for (const [name, { version, why, pools, isFull }] of this.parts) {
      if (versionOf(name) !== version) this.parts.delete(name);
      else if (isFull) full.push({ pools, why: `${label(name)} is full: an object holds 1 MiB. ${spread}` });
      else found.fail(name, why, pools);
    }
    return full;
  }
}

const spread = "Make a pool in another subnet for what comes next, or free addresses of this one.";
