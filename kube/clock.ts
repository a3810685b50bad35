import { setTimeout as wait } from "node:timers/promises";

/** Time in milliseconds, from whatever beginning. A test that wants its own time brings its own clock. */
export interface Clock {
  now(): number;
  /** Resolves after so long, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const realClock: Clock = {
  now: () => performance.now(),
  async sleep(ms, signal) {
    const end = performance.now() + ms;
    for (let left = ms; left > 0 && !signal?.aborted; left = end - performance.now())
      await wait(Math.min(left, LONGEST), undefined, signal && { signal }).catch(() => {});
  },
};

/** What a timer of Node can wait, 24 days; it takes more for nothing. */
const LONGEST = 2 ** 31 - 1;
