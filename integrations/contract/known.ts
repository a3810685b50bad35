import type { Allocation } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";

/** What is known of a source object. */
export interface Known {
  readonly object: Bag;
  /** The objects that were made of it, or tell about it, each with those that tell about that one; is it to exist? */
  readonly made: readonly { readonly object: Bag; readonly about: readonly Bag[]; readonly isWanted: boolean }[];
  /** Finds other objects by their keys. */
  readonly find: (key: string) => Bag | undefined;
  /** Why it is not acted upon, if so. */
  readonly rejected?: string | undefined;
  /** The pools that it defines, each with what a NodeIPPool would say of it. */
  readonly pools: readonly { readonly name: string; readonly fields: Bag; readonly conditions: readonly Bag[] }[];
  /** What it has on record, by address; of a source that asks for nobody but itself. */
  readonly lines: readonly Allocation[];
  /** The same of what is releasing: what it asks for no more, and nobody else has. */
  readonly releasing: readonly Allocation[];
  /** Claims of it that get nothing, each with the reason. */
  readonly pending: readonly { readonly claim: string; readonly code: string; readonly message: string }[];
}
