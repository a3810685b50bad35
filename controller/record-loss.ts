import type { Snapshot } from "../core/index.ts";
import { asBag } from "../schema/objects.ts";
import type { Ground } from "./ground.ts";
import { poolKind } from "./kinds.ts";
import { isUnreadable } from "./recordable.ts";
import type { World } from "./world.ts";

/** Notices that the record of a pool is gone, and says so once: on its NodeIPPool, and in the log. */
export class RecordLoss {
  private readonly ground: Pick<Ground, "log" | "observer">;
  private readonly world: World;
  private last: Snapshot | undefined;

  constructor(ground: RecordLoss["ground"], world: World) {
    this.ground = ground;
    this.world = world;
  }

  /** Compares the record with what it was before: a pool that has had a line is never taken out of it by the controller. */
  check(now: Snapshot): void {
    if (now === this.last) return;
    const before = this.last === undefined ? allocatedByStatus(this.world) : allocatedIn(this.last);
    this.last = now;
    for (const [pool, count] of before) {
      if (count === 0 || now.base.has(pool) || isUnreadable(pool, now)) continue;
      const message = `The record of pool ${pool} is gone: it had ${count} addresses. Those that nodes and other objects show are adopted again, and go to no other owner. If you have a backup of the record, restore it.`;
      const key = `${poolKind}/${pool}`;
      if (this.world.get(key) === undefined) this.ground.log({ level: "warn", message });
      else this.ground.observer?.wrong(key, "RecordLost", message);
    }
  }
}

function allocatedIn({ allocations }: Snapshot): [pool: string, count: number][] {
  return [...Map.groupBy(allocations, ({ pool }) => pool)].map(([pool, lines]) => [pool, lines.length]);
}

/** Returns what a controller that ran before has counted: nothing was read yet. */
function allocatedByStatus(world: World): [pool: string, count: number][] {
  return world.all(poolKind).map((object) => [object.metadata.name, Number(asBag(object.status)?.allocated ?? 0)]);
}
