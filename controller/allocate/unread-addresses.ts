import { nodeNameOf, type UnreadableSubnet } from "../../core/index.ts";
import type { KnownRecord } from "../record/known-record.ts";
import type { Observations } from "./observations.ts";
import type { Observation } from "./occupied.ts";

/**
 * Finds addresses that may be on record in a part that cannot be read. Whether this controller has read that part before makes no
 * difference, so that two controllers do the same:
 *
 *  what shows such an address             | until the part can be read
 *  ---------------------------------------+-------------------------------------------------------------
 *  an object that the controller made     | it is not written, and not deleted
 *  a report of an owner that is no node   | the owner gets nothing new, its object keeps its status and
 *                                         |  finalizer, and an Event says why
 *  a report of a node                     | the node is served from all other pools: each of its policies is
 *                                         |  an object of its own
 */
export class UnreadAddresses {
  private readonly shown: Observations;
  private readonly record: KnownRecord;

  constructor(shown: Observations, record: KnownRecord) {
    this.shown = shown;
    this.record = record;
  }

  /** Whether an object, by its key, shows one. */
  isShownBy(key: string): boolean {
    return this.whyUnread(() => this.shown.by(key)) !== undefined;
  }

  /** Returns what is wrong with the part in which an owner that is no node may have an address on record, for people; undefined if it has none there. */
  whyWaits(owner: string): string | undefined {
    const why = nodeNameOf(owner) === undefined ? this.whyUnread(() => this.shown.of(owner)) : undefined;
    return (
      why && `it may have an address in a part of the record that cannot be used, so nothing changes for it: ${why}`
    );
  }

  private whyUnread(shown: () => readonly Observation[]): string | undefined {
    const { unreadable = [] } = this.record.latest ?? {};
    if (unreadable.length === 0) return undefined;
    const uses = shown();
    return unreadable.find((subnet) => uses.some((use) => this.mayBeIn(use, subnet)))?.why;
  }

  /** A node may have the same address of two networks, each on another NIC. */
  private mayBeIn({ owner = "", address, pool, interface: nic }: Observation, { pools }: UnreadableSubnet): boolean {
    if (pool !== undefined) return pools.some(({ name }) => name === pool);
    const { allocations, releasing } = this.record.lines.of(owner);
    const isRead = [...allocations, ...releasing].some(
      (line) =>
        line.address === address &&
        (nic === undefined || line.interface === undefined || line.interface === nic) &&
        !this.record.isUnreadable(line),
    );
    return !isRead && pools.some(({ prefix }) => prefix.first <= address && address <= prefix.last);
  }
}
