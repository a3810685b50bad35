import { nodeNameOf, type PoolRecord } from "../core/index.ts";
import type { KnownRecord } from "./known-record.ts";
import type { Showing } from "./occupied.ts";
import type { Shown } from "./shown.ts";

/**
 * Finds addresses that may be on record in a part that cannot be read. Whether this controller has read that part before makes no
 * difference, so that two controllers do the same:
 *
 *  what shows such an address             | until the part can be read
 *  ---------------------------------------+-------------------------------------------------------------
 *  an object that the controller made     | it is not written, and not deleted
 *  a report of an owner that is no node   | the owner gets nothing new, and its object keeps its status and
 *                                         |  finalizer
 *  a report of a node                     | the node is served from all other pools: each of its policies is
 *                                         |  an object of its own
 */
export class UnreadAddresses {
  private readonly shown: Shown;
  private readonly record: KnownRecord;

  constructor(shown: Shown, record: KnownRecord) {
    this.shown = shown;
    this.record = record;
  }

  /** Whether an object, by its key, shows one. */
  isShownBy(key: string): boolean {
    const pools = this.pools();
    return pools.length > 0 && this.shown.by(key).some((use) => this.isUnread(use, pools));
  }

  /** Whether a report shows one for an owner that is no node. */
  isShownFor(owner: string): boolean {
    const pools = this.pools();
    if (pools.length === 0 || nodeNameOf(owner) !== undefined) return false;
    return this.shown.of(owner).some((use) => this.isUnread(use, pools));
  }

  private pools(): readonly PoolRecord[] {
    return this.record.latest?.unreadable?.flatMap(({ pools }) => pools) ?? [];
  }

  private isUnread({ owner = "", address, pool }: Showing, pools: readonly PoolRecord[]): boolean {
    if (pool !== undefined) return pools.some(({ name }) => name === pool);
    const isRead = this.record.lines
      .of(owner)
      .allocations.some((line) => line.address === address && !this.record.isUnreadable(line));
    return !isRead && pools.some(({ prefix }) => prefix.first <= address && address <= prefix.last);
  }
}
