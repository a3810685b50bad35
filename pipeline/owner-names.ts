import { contains, ownerOfKey, type PoolRecord, rangeOf, type Snapshot, type Use } from "../core/index.ts";
import type { Evidence } from "../schema/findings.ts";
import { integrations } from "./integrations.ts";

/** Somebody who has, or asks for, an address of a pool. */
interface Asker {
  readonly owner: string;
  readonly pool: string;
}

/** An owner that a name may stand for; a lower `rank` is surer. */
interface Meant {
  readonly owner: string;
  readonly rank: number;
}

/**
 * Whom lists and reports mean by a name, in a pool: `Node/rack-w1` may be `Host/rack.w1`. Integrations say what their owners are
 * called (`aliases`).
 *
 *  askers of the pool that are called so | the name stands for
 *  --------------------------------------+---------------------------
 *  none                                  | itself
 *  one, or one more surely than others   | that one
 *  several alike                         | itself; `meant` names them
 */
export class OwnerNames {
  private readonly pools: readonly Pick<PoolRecord, "name" | "prefix">[];
  private readonly known = new Map<string, readonly Meant[]>();
  /** Those that are called otherwise, too. */
  private readonly renamed = new Set<string>();

  constructor(pools: readonly Pick<PoolRecord, "name" | "prefix">[], askers: readonly Asker[]) {
    const aliasesOf = new Map(askers.map(({ owner }) => [owner, namesOf(owner)]));
    for (const [owner, aliases] of aliasesOf) if (aliases.length > 0) this.renamed.add(owner);
    const isPlain = this.renamed.size === 0;
    this.pools = isPlain ? [] : pools;
    if (isPlain) return;
    for (const { owner, pool } of askers)
      [owner, ...(aliasesOf.get(owner) ?? [])].forEach((name, rank) => {
        this.add(`${pool} ${name}`, { owner, rank });
      });
  }

  /** The owners of a record. */
  static of({ pools, allocations, releasing }: Snapshot): OwnerNames {
    return new OwnerNames(pools, askersIn({ allocations, releasing }));
  }

  /** The owners that a use may be of; none where its owner is nobody's other name. */
  meant(use: Use): readonly string[] {
    return [...new Set(this.askersMeant(use).map(({ owner }) => owner))];
  }

  /**
   * The use of whom it is, and of which pool. Such an owner has one address of a pool, on whichever NIC: what a node calls that
   * is not what a configuration calls it.
   */
  resolve = (use: Use): Use => {
    const [asker, ...others] = this.askersMeant(use);
    if (asker === undefined || others.length > 0 || !this.renamed.has(asker.owner)) return use;
    if (asker.owner === use.owner && use.pool !== undefined) return use;
    const { interface: _, ...rest } = use;
    return { ...rest, ...asker };
  };

  /** Reports are of those, too, that their nodes stand for. */
  reports(nodes: Evidence["nodes"]): Evidence["nodes"] {
    const all = new Map(nodes);
    for (const key of this.known.keys()) {
      const shown = nodes.get(key.slice(key.indexOf(" ") + 1));
      const [owner, ...others] = this.surest(key);
      if (shown !== undefined && owner !== undefined && others.length === 0) all.set(owner, shown);
    }
    return all;
  }

  private askersMeant({ owner, pool, address }: Use): Asker[] {
    if (owner === undefined) return [];
    const here = pool === undefined ? this.pools.filter(({ prefix }) => contains(rangeOf(prefix), address)) : [];
    const names = pool === undefined ? here.map(({ name }) => name) : [pool];
    return names.flatMap((name) => this.surest(`${name} ${owner}`).map((one) => ({ owner: one, pool: name })));
  }

  private add(key: string, meant: Meant): void {
    const before = this.known.get(key) ?? [];
    if (before.every(({ owner }) => owner !== meant.owner)) this.known.set(key, [...before, meant]);
  }

  private surest(key: string): string[] {
    const all = this.known.get(key) ?? [];
    const first = Math.min(...all.map(({ rank }) => rank));
    return all.filter(({ rank }) => rank === first).map(({ owner }) => owner);
  }
}

/** Who has an address on record, or had it. */
export function askersIn({ allocations, releasing }: Pick<Snapshot, "allocations" | "releasing">): Asker[] {
  return [...allocations, ...releasing].map(({ claim, pool }) => ({ owner: ownerOfKey(claim), pool }));
}

function namesOf(owner: string): readonly string[] {
  return integrations.flatMap((integration) => integration.aliases?.(owner) ?? []);
}
