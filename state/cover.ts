import { isNoop, type Plan, type Snapshot } from "../core/index.ts";
import { applyPlan } from "./apply.ts";
import { offerPlan } from "./offer.ts";

/**
 * The record that covers a plan: as it is, or, under `nodeippool allocate -- COMMAND`, as that verb will make it.
 * Undefined where it does not: that is drift, and nobody but `allocate` may mend it. Give it
 * what the plan was made against: `withOffers` of the record.
 */
export function covering(made: Plan, recorded: Snapshot): Snapshot | undefined {
  if (offerPlan(made)) return applyPlan(recorded, made) ?? recorded;
  return isNoop(made) ? recorded : undefined;
}
