import type { RolloutHealth } from "../../integrations/contract/made-objects.ts";

/**
 * The gate of one source: how many of its objects may be on their way at once. An object whose owner is out of reach and has not begun is not
 * on its way: kubernetes-nmstate, too, counts a node from when its handler takes a policy up.
 *
 *  some object | on their way     | the next one
 *  ------------+------------------+--------------
 *  any         | there is no limit| starts: the source is gone, and each object takes off what one owner has
 *  fails       | any              | waits; but the one that fails may be mended
 *  none fails  | fewer than limit | starts
 *  none fails  | limit or more    | waits
 */
export class Rollout {
  private readonly health = new Map<string, RolloutHealth>();
  private readonly waiting = new Set<string>();
  private readonly counts = { available: 0, failing: 0, progressing: 0, unreachable: 0 };

  /** Returns the health of an object; undefined if it is not there. */
  set(key: string, health: RolloutHealth | undefined): void {
    const before = this.health.get(key);
    if (before === health) return;
    if (before !== undefined) this.counts[before]--;
    if (health === undefined) this.health.delete(key);
    else {
      this.health.set(key, health);
      this.counts[health]++;
    }
  }

  /** Returns whether an object may be changed now. If so, it counts as on its way. */
  start(key: string, limit: number): boolean {
    const others = this.counts.failing - (this.health.get(key) === "failing" ? 1 : 0);
    const isOn = this.health.get(key) === "progressing";
    if ((others > 0 && Number.isFinite(limit)) || (!isOn && this.counts.progressing >= limit)) {
      this.waiting.add(key);
      return false;
    }
    this.waiting.delete(key);
    this.set(key, "progressing");
    return true;
  }

  /** This object waits no more: there is nothing to change. */
  leave(key: string): void {
    this.waiting.delete(key);
  }

  /** Returns whether the rollout has no object, and none waits. */
  isIdle(): boolean {
    return this.health.size === 0 && this.waiting.size === 0;
  }

  /** The objects for which there is room now. */
  next(limit: number): string[] {
    const isStopped = this.counts.failing > 0 && Number.isFinite(limit);
    const room = isStopped ? 0 : Math.max(0, limit - this.counts.progressing);
    return room === 0 ? [] : [...this.waiting].slice(0, room);
  }
}
