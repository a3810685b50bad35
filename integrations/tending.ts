import type { Bag } from "../schema/objects.ts";
import type { WatchedKind } from "./in-cluster.ts";
import type { RenderedObject } from "./integration.ts";

/** Something to do to an object. */
export type TendStep =
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
 * Objects that follow others, as claims follow their VM. No address is decided for them, so they need no record: what is to be done
 * follows from what there is. Pure.
 */
export interface Tending {
  readonly kinds: readonly WatchedKind[];
  /** What an object belongs to, by name; `all` where it concerns everything that is tended to. */
  belongsTo(object: Bag): readonly string[] | "all";
  /** What is to be done for one of these names, given all that belongs to it. `find` finds other objects by their keys. */
  steps(name: string, belonging: readonly Bag[], find: (key: string) => Bag | undefined): readonly TendStep[];
}
