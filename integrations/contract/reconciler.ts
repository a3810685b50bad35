import type { Bag } from "../../schema/objects.ts";
import type { Step } from "./step.ts";
import type { WatchedKind } from "./watched-kind.ts";

/**
 * Reconciles dependents, such as the IPAMClaims of a VM. Keyed by the parent: a change to the parent or to a dependent requeues the
 * parent. It never allocates, so it needs no record. Pure.
 */
export interface Reconciler {
  readonly kinds: readonly WatchedKind[];
  /** The names of the parents of an object; `all` where it concerns every parent. */
  belongsTo(object: Bag): readonly string[] | "all";
  /** The steps for one parent, given all its dependents. `find` finds other objects by their keys. */
  steps(name: string, belonging: readonly Bag[], find: (key: string) => Bag | undefined): readonly Step[];
}
