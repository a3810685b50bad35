import type { Bag } from "../../schema/objects.ts";

/** A kind of object that the controller watches. Its objects are known by their keys (`objectKey`). */
export interface WatchedKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** The name in API paths. */
  readonly plural: string;
  /** Selects the objects that are watched; absent where all are. */
  readonly where?: { readonly namespace?: string; readonly labels?: string; readonly fields?: string };
  /** Returns the part of an object that stays in memory; a fleet has tens of thousands of objects. */
  keep(object: Bag): Bag;
  /** Returns the part of a made object that stays in memory, beside its status and a digest of its content. */
  keepMade?(object: Bag): Bag;
  /** The kind has no status subresource: its status is content, and is written with the rest. */
  readonly hasNoStatusSubresource?: boolean;
  /**
   * Returns what the controller says in an object that is another program's: a part of its status, as it is compared. The controller
   * creates such an object where there is none. Absent where objects of the controller are its own.
   */
  statusPart?(object: Bag): Bag;
  /** Returns whether an object stays that the controller wants no more: another program acts by it, and deletes it. Absent where none does. */
  staysUnwanted?(object: Bag): boolean;
  /** Returns what cannot be changed in an existing object; absent where everything can. */
  fixed?(object: Bag): unknown;
  /** One object of it lists many owners. It belongs to its source: `concerns` returns the source's key as its owner. */
  readonly isShared?: boolean;
  /** Several sources ask for one such object together: its own key stands for all of them. */
  readonly isOwnSource?: boolean;
  /** Its objects are owners. The record names them by the kind alone, without its group. */
  readonly isOwner?: boolean;
  /** Its objects give their owners what they show by `uses` (IPAddress); absent where they only observe it, or anybody may write it (Pod). */
  readonly isGrant?: boolean;
  /** Only what its objects show counts that the controller or a plan made. */
  readonly showsIfMade?: boolean;
  /** A change of it may make room in a pool, although it shows nothing by `uses` (IPPool of whereabouts). */
  readonly makesRoom?: boolean;
  /** Any object of it may have, or ask for, an address that is to be freed: the controller lists all of them on the server first. */
  readonly mayHaveAny?: boolean;
  /** Changes to status alone never change a decision: they do not requeue owners. */
  readonly ignoresStatus?: boolean;
}

/** Whom a change of an object concerns. */
export interface Concern {
  /** The owners whose addresses or objects may change, first the owner that the object was made for; `all` for what defines pools. */
  readonly owners: readonly string[] | "all";
  /** It only shows what an owner has: a change requeues owners with releasing lines alone, its deletion requeues all of its owners. */
  readonly isEvidence?: boolean;
  /** The keys of the objects whose status may change. */
  readonly sources: readonly string[];
}
