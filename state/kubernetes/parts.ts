import { formatIssue, IpamError, type PoolRecord, type Snapshot, type UnreadableSubnet } from "../../core/index.ts";
import { listedLine } from "./subnet-index.ts";
import { checkPlace, join, partName } from "./subnet-records.ts";

/** Why a part cannot be read, and which pools may have lines there beside those that were read last. */
interface Fault {
  readonly why: IpamError;
  readonly pools: readonly PoolRecord[];
  /** Whether it was read, and only cannot be written. */
  readonly isRead: boolean;
}

/**
 * The parts of a record at one moment. Without `lastRead`, what is wrong with a part is thrown. With it:
 *
 *  a part                                        | its lines                | its pools
 *  ----------------------------------------------+--------------------------+--------------------------------
 *  is read                                       | as they are              | those that have lines
 *  is not read, and was                          | as they were read last   | unreadable, as all that the index
 *                                                |                          | lists there
 *  is not read, and never was; or a pool of it   | none: they are not known | the same
 *   has lines in another part by now             |                          |
 */
export class Parts {
  /** Parts that cannot be read, each with why. */
  readonly unreadable = new Map<string, IpamError>();
  private readonly faults = new Map<string, Fault>();
  private readonly parts = new Map<string, Snapshot>();
  private readonly lastRead: Map<string, Snapshot> | undefined;

  constructor(lastRead: Map<string, Snapshot> | undefined) {
    this.lastRead = lastRead;
  }

  /** Reads a part; returns undefined where it cannot be read. */
  take(name: string, read: () => Snapshot): Snapshot | undefined {
    let part: Snapshot | undefined;
    try {
      part = read();
      checkPlace(name, part);
      this.parts.set(name, part);
      return part;
    } catch (error) {
      if (!(error instanceof IpamError)) throw error;
      this.fail(name, error, part?.pools);
      return undefined;
    }
  }

  /** A part that is to be there, and may not be. */
  miss(name: string, why: () => IpamError): void {
    if (!this.parts.has(name) && !this.faults.has(name)) this.fail(name, why());
  }

  /** A part that must not be read, because it cannot be right, or be written if that alone is wrong; these pools may have lines there. */
  fail(name: string, why: IpamError, pools: readonly PoolRecord[] = [], isRead = false): void {
    if (this.lastRead === undefined) throw why;
    const before = this.faults.get(name) ?? { pools: [], isRead };
    this.faults.set(name, { why, pools: [...pools, ...before.pools], isRead: isRead && before.isRead });
    this.unreadable.set(name, why);
    this.parts.delete(name);
  }

  /** The pools that have lines in the parts that can be read. */
  pools(): PoolRecord[] {
    return [...this.parts.values()].flatMap(({ pools }) => pools);
  }

  /** The record that they make up; these pools the index lists, or has listed. */
  join(listed: readonly PoolRecord[]): Snapshot {
    if (this.faults.size === 0) return join(this.parts);
    const read = new Set(this.pools().map(({ name }) => name));
    const isElsewhere = ({ name }: PoolRecord) => read.has(name);
    const known = new Map(this.parts);
    const unreadable: UnreadableSubnet[] = [];
    for (const [name, { why, pools, isRead }] of this.faults) {
      const last = this.lastRead?.get(name);
      if (last?.pools.some(isElsewhere)) this.lastRead?.delete(name);
      else if (last !== undefined) known.set(name, last);
      const ofPart = listed.filter((pool) => partName(pool) === name && !isElsewhere(pool));
      const all = [...(last?.pools ?? []), ...ofPart, ...pools];
      unreadable.push({
        pools: [...new Map(all.map((pool) => [listedLine(pool), pool])).values()],
        why: why.issues.map(formatIssue).join("\n"),
        ...(isRead && { isRead }),
      });
    }
    return { ...join(known), unreadable };
  }

  /** They are what was read last. */
  keep(): void {
    for (const [name, part] of this.parts) this.lastRead?.set(name, part);
  }
}
