import type { Allocation, Snapshot } from "../allocation.ts";
import { noChanges, type Release } from "./changes.ts";
import type { Plan } from "./plan.ts";

/**
 * A plan that frees these lines, or only begins to release them. Only a human's word or evidence may ask for the first; time
 * never does.
 */
export function planRelease(snapshot: Snapshot, lines: readonly Allocation[], to: Release["to"] = "free"): Plan {
  const release = lines.map((allocation) => ({ allocation, to }));
  return { ...noChanges, set: "default", pools: [], base: snapshot.base, release };
}
