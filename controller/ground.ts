import type { Integration } from "../integrations/integration.ts";
import type { Clock, Objects } from "../kube/index.ts";
import type { StateBackend } from "../state/backend.ts";

/** What the engine stands on; a simulator has its own of each. */
export interface Ground {
  readonly objects: Objects;
  readonly state: StateBackend;
  readonly integrations: readonly Integration[];
  readonly clock: Clock;
  /** From 0 to 1, as Math.random. */
  readonly random: () => number;
  /** The time of day, for conditions. */
  readonly today: () => Date;
  readonly log: (event: LogEvent) => void;
}

/** Something that whoever runs the controller may want to read. */
export interface LogEvent {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly [field: string]: unknown;
}
