import { objectKey } from "../../integrations/contract/object-key.ts";
import { uidOf } from "../../integrations/contract/object-metadata.ts";
import type { Step } from "../../integrations/contract/step.ts";

/**
 * Steps that are not taken at once, but when they were right at each look for long enough. Only the own clock counts, from the first
 * look on: that of the server is never compared with it, and whoever is started anew waits longer.
 */
export class Debounce {
  /** Since when each step is right: by the name that is looked at, and the object, or its key where it may not be there yet, or only an Event is about it. */
  private readonly since = new Map<string, ReadonlyMap<string, number>>();

  /** Those of these that are to be taken now, and in how many milliseconds to look again for the others. */
  due(name: string, steps: readonly Step[], now: number): { steps: Step[]; again?: number } {
    const before = this.since.get(name);
    const since = new Map<string, number>();
    const left: number[] = [];
    const due = steps.filter((step) => {
      if (!("after" in step) || step.after === undefined) return true;
      const key = step.verb === "warn" ? step.about : step.verb === "put" ? objectKey(step.object) : uidOf(step.object);
      const start = before?.get(key) ?? now;
      since.set(key, start);
      const ms = start + step.after - now;
      if (ms > 0) left.push(ms);
      return ms <= 0;
    });
    if (since.size > 0) this.since.set(name, since);
    else this.since.delete(name);
    return { steps: due, ...(left.length > 0 && { again: Math.min(...left) }) };
  }
}
