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
   * Those of its releasing lines that are known to be off their owners, given what concerns these owners. Only evidence counts, never
   * time. In a reset somebody says that the reports of the owners are up to date. `find` finds other objects by their keys.
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
  /** Of the claims of one owner, those with one word are served together or not at all; absent where those of one source are. */
  shareOf?(claim: string): string;
  /** Why an object is paused, with the next step, if it or what it belongs to is. Nothing is allocated, written or released for it then. */
  whyPaused?(object: Bag, find: (key: string) => Bag | undefined): string | undefined;
  /** The finalizer that an owner has before an object is made for it. Its address is allocated meanwhile. */
  readonly finalizer?: string;
  /** Does an owner get nothing new yet, and lose nothing? */
  isWaiting?(owner: Bag): boolean;
  /** Does an owner show that it has the address of a line? The line stays its own then, whatever it asks for now. */
  has?(owner: Bag, line: Allocation, find: (key: string) => Bag | undefined): boolean;
  /** The owners for whom nothing can be made, each with the reason. */
  unservable?(facts: Facts): ReadonlyMap<string, string>;
}

/** What the controller asks where several may have one address. */
export interface Contention {
  /**
   * What owners without a line, or with something unrecorded, show or were planned to have: nobody else is given that before they are looked
   * at. It is given the objects that ask for all owners, and those of these owners.
   */
  requestedUses?(objects: readonly SourceObject[], facts: Facts): readonly Use[];
  /**
   * Of the objects that ask for all owners, those that disagree, each with what people read: none of them is acted upon. It is given
   * also those that cannot be acted upon by themselves.
   */
  disagreeing?(objects: readonly SourceObject[]): ReadonlyMap<SourceObject, string>;
  /** Is a node, by its object, the machine that the addresses of an owner of its own are for? */
  isMachine?(owner: string, node: Bag): boolean;
}
