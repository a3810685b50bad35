import {
  byCodeUnit,
  type Claim,
  contains,
  formatOwner,
  isSamePool,
  type Pool,
  poolsAsked,
  type Snapshot,
  type Use,
} from "../../core/index.ts";
import type { ClusterIntegration } from "../../integrations/contract/cluster-integration.ts";
import { isManaged } from "../../integrations/contract/managed-by.ts";
import { kindOf } from "../../integrations/contract/object-key.ts";
import { childLabels } from "../../schema/node.ts";
import type { World } from "../cache/world.ts";
import type { LinesByOwner } from "../record/lines-by-owner.ts";
import { usesIn } from "./inputs.ts";
import { type IsMachine, type Observation, type Occupied, occupied, poolsByName, poolsWithout } from "./occupied.ts";

/**
 * The addresses that owners show to have, by their own reports. Most of what is shown is on record for who shows it, and stays so:
 * only what changed is looked at again.
 */
export class Observations {
  private readonly byReport = new Map<string, readonly Observation[]>();
  private readonly reportsOf = new Map<string, Set<string>>();
  /** Of these reports some of what they show is not on record for who shows it. */
  private readonly unrecorded = new Map<string, readonly Observation[]>();
  /** Reports that say something else since they were looked at. */
  private readonly unread = new Set<string>();
  /** What `occupied` said last, and of what: each pool that reports asks for it. */
  private known: { readonly pools: readonly Pool[]; readonly record: Snapshot; readonly value: Occupied } | undefined;
  private pools: readonly Pool[] = [];

  private readonly isMachine: IsMachine;

  constructor(isMachine: IsMachine) {
    this.isMachine = isMachine;
  }

  /** Says all that a report shows. Is it other than before? */
  set(report: string, uses: readonly Observation[]): boolean {
    const earlier = this.byReport.get(report) ?? [];
    const [before, now] = [earlier, uses].map((list) => list.map(textOf).sort().join("\n"));
    if (before === now) return false;
    this.known = undefined;
    this.unread.add(report);
    for (const { owner = "" } of earlier) this.reportsOf.get(owner)?.delete(report);
    for (const { owner = "" } of uses) this.reportsOf.set(owner, (this.reportsOf.get(owner) ?? new Set()).add(report));
    for (const { owner = "" } of earlier) if (this.reportsOf.get(owner)?.size === 0) this.reportsOf.delete(owner);
    if (uses.length === 0) this.byReport.delete(report);
    else this.byReport.set(report, uses);
    return true;
  }

  /** All that a report shows. */
  by(report: string): readonly Observation[] {
    return this.byReport.get(report) ?? [];
  }

  /** All that reports show of an owner. */
  of(owner: string): readonly Observation[] {
    const reports = [...(this.reportsOf.get(owner) ?? [])];
    return reports.flatMap((report) => this.by(report)).filter((use) => use.owner === owner);
  }

  /** Which node is whose machine may be otherwise from now on. Was there a collision, which may be none? */
  hasMachines(): boolean {
    const wasCollision = (this.known?.value.collisions.size ?? 0) > 0;
    if (wasCollision) this.known = undefined;
    return wasCollision;
  }

  /** What they say about pools, beside the record, and what else is `requested`; `claims` are at least those of `ambiguous` owners. */
  occupied(
    pools: readonly Pool[],
    lines: LinesByOwner,
    requested: readonly Use[] = [],
    claims: readonly Claim[] = [],
  ): Occupied {
    this.follow(pools, lines);
    const { known } = this;
    const isAsked = requested.length > 0;
    if (!isAsked && known?.pools === pools && known.record === lines.record) return known.value;
    // Where two of them do not agree, the same one counts, whichever was seen first.
    const reported = [...this.unrecorded].sort(([a], [b]) => byCodeUnit(a, b)).flatMap(([, uses]) => uses);
    const isAmbiguous = reported.some((use) => isInSeveral(use, pools));
    const shown = isAmbiguous ? placedByNic(reported, claims, pools) : reported;
    const asked = requested.map((use) => ({ ...use, isAsked: true }));
    const uses = isAsked ? [...placed(shown, requested), ...asked] : shown;
    const value = occupied(pools, uses, lines, this.isMachine);
    if (!isAsked && !isAmbiguous) this.known = { pools, record: lines.record, value };
    return value;
  }

