import type { WatchState } from "../../kube/index.ts";

/** How the controller stands. */
export interface Vitals {
  /** The state of the watch of each kind. */
  readonly watches: ReadonlyMap<string, WatchState>;
  /** Whether every owner was decided once. */
  readonly hasDecided: boolean;
  /** For how long a key of a queue has been stuck, in milliseconds. */
  readonly stuckFor: number;
  /** Whether the controller was told to stop. */
  readonly isStopping: boolean;
}

/** A controller of which a key is stuck for longer than this, in milliseconds, is to be restarted. */
const longest = 5 * 60_000;

/**
 * Why the process is to be restarted, and why it does not serve yet; undefined where neither is so.
 *
 *  the controller                     | healthz | readyz
 *  -----------------------------------+---------+--------
 *  a key is stuck for too long        | no      | as below
 *  is stopping                        | yes     | no
 *  a watch is listing, or failing     | yes     | no
 *  has not decided upon everything    | yes     | no
 *  otherwise                          | yes     | yes
 *
 * A kind that the cluster does not have is no reason: it is waited for.
 */
export function health({ watches, hasDecided, stuckFor, isStopping }: Vitals): {
  readonly healthz?: string;
  readonly readyz?: string;
} {
  const healthz = stuckFor > longest ? `a key has been stuck for ${Math.round(stuckFor / 1000)} s` : undefined;
  const unknown = [...watches].filter(([, state]) => state !== "synced" && state !== "absent");
  const readyz = isStopping
    ? "stopping"
    : unknown.length > 0
      ? unknown.map(([kind, state]) => `the watch of ${kind} is ${state}`).join(", ")
      : hasDecided
        ? undefined
        : "nothing was decided yet";
  return { ...(healthz === undefined ? {} : { healthz }), ...(readyz === undefined ? {} : { readyz }) };
}
