import { ownerOfKey, type Pending, placeOf, type Snapshot } from "../../core/index.ts";
import { asBag } from "../../schema/objects.ts";
import { poolKind } from "../cache/kinds.ts";
import type { World } from "../cache/world.ts";
import type { Dependencies } from "../dependencies.ts";
import { differing } from "./lines-by-owner.ts";
import { isUnreadable } from "./unreadable.ts";

/**
 * Notices that live lines of a pool are gone from the record, and allocates nothing new from that pool until every write that was
 * decided by them has arrived or was given up: `send` and `request` of timing.ts. Until then such an address looks free.
 *
 *  the controller | compares the record with   | and until then
 *  ---------------+----------------------------+------------------------------------------------------
 *  has read it    | what it read before        | what objects show is adopted as ever; the status of the pool
 *  has not        | the status of the NodeIPPool| keeps its count, so that a controller that starts meanwhile waits, too
 */
export class RecordLoss {
  private readonly deps: Pick<Dependencies, "clock" | "log" | "observer" | "timing">;
  private readonly world: World;
  /** Until when nothing new is allocated, by pool. */
  private readonly until = new Map<string, number>();
  private last: Snapshot | undefined;

  constructor(deps: RecordLoss["deps"], world: World) {
    this.deps = deps;
    this.world = world;
  }

  /** Compares the record with what it was before. */
  check(now: Snapshot): void {
    if (now === this.last) return;
    const lost = this.last === undefined ? this.lostByStatus(now) : lostBetween(this.last, now);
    this.last = now;
    const { clock, timing } = this.deps;
    for (const [pool, count] of lost) {
      this.until.set(pool, clock.now() + timing.send + timing.request);
      if (!now.base.has(pool)) this.say(pool, count);
    }
  }

  /** Returns for how many milliseconds nothing new is allocated from a pool. */
  left(pool: string): number {
    return Math.max(0, (this.until.get(pool) ?? 0) - this.deps.clock.now());
  }

  /** Returns why nothing new is allocated from a pool now. */
  whyWaits(pool: string): string | undefined {
    if (this.left(pool) === 0) return undefined;
    const seconds = Math.ceil((this.deps.timing.send + this.deps.timing.request) / 1000);
    return `Addresses of pool ${pool} are gone from the record. Nothing new is allocated for ${seconds} seconds, because a write that was decided by them may still be on its way.`;
  }

  /** The owners of claims that wait, and in how many milliseconds to look at them again. */
  later(pending: readonly Pending[]): [owner: string, ms: number][] {
    return pending.flatMap(({ pool, claim }): [string, number][] => {
      const ms = this.left(pool);
      return ms > 0 ? [[ownerOfKey(claim), ms]] : [];
    });
  }

  /** Compares with what a controller that ran before has counted. */
  private lostByStatus({ allocations, ...now }: Snapshot): [pool: string, count: number][] {
    const live = Map.groupBy(allocations, ({ pool }) => pool);
    return this.world.all(poolKind).flatMap(({ metadata: { name }, status }): [string, number][] => {
      const count = Number(asBag(status)?.allocated ?? 0) - (live.get(name)?.length ?? 0);
      return count > 0 && !isUnreadable(name, { allocations, ...now }) ? [[name, count]] : [];
    });
  }

  private say(pool: string, count: number): void {
    const message = `The record of pool ${pool} is gone: it had ${count} addresses. Those that nodes and other objects show are adopted again, and go to no other owner. If you have a backup of the record, restore it.`;
    const key = `${poolKind}/${pool}`;
    if (this.world.get(key) === undefined) this.deps.log({ level: "warn", message });
    else this.deps.observer?.wrong(key, "RecordLost", message);
  }
}

/**
 * Counts the addresses of each pool that were live, and that no line has any more. The controller frees none that was not releasing,
 * and one that another claim has by now (`mv`) is not free.
 */
function lostBetween(before: Snapshot, now: Snapshot): [pool: string, count: number][] {
  const gone = [...differing(before.allocations, now.allocations)].flatMap(({ was, now: next }) =>
    was === undefined || next !== undefined ? [] : was,
  );
  if (gone.length === 0) return [];
  const releasing = new Set(now.releasing.map(placeOf));
  const lost = gone.filter((line) => !releasing.has(placeOf(line)) && !isUnreadable(line.pool, now));
  return [...Map.groupBy(lost, ({ pool }) => pool)].map(([pool, lines]) => [pool, lines.length]);
}
