import type { Allocation, Use } from "../../core/index.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import type { Bag } from "../../schema/objects.ts";
import type { Facts } from "./facts.ts";
import type { Concern, WatchedKind } from "./watched-kind.ts";

/** What the controller asks of an integration to decide for its owners, and to free only what is off them. Pure. */
export interface Recording {
  readonly kinds: readonly WatchedKind[];
  concerns(object: Bag): Concern;
  /** The key of the object that asked for a claim of its own; absent where that is the owner. */
  sourceOf?(claim: string): string;
  /** The keys of objects by which an address may be free, beside its owner and what asked for it: the server is asked for them first. */
  evidenceOf?(line: Allocation): readonly string[];
  /**
   * Returns the releasing lines that are known to be off their owners, by the objects that concern these owners. Only evidence counts, never
   * time. In a reset a person confirms that the reports of the owners are up to date. `find` finds other objects by their keys.
   */
  gone(
    objects: readonly Bag[],
    facts: Facts,
    releasing: readonly Allocation[],
    isReset: boolean,
    find: (key: string) => Bag | undefined,
  ): readonly Allocation[];
  /** Which owners get nothing new, or keep what they have; absent where each is served at once. */
  readonly owners?: OwnerRules;
  /** Who has what several ask for, or show; absent where only the record and reports say that. */
  readonly contention?: Contention;
}

/** Rules about an owner, by its object. `find` finds other objects by their keys. */
export interface OwnerRules {
  /** Returns a key: an owner's claims with the same key are served together or not at all. Absent where the claims of one source are. */
  shareOf?(claim: string): string;
  /** Returns why an object is paused, with the next step; undefined if it is not. Nothing is allocated, written or released for a paused object. */
  whyPaused?(object: Bag, find: (key: string) => Bag | undefined): string | undefined;
  /** The finalizer that the controller puts on an owner before it allocates an address for it. */
  readonly finalizer?: string;
  /** Returns whether an owner gets nothing new yet, and loses nothing. */
  isWaiting?(owner: Bag): boolean;
  /** Returns whether an owner shows that it has the address of a line. The line then stays its own, whatever it asks for now. */
  has?(owner: Bag, line: Allocation, find: (key: string) => Bag | undefined): boolean;
  /** Returns the owners for which no object can be made, each with the reason. */
  unservable?(facts: Facts): ReadonlyMap<string, string>;
}

/** Which owner has an address that several show or ask for. */
export interface Contention {
  /**
   * Returns what owners without a line, or with something unrecorded, show or were planned to have: no other owner gets it before they are
   * decided. `objects` are those that ask for all owners, and those of these owners.
   */
  requestedUses?(objects: readonly SourceObject[], facts: Facts): readonly Use[];
  /**
   * Returns the objects that contradict each other, each with a message for people: the controller acts upon none of them. `objects` are
   * all that ask for all owners, also those that are invalid by themselves.
   */
  disagreeing?(objects: readonly SourceObject[]): ReadonlyMap<SourceObject, string>;
  /** Returns whether a node, by its object, is the machine of an owner. */
  isMachine?(owner: string, node: Bag): boolean;
}
