import { type Allocation, ownerOfKey, placeOf } from "../core/index.ts";
import type { Clock } from "../kube/index.ts";

/** For how long a line is held back, in milliseconds. */
export type HoldOf = (line: Allocation) => number;

/**
 * For how long this controller has seen addresses releasing, without a gap; timing.ts says why that matters. What it has not seen
 * it does not count: when it starts, each hold begins anew.
 */
export class ReleaseHold {
  private readonly clock: Clock;
  private readonly holdOf: HoldOf;
  private since = new Map<string, { readonly line: Allocation; readonly at: number }>();
  private owners = new Set<string>();

  constructor(clock: Clock, holdOf: HoldOf) {
    this.clock = clock;
    this.holdOf = holdOf;
  }

  /** Nobody has looked for so long that any line may have been live in between. */
  beginAnew(): void {
    this.since.clear();
  }

  /** Says what is releasing now. One that was live in between begins anew. */
  see(releasing: readonly Allocation[]): void {
    const now = this.clock.now();
    this.owners = new Set(releasing.map(({ claim }) => ownerOfKey(claim)));
    const since = (key: string) => this.since.get(key)?.at ?? now;
    this.since = new Map(releasing.map((line) => [keyOfLine(line), { line, at: since(keyOfLine(line)) }]));
  }

  /** Has an owner something that it is to lose? */
  hasOwner(owner: string): boolean {
    return this.owners.has(owner);
  }

  /** Is there a line that is not held long enough yet? */
  isRunning(): boolean {
    const now = this.clock.now();
    return [...this.since.values()].some(({ line }) => this.left(line, now) > 0);
  }

  /** By a record that was read so late: what is not looked at may be live again. */
  isLongEnough(line: Allocation, readAt: number): boolean {
    return this.left(line, readAt) <= 0;
  }

  /** The owners of lines that were not yet long enough at that time, and how many milliseconds after it the last of them is. */
  later(releasing: readonly Allocation[], at: number): Map<string, number> {
    const found = new Map<string, number>();
    for (const line of releasing) {
      const left = this.left(line, at);
      const owner = ownerOfKey(line.claim);
      if (left > 0) found.set(owner, Math.max(left, found.get(owner) ?? 0));
    }
    return found;
  }

  private left(line: Allocation, at: number): number {
    return (this.since.get(keyOfLine(line))?.at ?? at) + this.holdOf(line) - at;
  }
}

/** Tells lines apart, also from one that the same claim had elsewhere. */
export function keyOfLine(line: Allocation): string {
  return `${placeOf(line)} ${line.claim}`;
}
