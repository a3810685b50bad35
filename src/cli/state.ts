import type { StateBackend } from "../state/backend.ts";
import { type Lockfile, type LockfileOptions, lockfile } from "../state/lockfile.ts";

/** The options of a verb that say where allocations live. */
export interface StateOptions {
  readonly lock: string;
}

/** Where allocations live: the one place in which verbs turn options into a state backend. */
export function openState(options: StateOptions): StateBackend {
  return openLock(options);
}

/** The same where a verb does what only a file can: merge the two sides of it, or take many plans in one write. */
export function openLock({ lock }: StateOptions, file?: LockfileOptions): Lockfile {
  return lockfile(lock, file);
}
