import { type Clock, realClock } from "./clock.ts";

export interface Backoff {
  /** The first pause is at most this; each next one at most twice the one before, up to `longest`. */
  readonly first: number;
  readonly longest: number;
}

export interface RetryOptions extends Partial<Backoff> {
  /** How long to go on, in milliseconds, from the first attempt to the beginning of the last. */
  readonly budget: number;
  readonly clock?: Clock;
  /** From 0 to 1, as Math.random. */
  readonly random?: () => number;
}

/**
 * How long to wait after so many failures in a row. Pauses are random over their whole length (full jitter), because
 * writers that met once would otherwise meet again.
 */
export function pauseAfterFailures(count: number, { first, longest }: Backoff, random: () => number): number {
  return random() * Math.min(first * 2 ** (count - 1), longest);
}

/**
 * The one way to try again. `pauseAfter` says of an error how long the other side wants to be left alone, 0 if it does
 * not say, undefined if another attempt cannot help. When the budget does not last, the last error is thrown.
 */
export async function retry<T>(
  attempt: () => Promise<T>,
  pauseAfter: (error: unknown) => number | undefined,
  { budget, first = 50, longest = 5_000, clock = realClock, random = Math.random }: RetryOptions,
): Promise<T> {
  const deadline = clock.now() + budget;
  for (let failures = 1; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      const wanted = pauseAfter(error);
      if (wanted === undefined) throw error;
      const pause = wanted + pauseAfterFailures(failures, { first, longest }, random);
      if (clock.now() + pause > deadline) throw error;
      await clock.sleep(pause);
    }
  }
}
