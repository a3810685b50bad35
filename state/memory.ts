import type { Plan, Snapshot } from "../core/index.ts";
import { applyPlan } from "./apply.ts";
import type { StateBackend } from "./backend.ts";
import { snapshotOf } from "./codec.ts";

/** A record in memory: for trials, tests and tools that keep it elsewhere. */
export function memory(initial?: Snapshot): StateBackend {
  let held = snapshotOf(initial ?? { pools: [], allocations: [], releasing: [] });
  return {
    name: "memory",
    read: async () => held,
    commit: async (plan: Plan) => {
      held = applyPlan(held, plan) ?? held;
      return held;
    },
  };
}
