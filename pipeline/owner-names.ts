import {
  contains,
  formatAddress,
  formatPrefix,
  nodeNameOf,
  ownerOfKey,
  type PoolRecord,
  rangeOf,
  type Snapshot,
  type Use,
} from "../core/index.ts";
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
 *
 * Where a list names somebody whose owners are for one NIC each, as a VM has a claim for each network, the NIC counts:
 *
 *  of these, for the NIC of that line   | in a pool that has its address | the name stands for
 *  -------------------------------------+--------------------------------+-----------------------------
 *  none                                 |                                | itself; `whyNobody` says why
 *  some                                 | none                           | the same
 *  some                                 | one                            | that one
 *  some                                 | several                        | itself; `meant` names them
 */
export class OwnerNames {
  private readonly pools: readonly Pick<PoolRecord, "name" | "prefix">[];
  private readonly known = new Map<string, readonly Meant[]>();
  /** Those that are called otherwise, too. */
  private readonly renamed = new Set<string>();

  constructor(pools: readonly Pick<PoolRecord, "name" | "prefix">[], askers: readonly Asker[]) {
    const namesOf = new Map(askers.map(({ owner }) => [owner, aliasesOf(owner)]));
    for (const [owner, aliases] of namesOf) if (aliases.length > 0) this.renamed.add(owner);
    const isPlain = this.renamed.size === 0;
    this.pools = isPlain ? [] : pools;
    if (isPlain) return;
    for (const { owner, pool } of askers)
      [owner, ...(namesOf.get(owner) ?? [])].forEach((name, rank) => {
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

  /** Why a line of a list is nobody's, though somebody is called so; undefined if it is somebody's, or nobody is. */
  whyNobody(use: Use): string | undefined {
    const called = this.onNics(use);
    const [one, ...others] = called.filter(({ owner }) => isNic(owner, use.interface));
    if (called.length === 0 || this.askersMeant(use).length > 0) return undefined;
    const who = nodeNameOf(`${use.owner}`) ?? use.owner;
    if (one === undefined)
      return `${who} has no network ${use.interface} with addresses of its own, but ${listOf(called.map(({ owner }) => owner))}`;
    const pools = listOf([one, ...others].map(({ pool }) => `${pool} (${this.cidrOf(pool)})`));
    return `${formatAddress(use.address)} is no address for network ${use.interface} of ${who}, which asks for one of pool ${pools}`;
  }

  /** What a list may call an owner that others share a name with, beside the NIC. */
  inLists(owner: string): string {
    const names = isNic(owner) === undefined ? [] : aliasesOf(owner);
    return names.find((name) => /^[a-z0-9]/.test(name)) ?? owner;
  }

  /** Returns whether an owner for one NIC has a claim on a pool with this address. */
  hasNics({ address }: Use): boolean {
    const pools = this.pools.filter(({ prefix }) => contains(rangeOf(prefix), address)).map(({ name }) => name);
    return [...this.known].some(
      ([key, meant]) =>
        pools.includes(key.slice(0, key.indexOf(" "))) && meant.some(({ owner }) => isNic(owner) !== undefined),
    );
  }

  private askersMeant(use: Use): Asker[] {
    const { owner, pool, address } = use;
    if (owner === undefined) return [];
    const here = pool === undefined ? this.pools.filter(({ prefix }) => contains(rangeOf(prefix), address)) : [];
    const names = pool === undefined ? here.map(({ name }) => name) : [pool];
    const called = this.calledIn(names, owner);
    const onNics = called.some((one) => one.owner === owner) ? [] : this.onNics(use);
    if (onNics.length === 0) return called;
    return onNics.filter((one) => names.includes(one.pool) && isNic(one.owner, use.interface));
  }

  /** Those whom a line of a list may mean, of any pool, each of whom is for one NIC. */
  private onNics({ owner = "", interface: nic, listed }: Use): Asker[] {
    if (listed === undefined || nic === undefined) return [];
    const called = this.calledIn(
      this.pools.map(({ name }) => name),
      owner,
    );
    return called.filter((one) => one.owner !== owner && isNic(one.owner) !== undefined);
  }

  private calledIn(pools: readonly string[], owner: string): Asker[] {
    return pools.flatMap((pool) => this.surest(`${pool} ${owner}`).map((one) => ({ owner: one, pool })));
  }

  private cidrOf(pool: string): string {
    return this.pools.filter(({ name }) => name === pool).map(({ prefix }) => formatPrefix(prefix))[0] ?? "";
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

/** The owner that has an address on record, or had it. */
export function askersIn({ allocations, releasing }: Pick<Snapshot, "allocations" | "releasing">): Asker[] {
  return [...allocations, ...releasing].map(({ claim, pool }) => ({ owner: ownerOfKey(claim), pool }));
}

/** Returns whether an owner is for this NIC; undefined where its kind is not for one NIC each. */
function isNic(owner: string, nic = ""): boolean | undefined {
  return integrations.map(({ aliases }) => aliases?.(owner)?.isNic?.(nic)).find((is) => is !== undefined);
}

function listOf(texts: readonly string[]): string {
  return [...new Set(texts)].join(" and ");
}

/** Returns what else an owner is called, by any integration. */
export function aliasesOf(owner: string): readonly string[] {
  return integrations.flatMap(({ aliases }) => aliases?.(owner)?.names ?? []);
}
