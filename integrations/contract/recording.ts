import type { Allocation, Use } from "../../core/index.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import type { Bag } from "../../schema/objects.ts";
import type { Facts } from "./facts.ts";
import type { Concern, WatchedKind } from "./watched-kind.ts";

/** What the controller asks of an integration to decide for its owners, and to free only what is off them. Pure. */
export interface Recording {
  readonly kinds: readonly WatchedKind[];
  concerns(object: Bag): Concern;
  /** The key of the object that asked for a claim of its own. */
  sourceOf(claim: string): string;
  /** Of the claims of one owner, those with one word are served together or not at all; absent where those of one source are. */
  shareOf?(claim: string): string;
  /** The key of the one object that may have an address of a claim; absent where a claim's addresses are in objects of other names. */
  objectOf?(claim: string): string;
  /** The keys of objects of others by which an address may be free: the server is asked for them first. */
  evidenceOf?(line: Allocation): readonly string[];
  /**
   * Returns why an object is paused, with the next step, if it or what it belongs to is. Then nothing is allocated, written or released
   * for it. `find` finds objects by their keys. Absent where nothing ever is paused.
   */
  whyPaused?(object: Bag, find: (key: string) => Bag | undefined): string | undefined;
  /**
   * Shows an owner, by its object, that it has the address of a line? Then the line stays its, whatever it asks for now. `find` finds
   * objects by their keys. Absent where none shows that itself.
   */
  has?(owner: Bag, line: Allocation, find: (key: string) => Bag | undefined): boolean;
  /** Is an owner, by its object, not to get anything new yet? Absent where each may at once. */
  isWaiting?(owner: Bag): boolean;
  /**
   * What owners show to have of pools without a line, or were planned: nobody else is given that before they are looked at. It is given what
   * asks for all owners, the objects of owners without a line, and those that show what owners use. Absent where owners show nothing themselves.
   */
  claimed?(objects: readonly SourceObject[], facts: Facts): readonly Use[];
  /**
   * Of the objects that ask for all owners, those that disagree, each with what people read: none of them is acted upon. It is given
   * also those that cannot be acted upon by themselves. Absent where each stands for itself.
   */
  disagreeing?(objects: readonly SourceObject[]): ReadonlyMap<SourceObject, string>;
  /** Is a node, by its object, the machine that the addresses of an owner of its own are for? Absent where such addresses are on no node. */
  isMachine?(owner: string, node: Bag): boolean;
  /** The owners for whom nothing can be made, each with the reason; absent where that never happens. */
  unservable?(facts: Facts): ReadonlyMap<string, string>;
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
}
