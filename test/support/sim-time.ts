import type { Clock } from "../../kube/index.ts";

/** A seeded generator: mulberry32. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/** Time that goes on when the simulator says so, and at once to when somebody wakes. */
export class SimTime implements Clock {
  private time = 0;
  private readonly sleepers = new Set<Sleeper>();

  now(): number {
    return this.time;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.sleepers.delete(sleeper);
        resolve();
      };
      const sleeper = { due: this.time + ms, wake };
      this.sleepers.add(sleeper);
      signal?.addEventListener("abort", sleeper.wake);
    });
  }

  /** Lets a second pass, or less if somebody is due earlier, who wakes. */
  advance(): void {
    let [first] = this.sleepers;
    for (const sleeper of this.sleepers) if (first === undefined || sleeper.due < first.due) first = sleeper;
    this.time = Math.max(this.time, Math.min(this.time + 1000, first?.due ?? Number.POSITIVE_INFINITY));
    if (first !== undefined && first.due <= this.time) first.wake();
  }

  /** As a time of day, in seconds. */
  stamp(): string {
    return new Date(Date.UTC(2026, 0, 1) + this.time).toISOString().replace(/\.\d+Z$/, "Z");
  }
}
