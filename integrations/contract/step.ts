import type { Bag } from "../../schema/objects.ts";
import type { RenderedObject } from "./integration.ts";
import { keyOf } from "./object-metadata.ts";

/** A change to one object, or an Event about it. It is made to the object as the steps before have left it. */
export type Step =
  | { readonly verb: "create"; readonly object: RenderedObject }
  /** Sees to it that an object of the controller says this: creates it, or puts it in the place of what `there` says. */
  | {
      readonly verb: "put";
      readonly object: RenderedObject;
      readonly there: Bag | undefined;
      /** As for a change. */
      readonly after?: number;
    }
  | {
      readonly verb: "delete";
      readonly object: Bag;
      readonly needs: Needs;
      /** As for a change. */
      readonly after?: number;
    }
  /** Changes these fields as a merge patch does, if the object is still as it is seen. */
  | {
      readonly verb: "change";
      readonly object: Bag;
      readonly fields: Bag;
      readonly needs?: Needs;
      /** It is taken once it was right at every look for so many milliseconds; absent where at once. */
      readonly after?: number;
    }
  /** Sees to it that an object has a finalizer, or has it no more. */
  | { readonly verb: "finalizer"; readonly object: Bag; readonly name: string; readonly isWanted: boolean }
  | Apply
  | SetStatus
  | Warn;

/** An Event about an object, by its key: why nothing can be done, or, in a word, what is wrong besides. */
export interface Warn {
  readonly verb: "warn";
  readonly about: string;
  readonly message: string;
  readonly problem?: "Freed" | "IPConflict" | "GatewayUnreachable";
  /** As for a change. */
  readonly after?: number;
}

export function warn(about: Bag, message: string): Warn {
  return { verb: "warn", about: keyOf(about), message };
}

/** Sees to it that the spec of an object has these fields beside the user's, by server-side apply. */
export interface Apply {
  readonly verb: "apply";
  readonly object: Bag;
  readonly spec: Bag;
  readonly needs?: Needs;
  /** Is a field that another program sets left as it is? Otherwise it becomes the controller's. */
  readonly yields?: boolean;
}

/** Sees to it that the status of an object says this. */
export interface SetStatus {
  readonly verb: "status";
  readonly object: Bag;
  /** Fields beside the conditions; undefined takes one away. */
  readonly fields?: Bag;
  /** Conditions without their times. Those of other types stay. */
  readonly conditions: readonly Bag[];
  /** Have they `lastHeartbeatTime`? */
  readonly hasHeartbeat?: boolean;
}

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
