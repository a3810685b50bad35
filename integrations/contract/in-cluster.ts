import type { Address, Allocation, Use } from "../../core/index.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import type { Bag } from "../../schema/objects.ts";
import type { Facts } from "./facts.ts";
import { labelsOf } from "./object-metadata.ts";

/** The labels of every object that the controller makes: nothing else is ever changed or deleted as a whole. */
export const managedBy = { "app.kubernetes.io/managed-by": "nodeippool-controller" };

export function isManaged(object: Bag): boolean {
  return labelsOf(object)["app.kubernetes.io/managed-by"] === managedBy["app.kubernetes.io/managed-by"];
}

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
  /** Does it report what an owner really has? `made`: those of its objects do that the controller or a plan made. */
  readonly isReport?: boolean | "made";
  /** Does such a report give its owner what it shows? Others only tell what they observe, or what anybody may have written. */
  readonly isGrant?: boolean;
  /** Do its objects show what owners use, but not of which pool without those that ask for all owners? `claimed` is given all of them. */
  readonly isUsage?: boolean;
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

/** How an object that was made fares; `unreachable`: its owner cannot act on it now, and has not begun to. */
export type RolloutHealth = "available" | "failing" | "progressing" | "unreachable";

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
  /** Annotations that it is to have, or that it is not. */
  readonly annotations?: Readonly<Record<string, string | undefined>>;
  /** A finalizer that it is to have, or that it is not. */
  readonly finalizer?: { readonly name: string; readonly isWanted: boolean };
}

/** What an object has found out about an address of its own: does another host answer for it? */
export interface Detected {
  readonly address: Address;
  /** The claim that it has it for, by its key. */
  readonly claim: string;
  readonly isConflict: boolean;
  /** The MAC address of that host; `unknown` where nobody knows it. */
  readonly mac: string;
}

/** What the controller asks an integration, besides what every surface asks. Pure. */
export interface InCluster {
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
  /** What an object has found out about its addresses. Absent where none does. */
  detected?(object: Bag): readonly Detected[];
  /** May the address of a claim be left out, beside those of others, because another host answers for it? Absent where each may. */
  mayLeaveOut?(claim: string, conflicting: ReadonlySet<string>): boolean;
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
  report(known: Known, facts: Facts): Report;
  /** Have conditions of its kinds `lastHeartbeatTime`? */
  readonly hasHeartbeat?: boolean;
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
