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

/** What a source object is to say. */
export interface Report {
  /** What the controller owns of its spec; absent if that is nothing. */
  readonly spec?: Bag;
  /** The object, by its key, without which this must not be said: the server is asked whether it is as it is seen. */
  readonly needs?: string;
  /** Is what somebody else says of these fields left as it is? Otherwise they are the controller's whoever had them. */
  readonly yields?: boolean;
  /** Why it is left as somebody else wants it. */
  readonly refused?: string;
  /** Conditions without which its spec may not be changed; absent where it may. */
  readonly unlock?: readonly Bag[];
  /** Fields of its status beside the conditions. */
  readonly fields?: Bag;
  /** Its conditions without their times; absent if they are not ours to say. */
  readonly conditions?: readonly Bag[];
  /** Have they `lastHeartbeatTime`? */
  readonly hasHeartbeat?: boolean;
  /** Annotations that it is to have, or that it is not. */
  readonly annotations?: Readonly<Record<string, string | undefined>>;
  /** A finalizer that it is to have, or that it is not. */
  readonly finalizer?: { readonly name: string; readonly isWanted: boolean };
}
