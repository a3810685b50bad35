import type { Bag } from "../../schema/objects.ts";

/** How an object that was made fares; `unreachable`: its owner cannot act on it now, and has not begun to. */
export type RolloutHealth = "available" | "failing" | "progressing" | "unreachable";

/** What the controller asks about the objects that it makes for owners. Pure. */
export interface MadeObjects {
  /** The key of the one object that is made for a claim, which stays while the claim waits for an address; absent where none stays. */
  objectOf?(claim: string): string;
  /**
   * Is an object that somebody else made, of the name that an owner's is to have, taken over? It is then what is `wanted`, if that
   * is known. Absent where all are left to them.
   */
  takesOver?(object: Bag, owner: string, wanted: Bag | undefined): boolean;
  /** What people read where one is not taken over: in which way it is otherwise than what is `wanted`, and what to do. */
  whyRefused?(object: Bag, wanted: Bag): string | undefined;
  /** Does what was made stay when its source goes, until an owner is only to lose what it has? Otherwise it goes, too. */
  readonly outlivesSource?: boolean;
  /** The finalizer that keeps what is made from being deleted by mistake; absent where none does. */
  readonly protection?: string;
  /**
   * How many of the objects made of a source may be on their way at once, and how one of them fares, by what reports of it and the
   * object that is its owner; absent where all may.
   */
  readonly rollout?: {
    limit(source: Bag, made: number): number;
    health(object: Bag, about: readonly Bag[], owner: Bag | undefined): RolloutHealth;
  };
}
