import { setTimeout as sleep } from "node:timers/promises";

/** Waits until it is so. `words` say what, where it is not in time. */
export async function until(what: () => Promise<boolean>, words: string, ms = 120_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await what())) {
    if (Date.now() > end) throw new Error(`not in time: ${words}`);
    await sleep(100);
  }
}
