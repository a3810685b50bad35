import type { Dependencies } from "../dependencies.ts";
import { Debounce } from "./debounce.ts";

/** How long something has to last before an Event says so, in milliseconds. */
const delay = 60_000;

/** Events about what is normal for a while: each is sent once its cause was there at every look for a minute. */
export class DelayedEvents {
  private readonly debounce = new Debounce();
  private readonly deps: Pick<Dependencies, "clock" | "observer">;

  constructor(deps: Pick<Dependencies, "clock" | "observer">) {
    this.deps = deps;
  }

  /**
   * Sends a message about an object once the minute is over; undefined says that there is no cause, or none any more. Returns in how
   * many milliseconds to look at `key` again, if the minute is not over.
   */
  tell(key: string, about: string, message: string | undefined): number | undefined {
    const { clock, observer } = this.deps;
    const steps = message === undefined ? [] : [{ verb: "warn", about, message, after: delay } as const];
    const due = this.debounce.due(key, steps, clock.now());
    if (message !== undefined && due.steps.length > 0) observer?.wrong(about, "Refused", message);
    return due.again;
  }
}
