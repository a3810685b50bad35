import type { Pool, Snapshot, Use } from "../core/index.ts";
import type { LinesByOwner } from "./lines-by-owner.ts";
import { type Occupied, occupied } from "./occupied.ts";

/** The addresses that owners show to have, by their own reports. */
export class Shown {
  private readonly byReport = new Map<string, readonly Use[]>();
  /** What `occupied` said last, and of what: each pool that reports asks for it. */
  private known: { readonly pools: readonly Pool[]; readonly record: Snapshot; readonly value: Occupied } | undefined;

  /** Says all that a report shows. Is it other than before? */
  set(report: string, uses: readonly Use[]): boolean {
    const [before, now] = [this.byReport.get(report) ?? [], uses].map((list) => list.map(textOf).sort().join("\n"));
    if (before === now) return false;
    this.known = undefined;
    if (uses.length === 0) this.byReport.delete(report);
    else this.byReport.set(report, uses);
    return true;
  }

  /** What they say about pools, beside the record, and what else is `claimed`. */
  occupied(pools: readonly Pool[], lines: LinesByOwner, claimed: readonly Use[] = []): Occupied {
    const { known } = this;
    const reported = () => [...this.byReport.values()].flat();
    if (claimed.length > 0) return occupied(pools, [...reported(), ...claimed], lines);
    if (known?.pools === pools && known.record === lines.record) return known.value;
    const value = occupied(pools, reported(), lines);
    this.known = { pools, record: lines.record, value };
    return value;
  }
}

function textOf({ address, length, owner, interface: nic, pool, isTemporary }: Use): string {
  return `${address} ${length} ${owner} ${nic} ${pool} ${isTemporary}`;
}
