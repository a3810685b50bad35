import { type Allocation, ownerOfKey, placeOf } from "../../core/index.ts";
import type { Clock } from "../../kube/index.ts";

/** A line that is releasing, as this controller has seen it. */
interface Held {
  readonly line: Allocation;
  /** Since when without a gap. */
  readonly since: number;
  /** Since when at all. */
  readonly first: number;
}

/**
 * For how long this controller has seen addresses releasing. What it has not seen it does not count: when it starts, all begins
 * anew.
 *
 *  a line is held back until           | counted from | because
 *  ------------------------------------+--------------+----------------------------------------------------
 *  `hold` is over                      | the last gap | it may have been live in a gap; see timing.ts
 *  the grace period of its pool is over | the first look | neighbours may remember who had it: no harm in a gap
 *
 * So a line whose grace period is long is not looked at all the time, but from when that has `hold` left.
 */
export class ReleaseHold {
  private readonly clock: Clock;
  private readonly hold: number;
  private readonly graceOf: (pool: string) => number;
  private held = new Map<string, Held>();
  private owners = new Set<string>();

  /** `graceOf` says for how long a pool wants its addresses held back, in milliseconds. */
  constructor(clock: Clock, hold: number, graceOf: (pool: string) => number = () => 0) {
    this.clock = clock;
    this.hold = hold;
    this.graceOf = graceOf;
  }

  /** Nobody has looked for so long that any line may have been live in between. */
  beginAnew(): void {
    this.held = new Map([...this.held].map(([key, one]) => [key, { ...one, since: Number.POSITIVE_INFINITY }]));
  }

  /** Says what is releasing now. One that was live in between begins anew. */
  see(releasing: readonly Allocation[]): void {
    const now = this.clock.now();
    this.owners = new Set(releasing.map(({ claim }) => ownerOfKey(claim)));
    const seen = (line: Allocation): Held => {
      const { since = now, first = now } = this.held.get(keyOfLine(line)) ?? {};
      return { line, since: Math.min(since, now), first };
    };
    this.held = new Map(releasing.map((line) => [keyOfLine(line), seen(line)]));
  }

  /** Returns whether an owner has releasing lines. */
  hasOwner(owner: string): boolean {
    return this.owners.has(owner);
  }

  /** Returns for how many milliseconds a line has been seen releasing, whatever was in a gap. */
  seenFor(line: Allocation): number {
    const now = this.clock.now();
    return now - (this.held.get(keyOfLine(line))?.first ?? now);
  }

  /** Returns whether a releasing line needs frequent reads of the record now. */
  isRunning(): boolean {
    const now = this.clock.now();
    return [...this.held.values()].some(({ line }) => {
      const { hold, grace } = this.left(line, now);
      return hold > 0 && grace <= this.hold;
    });
  }

  /** By a record that was read so late: what is not looked at may be live again. */
  isLongEnough(line: Allocation, readAt: number): boolean {
    const { hold, grace } = this.left(line, readAt);
    return Math.max(hold, grace) <= 0;
  }

  /** The owners of lines that were not yet long enough at that time, and in how many milliseconds after it to look at the first of these. */
  later(releasing: readonly Allocation[], at: number): Map<string, number> {
    const found = new Map<string, number>();
    for (const line of releasing) {
      const { hold, grace } = this.left(line, at);
      const left = grace > this.hold ? grace - this.hold : Math.max(hold, grace);
      const owner = ownerOfKey(line.claim);
      if (left > 0) found.set(owner, Math.min(left, found.get(owner) ?? left));
    }
    return found;
  }

  private left(line: Allocation, at: number): { readonly hold: number; readonly grace: number } {
    const { since = at, first = at } = this.held.get(keyOfLine(line)) ?? {};
    return { hold: Math.min(since, at) + this.hold - at, grace: first + this.graceOf(line.pool) - at };
  }
}

/** Tells lines apart, also from one that the same claim had elsewhere. */
export function keyOfLine(line: Allocation): string {
  return `${placeOf(line)} ${line.claim}`;
}
