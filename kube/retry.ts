import { setTimeout as sleep } from "node:timers/promises";

export interface RetryOptions {
  /** How long to go on, in milliseconds, from the first attempt to the beginning of the last. */
  readonly budget: number;
  /** The first pause is at most this; each next one at most twice the one before, up to `longest`. */
  readonly first?: number;
  readonly longest?: number;
}

/**
 * The one way to try again. `pauseAfter` says of an error how long the other side wants to be left alone, 0 if it does
 * not say, undefined if another attempt cannot help. Pauses are random over their whole length (full jitter), because
 * writers that met once would otherwise meet again. When the budget does not last, the last error is thrown.
 */
export async function retry<T>(
  attempt: () => Promise<T>,
  pauseAfter: (error: unknown) => number | undefined,
  { budget, first = 50, longest = 5_000 }: RetryOptions,
): Promise<T> {
  const deadline = performance.now() + budget;
  for (let most = first; ; most = Math.min(most * 2, longest)) {
    try {
      return await attempt();
    } catch (error) {
      const wanted = pauseAfter(error);
      if (wanted === undefined) throw error;
      const pause = wanted + Math.random() * most;
      if (performance.now() + pause > deadline) throw error;
      await sleep(pause);
    }
  }
}