  /**
   * The owners that show what is not on record for them; `ambiguous`: those that show it without a pool, where several pools have the
   * address. Of which one it is, only their claims say.
   */
  ownersBeside(pools: readonly Pool[], lines: LinesByOwner) {
    this.follow(pools, lines);
    const ownersOf = (uses: readonly Use[]) => new Set(uses.flatMap(({ owner }) => owner ?? []));
    const reported = [...this.unrecorded.values()].flat();
    return { unrecorded: ownersOf(reported), ambiguous: ownersOf(reported.filter((use) => isInSeveral(use, pools))) };
  }

  private follow(pools: readonly Pool[], lines: LinesByOwner): void {
    for (const owner of lines.takeChanged())
      for (const report of this.reportsOf.get(owner) ?? []) this.unread.add(report);
    if (!areSame(this.pools, pools)) for (const report of this.byReport.keys()) this.unread.add(report);
    this.pools = pools;
    const byName = poolsByName(pools);
    for (const report of this.unread) {
      const uses = this.byReport.get(report) ?? [];
      const isUnrecorded = uses.some((use) => poolsWithout(use, lines, byName).length > 0);
      if (isUnrecorded) this.unrecorded.set(report, uses);
      else this.unrecorded.delete(report);
    }
    this.unread.clear();
  }
}

/** Reports whether several pools have an address that is shown without a pool. */
function isInSeveral({ address, pool }: Use, pools: readonly Pool[]): boolean {
  return pool === undefined && pools.filter(({ range }) => contains(range, address)).length > 1;
}

/** What a report shows without a pool is of the pool that its owner says to have it of: other networks may have the same address. */
function placed(reported: readonly Observation[], requested: readonly Use[]): Observation[] {
  const placeOf = ({ owner, address }: Use) => `${owner} ${address}`;
  const pools = new Map(requested.flatMap((use) => (use.pool === undefined ? [] : [[placeOf(use), use.pool]])));
  return reported.map((use) => {
    const pool = use.pool ?? pools.get(placeOf(use));
    return pool === undefined ? use : { ...use, pool };
  });
}

/** What a report shows on a NIC without a pool is of the one pool with that address of which its owner asks for an address there. */
function placedByNic(
  reported: readonly Observation[],
  claims: readonly Claim[],
  pools: readonly Pool[],
): Observation[] {
  const byName = poolsByName(pools);
  const placeOf = (owner: string, nic: string | undefined) => `${owner} ${nic}`;
  const asked = Map.groupBy(claims, ({ owner, interface: nic }) => placeOf(formatOwner(owner), nic));
  return reported.map((use) => {
    const names = (asked.get(placeOf(use.owner ?? "", use.interface)) ?? []).flatMap(poolsAsked);
    const [pool, ...more] = new Set(names.filter((name) => contains(byName.get(name)?.range ?? [], use.address)));
    return use.pool !== undefined || pool === undefined || more.length > 0 ? use : { ...use, pool };
  });
}

function textOf({ address, length, owner, interface: nic, pool, isTemporary }: Use): string {
  return `${address} ${length} ${owner} ${nic} ${pool} ${isTemporary}`;
}

/** They are read anew whenever the record is another one, and most often say the same. */
function areSame(before: readonly Pool[], now: readonly Pool[]): boolean {
  const isSame = (one: Pool, i: number) => one === now[i] || isSamePool(one, now[i] as Pool);
  return before.length === now.length && before.every(isSame);
}

/** Returns the addresses that an object shows its owner to have. */
export function usesShownBy(
  key: string,
  world: World,
  integrations: readonly ClusterIntegration[],
): readonly Observation[] {
  const { shows, showsIfMade = false } = world.kind(kindOf(key));
  const there = world.get(key);
  const isGiven = shows === "grant";
  const isOthers = showsIfMade && there !== undefined && !isManaged(there);
  if (!isOthers) return usesIn(there, integrations).map((use) => ({ ...use, isGiven }));
  // A plan writes the node into a label: the hostname in the selector need not be its name.
  const [owner] = world.concerns(there).owners;
  if (owner === undefined || there.metadata.labels?.[childLabels.policy] === undefined) return [];
  return usesIn(there, integrations).map((use) => ({ ...use, owner, isGiven }));
}
