import type { Concern, WatchedKind } from "../../integrations/contract/watched-kind.ts";
import type { Bag } from "../../schema/objects.ts";

/** A kind that is watched. */
export interface CachedKind extends WatchedKind {
  /** Where several watch it, what each of them selects; absent where `where` says it. */
  readonly selections?: readonly NonNullable<WatchedKind["where"]>[];
}

/** The same, whom its objects concern, and what these show. */
export interface WorldKind extends CachedKind {
  /** How its objects show addresses that owners have; absent where they show none. */
  readonly shows?: "grant" | "report";
  concerns(object: Bag): Concern;
}

/** What is watched of a kind: all that any of these selects. */
export function selectionsOf({
  where = {},
  selections = [where],
}: CachedKind): readonly NonNullable<CachedKind["where"]>[] {
  return selections;
}
