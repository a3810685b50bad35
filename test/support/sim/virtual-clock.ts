import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../../kube/clock.ts";

interface Sleeper {
  readonly until: number;
  wake(): void;
}

/** A clock that stands still until a test lets time pass. */
export class VirtualClock implements Clock {
  private time = 0;
  private readonly sleepers = new Set<Sleeper>();

  now(): number {
    return this.time;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms <= 0 || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.sleepers.delete(sleeper);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const sleeper = { until: this.time + ms, wake };
      this.sleepers.add(sleeper);
      signal?.addEventListener("abort", wake);
    });
  }

  /** Whoever sleeps wakes in the order of time; between two of them all that can go on has gone on. */
  async pass(ms: number): Promise<void> {
    const end = this.time + ms;
    for (;;) {
      await turn();
      const next = this.next();
      if (next === undefined || next.until > end) break;
      this.time = next.until;
      next.wake();
    }
    this.time = end;
  }

  /** Lets so much time pass, or less if somebody wakes before: one only, and nothing waits for what that one does. */
  step(most: number): void {
    const next = this.next();
    this.time = Math.max(this.time, Math.min(this.time + most, next?.until ?? Number.POSITIVE_INFINITY));
    if (next !== undefined && next.until <= this.time) next.wake();
  }

  /** How long until somebody wakes; undefined if nobody sleeps. */
  untilNext(): number | undefined {
    const next = this.next();
    return next && next.until - this.time;
  }

  private next(): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.sleepers) if (first === undefined || sleeper.until < first.until) first = sleeper;
    return first;
  }
}
