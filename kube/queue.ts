import type { Clock } from "./clock.ts";
import { refusalOf } from "./refusal.ts";
import { type Backoff, pauseAfterFailures } from "./retry.ts";

export interface QueueOptions {
  /** How many keys may run at once. */
  readonly parallel: number;
  /** Returns whether a key may wait until no other one does; absent where none may. */
  isLast?(key: string): boolean;
  readonly clock: Clock;
  /** From 0 to 1, as Math.random. */
  readonly random: () => number;
  /** Told of each failed run, and in how many milliseconds the key runs again. */
  failed(key: string, error: unknown, pause: number): void;
  /** Told of every run: how many milliseconds it took, and what it threw, if it did. */
  ran?(key: string, ms: number, error?: unknown): void;
}

/** Thrown by a run that has not failed, and is to run again after so many milliseconds. */
export class Later extends Error {
  readonly pause: number;

  constructor(pause: number) {
    super(`to be tried again in ${Math.ceil(pause / 1000)} s`);
    this.pause = pause;
  }
}

const BACKOFF: Backoff = { first: 5, longest: 60_000 };

/**
 * Runs keys, first come, first served, and those that may wait after all others. What becomes of a key:
 *
 * | it is added while it | then |
 * |---|---|
 * | does nothing | it waits, from the next microtask on for a free place |
 * | waits already | nothing changes |
 * | runs | it waits, and runs once more after this run |
 *
 * | its run | then |
 * |---|---|
 * | gives nothing | its failures are forgotten |
 * | gives a number, or throws Later | the same, and it is added in so many milliseconds |
 * | throws | it is added after a random pause that doubles, and what the server asked for on top |
 *
 * A key may run earlier than it was to: each run looks at all there is, and says itself when to look again.
 */
export class Queue {
  private readonly run: (key: string) => Promise<number | undefined>;
  private readonly options: QueueOptions;
  /** Since when each key waits, the oldest first; and each that may wait for these. */
  private readonly waiting = new Map<string, number>();
  private readonly last = new Map<string, number>();
  private readonly running = new Set<string>();
  /** When the keys that wait for their time are added; and those of a time, which share a timer. */
  private readonly due = new Map<string, number>();
  private readonly dueAt = new Map<number, string[]>();
  private readonly failures = new Map<string, number>();
  private readonly closed = new AbortController();
  private lastStart = 0;
  private settled = Promise.withResolvers<void>();

  /** `run` resolves to the milliseconds after which it wants to run again, if it does. */
  constructor(run: (key: string) => Promise<number | undefined>, options: QueueOptions) {
    this.run = run;
    this.options = options;
  }

  add(key: string): void {
    const waiting = this.options.isLast?.(key) ? this.last : this.waiting;
    if (this.closed.signal.aborted || waiting.has(key)) return;
    waiting.set(key, this.options.clock.now());
    // Not at once: what is added several times in one go is to run once.
    queueMicrotask(() => this.start());
  }

  /** Adds the key in so many milliseconds, or at the earlier time that it has. */
  addAfter(key: string, ms: number): void {
    const { clock } = this.options;
    // As exact as timers are.
    const due = Math.ceil(clock.now() + ms);
    if (this.closed.signal.aborted || due >= (this.due.get(key) ?? Number.POSITIVE_INFINITY)) return;
    this.due.set(key, due);
    const others = this.dueAt.get(due);
    if (others !== undefined) {
      others.push(key);
      return;
    }
    const keys = [key];
    this.dueAt.set(due, keys);
    clock.sleep(due - clock.now(), this.closed.signal).then(() => {
      this.dueAt.delete(due);
      for (const one of keys) {
        if (this.due.get(one) !== due) continue;
        this.due.delete(one);
        this.add(one);
      }
    });
  }

  /** How many keys wait. */
  length(): number {
    return this.waiting.size + this.last.size;
  }

  /** How long the key that waits longest has been waiting, in milliseconds; 0 if none waits. */
  oldest(): number {
    const { clock } = this.options;
    const now = clock.now();
    const [since = now] = this.waiting.values();
    const [other = now] = this.last.values();
    return now - Math.min(since, other);
  }

  /**
   * For how many milliseconds a key has been waiting for its own run to end, or while no run began; 0 if none waits. One that waits behind
   * others that do run is not stuck.
   */
  stuckFor(): number {
    const now = this.options.clock.now();
    const idle = now - this.lastStart;
    const ages = [...this.waiting, ...this.last].map(([key, since]) =>
      this.running.has(key) ? now - since : Math.min(now - since, idle),
    );
    return ages.reduce((most, age) => Math.max(most, age), 0);
  }

  /** Resolves when no key waits or runs; those that wait for their time do not count. */
  async idle(): Promise<void> {
    while (this.length() + this.running.size > 0) await this.settled.promise;
  }

  /** Starts nothing more, and resolves when what runs has ended. */
  async close(): Promise<void> {
    this.closed.abort();
    this.waiting.clear();
    this.last.clear();
    this.due.clear();
    while (this.running.size > 0) await this.settled.promise;
    this.settle();
  }

  private start(): void {
    for (const waiting of [this.waiting, this.last])
      for (const key of waiting.keys()) {
        if (this.running.size >= this.options.parallel) return;
        if (this.running.has(key)) continue;
        waiting.delete(key);
        this.running.add(key);
        this.lastStart = this.options.clock.now();
        this.attempt(key).then((pause) => this.end(key, pause));
      }
  }

  /** One run. Resolves to the milliseconds until the next, if there is to be one. */
  private async attempt(key: string): Promise<number | undefined> {
    const { clock, ran } = this.options;
    const start = clock.now();
    try {
      const again = await this.run(key);
      ran?.(key, clock.now() - start);
      this.failures.delete(key);
      return again;
    } catch (error) {
      if (error instanceof Later) {
        ran?.(key, clock.now() - start);
        this.failures.delete(key);
        return error.pause;
      }
      ran?.(key, clock.now() - start, error);
      const failures = (this.failures.get(key) ?? 0) + 1;
      this.failures.set(key, failures);
      const { random, failed } = this.options;
      const pause = (refusalOf(error)?.pause ?? 0) + pauseAfterFailures(failures, BACKOFF, random);
      failed(key, error, pause);
      return pause;
    }
  }

  private end(key: string, pause: number | undefined): void {
    this.running.delete(key);
    if (pause !== undefined) this.addAfter(key, pause);
    this.start();
    if (this.length() + this.running.size === 0 || this.closed.signal.aborted) this.settle();
  }

  /** Wakes those who wait for the queue to be idle or closed; they look for themselves. */
  private settle(): void {
    this.settled.resolve();
    this.settled = Promise.withResolvers();
  }
}
