import type { Use } from "../core/index.ts";

/** The addresses that owners show to have, by their own reports. */
export class Shown {
  private readonly byReport = new Map<string, readonly Use[]>();
  /** Counts the changes. */
  version = 0;

  /** Says all that a report shows. Is it other than before? */
  set(report: string, uses: readonly Use[]): boolean {
    const [before, now] = [this.byReport.get(report) ?? [], uses].map((list) => list.map(textOf).sort().join("\n"));
    if (before === now) return false;
    this.version++;
    if (uses.length === 0) this.byReport.delete(report);
    else this.byReport.set(report, uses);
    return true;
  }

  /** All of them. */
  *uses(): Iterable<Use> {
    for (const uses of this.byReport.values()) yield* uses;
  }
}

function textOf({ address, length, owner, interface: nic, pool, isTemporary }: Use): string {
  return `${address} ${length} ${owner} ${nic} ${pool} ${isTemporary}`;
}
