import type { Allocation } from "../core/index.ts";
import type { ClusterIntegration } from "../integrations/contract/cluster-integration.ts";
import type { Clock, Objects } from "../kube/index.ts";
import type { StateBackend } from "../state/backend.ts";
import type { Cache } from "./cache/cache.ts";
import type { Timing } from "./timing.ts";

/** What the engine is built with; a simulator passes its own of each. */
export interface Dependencies {
  /** Objects of all kinds that the engine and the reconcilers watch. */
  readonly cache: Cache;
  readonly objects: Objects;
  readonly state: StateBackend;
  readonly integrations: readonly ClusterIntegration[];
  readonly clock: Clock;
  readonly timing: Timing;
  /** From 0 to 1, as Math.random. */
  readonly random: () => number;
  /** The time of day, for conditions. */
  readonly today: () => Date;
  readonly log: (event: LogEvent) => void;
  readonly observer?: Observer;
}

/** The time of day as objects have it: in seconds. */
export function timeOf({ today }: Pick<Dependencies, "today">): string {
  return today()
    .toISOString()
    .replace(/\.\d+Z$/, "Z");
}

/** Told of what was done. Nothing that the engine does depends on it. */
export interface Observer {
  /** A key of the queue has run, for so long. */
  ran(key: string, ms: number, error?: unknown): void;
  /** A commit changed the record. */
  recorded(change: RecordChange): void;
  /** Something is wrong with an object, or still is: in a word, and in a sentence. */
  wrong(about: string, problem: string, message: string): void;
}

/** What one commit changed in the record. */
export interface RecordChange {
  readonly allocated: readonly Allocation[];
  /** Their owners had these addresses before the record had them. */
  readonly adopted: readonly Allocation[];
  /** Their owners claim them again before they were free. */
  readonly reclaimed: readonly Allocation[];
  readonly releasing: readonly Allocation[];
  readonly released: readonly Allocation[];
}

/** Something that whoever runs the controller may want to read. */
export interface LogEvent {
  readonly level: LogLevel;
  readonly message: string;
  /** What was thrown. */
  readonly error?: unknown;
  readonly [field: string]: unknown;
}

/** From the most important one on. */
export const logLevels = ["error", "warn", "info", "debug"] as const;

export type LogLevel = (typeof logLevels)[number];
