import type { Snapshot } from "../../core/index.ts";

/** Whether a pool may have lines in a part of the record that cannot be read now: those that are known are as they were read last. */
export function isUnreadable(pool: string, { unreadable = [] }: Snapshot): boolean {
  return unreadable.some(({ pools }) => pools.some(({ name }) => name === pool));
}
