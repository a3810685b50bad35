import { formatIssue, IpamError, type Snapshot } from "../../core/index.ts";
import { checkPlace, join } from "./subnet-records.ts";

/** The parts of a record at one moment. With `lastRead`, a part that cannot be read is as it was read last. */
export class Parts {
  /** Parts that cannot be read, each with why. */
  readonly unreadable = new Map<string, IpamError>();
  private readonly parts = new Map<string, Snapshot>();
  private readonly lastRead: Map<string, Snapshot> | undefined;

  constructor(lastRead: Map<string, Snapshot> | undefined) {
    this.lastRead = lastRead;
  }

  has(name: string): boolean {
    return this.parts.has(name);
  }

  /** Reads a part; returns undefined where the last one stands in. Throws what is wrong where there is none. */
  take(name: string, read: () => Snapshot): Snapshot | undefined {
    try {
      const part = read();
      checkPlace(name, part);
      this.parts.set(name, part);
      return part;
    } catch (error) {
      if (!(error instanceof IpamError) || !this.standIn(name, error)) throw error;
      return undefined;
    }
  }

  /** A part that is to be there, and may not be. */
  miss(name: string, why: () => IpamError): void {
    if (!this.has(name)) this.standIn(name, why());
  }

  /** The record that they make up. */
  join(): Snapshot {
    const snapshot = join(this.parts);
    if (this.unreadable.size === 0) return snapshot;
    const pools = [...this.unreadable].flatMap(([name, { issues }]) => {
      const why = issues.map(formatIssue).join("\n");
      return (this.parts.get(name)?.pools ?? []).map((pool) => [pool.name, why] as const);
    });
    return { ...snapshot, unreadable: new Map(pools) };
  }

  /** They are what was read last. */
  keep(): void {
    for (const [name, part] of this.parts) this.lastRead?.set(name, part);
  }

  private standIn(name: string, why: IpamError): boolean {
    const last = this.lastRead?.get(name);
    if (last === undefined) return false;
    this.parts.set(name, last);
    this.unreadable.set(name, why);
    return true;
  }
}
