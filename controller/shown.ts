import type { Address, Use } from "../core/index.ts";

/** The addresses that owners show to have, by their own reports. */
export class Shown {
  private readonly byReport = new Map<string, readonly Use[]>();
  /** Counts the changes. */
  version = 0;

  /** Says all that a report shows; returns the addresses that came or went by it. */
  set(report: string, uses: readonly Use[]): Address[] {
    const before = this.byReport.get(report) ?? [];
    const [had, has] = [before, uses].map((list) => new Map(list.map((use) => [textOf(use), use.address])));
    const changed = [...(has as Map<string, Address>)].filter(([text]) => !had?.has(text));
    const gone = [...(had as Map<string, Address>)].filter(([text]) => !has?.has(text));
    if (changed.length + gone.length === 0) return [];
    this.version++;
    if (uses.length === 0) this.byReport.delete(report);
    else this.byReport.set(report, uses);
    return [...changed, ...gone].map(([, address]) => address);
  }

  /** All of them. */
  *uses(): Iterable<Use> {
    for (const uses of this.byReport.values()) yield* uses;
  }
}

function textOf({ address, owner, interface: nic, isTemporary }: Use): string {
  return `${address} ${owner} ${nic} ${isTemporary}`;
}
