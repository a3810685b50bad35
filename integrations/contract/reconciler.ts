import type { Bag } from "../../schema/objects.ts";
import type { RenderedObject } from "./integration.ts";
import type { WatchedKind } from "./watched-kind.ts";

/** A change to one object, or an Event about it. */
export type Step =
  | { readonly verb: "create"; readonly object: RenderedObject }
  | { readonly verb: "delete"; readonly object: Bag; readonly needs: Needs }
  /** Changes these fields as a merge patch does, if the object is still as it is seen. */
  | {
      readonly verb: "change";
      readonly object: Bag;
      readonly fields: Bag;
      readonly needs?: Needs;
      /** It is taken once it was right at every look for so many milliseconds; absent where at once. */
      readonly after?: number;
    }
  /** An Event about an object, by its key: why nothing can be done, or, in a word, what is wrong besides. */
  | {
      readonly verb: "warn";
      readonly about: string;
      readonly message: string;
      readonly problem?: "Freed" | "IPConflict" | "GatewayUnreachable";
      /** As for a change. */
      readonly after?: number;
    };

/**
 * What a step is right by. The server is asked first whether it is as it is seen. Steps that share it (one and the same object) are
 * about different objects, and may be taken at the same time.
 */
export interface Needs {
  /** Objects, by their keys. */
  readonly keys: readonly string[];
  /** All objects of a kind in a namespace, as far as they are watched: there may be one that was not seen yet. */
  readonly all?: { readonly kind: string; readonly namespace: string };
}

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
