import type { Bag } from "../../schema/objects.ts";

/** A kind of object that the controller watches. Its objects are known by their keys (`objectKey`). */
export interface WatchedKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** The name in API paths. */
  readonly plural: string;
  /** Which of its objects are watched, by selectors; absent where all are. */
  readonly where?: { readonly namespace?: string; readonly labels?: string; readonly fields?: string };
  /** What of an object is kept in memory; a fleet has tens of thousands. */
  keep(object: Bag): Bag;
  /** What is kept of one that the controller made, beside its status and a digest of what it says. */
  keepMade?(object: Bag): Bag;
  /** Has it no status of its own in API paths? What it says there is content as any other, and is written with it. */
  readonly hasNoStatusSubresource?: boolean;
  /** What cannot be changed in an object that is there; absent where all can. */
  fixed?(object: Bag): unknown;
  /** Is an object of it made of what many owners have? It belongs to its source: `concerns` says that key for its owner. */
  readonly isShared?: boolean;
  /** Do several sources ask for such an object together? Then its own key stands for all of them. */
  readonly isOwnSource?: boolean;
  /** Are its objects owners, which the record names by the kind alone, without its group? */
  readonly isOwner?: boolean;
  /** Its objects give their owners what they show by `uses` (IPAddress); absent where they only observe it, or anybody may write it (Pod). */
  readonly isGrant?: boolean;
  /** Only what its objects show counts that the controller or a plan made. */
  readonly showsIfMade?: boolean;
  /** A change of it may make room in a pool, although it shows nothing by `uses` (IPPool of whereabouts). */
  readonly makesRoom?: boolean;
  /** May any object of it have an address that is to be free, or ask for it? Then the server is asked for all of them first. */
  readonly mayHaveAny?: boolean;
  /** Does its status only tell what the controller, or others, say of it? That is no reason to decide anew. */
  readonly ignoresStatus?: boolean;
}

/** Whom a change of an object concerns. */
export interface Concern {
  /** The owners whose addresses, or whose objects, may change by it, first the one that it was made for; `all` for what defines pools. */
  readonly owners: readonly string[] | "all";
  /** Does it only show what an owner has? Then it matters to owners that are to lose something; its end, to all of them. */
  readonly isEvidence?: boolean;
  /** The objects, by their keys, that it tells something about: whose status may change by it. */
  readonly sources: readonly string[];
}
