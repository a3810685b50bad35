import type { Allocation } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";

/** What the controller knows of a source object. */
export interface Known {
  readonly object: Bag;
  /** The objects made of it, or that report of it, each with the reports about that object, and whether it is wanted. */
  readonly made: readonly { readonly object: Bag; readonly about: readonly Bag[]; readonly isWanted: boolean }[];
  /** Finds other objects by their keys. */
  readonly find: (key: string) => Bag | undefined;
  /** Why the controller does not act upon it, if so. */
  readonly rejected?: string | undefined;
  /** The pools that it defines, each with what a NodeIPPool would say of it. */
  readonly pools: readonly { readonly name: string; readonly fields: Bag; readonly conditions: readonly Bag[] }[];
  /** Its lines by address, if it is an owner itself. */
  readonly lines: readonly Allocation[];
  /** Its releasing lines. */
  readonly releasing: readonly Allocation[];
  /** Claims of it that get nothing, each with the reason. */
  readonly pending: readonly { readonly claim: string; readonly code: string; readonly message: string }[];
}
