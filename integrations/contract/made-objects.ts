import type { Bag } from "../../schema/objects.ts";

/** The health of a made object in a rollout; `unreachable`: its owner cannot act on it now, and has not begun to. */
export type RolloutHealth = "available" | "failing" | "progressing" | "unreachable";

/** What the controller asks about the objects that it makes for owners. Pure. */
export interface MadeObjects {
  /** The key of the one object that is made for a claim, which stays while the claim waits for an address; absent where none stays. */
  objectOf?(claim: string): string;
  /**
   * Returns whether the controller takes over another program's object that has the name of an owner's. It then becomes what is `wanted`,
   * if that is known. Absent where the controller takes over none.
   */
  takesOver?(object: Bag, owner: string, wanted: Bag | undefined): boolean;
  /** Returns why an object is not taken over, for people: how it differs from what is `wanted`, and what to do. */
  whyRefused?(object: Bag, wanted: Bag): string | undefined;
  /** Made objects stay when their source goes, until their owner has releasing lines alone. */
  readonly outlivesSource?: boolean;
  /** The finalizer that keeps made objects from being deleted by mistake; absent where none does. */
  readonly protection?: string;
  /**
   * How many objects of a source may change at once, and the health of one, by its reports and its owner's object. Absent where all
   * may change at once.
   */
  readonly rollout?: {
    limit(source: Bag, made: number): number;
    health(object: Bag, about: readonly Bag[], owner: Bag | undefined): RolloutHealth;
  };
}
