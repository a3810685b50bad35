import type { Issue } from "../../core/index.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";

/** An object that cannot be read, and everything that is wrong with it, each with its place. */
export interface UnreadObject {
  readonly source: SourceObject;
  readonly issues: readonly Issue[];
}

/**
 * An object that cannot be served. All others are planned and rendered; this one passes as it is.
 *
 *  it asks one of our pools | addresses of it are on record | its owner
 *  -------------------------+-------------------------------+-------------------------------------------
 *  yes                      | any                           | is told, and the command fails
 *  no                       | yes                           | the same
 *  no                       | no                            | is not told: the object is for other programs
 *
 * Its addresses are never released because of that.
 */
export interface Unserved {
  readonly issues: readonly Issue[];
  readonly asks: boolean;
  /** Returns whether a claim on record, by its key, may be one of the object's. */
  mayHave(claim: string): boolean;
}
