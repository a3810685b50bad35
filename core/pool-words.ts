/** What the object that defines a pool calls its parts, where that is no NodeIPPool. */
export interface PoolWords {
  /** What makes it larger. */
  readonly grows: string;
  /** The fields that say which addresses it gives. */
  readonly fields: string;
  /** What keeps an address from being given to anybody. */
  readonly without: string;
  /** What gives an owner another address. */
  readonly renumber: string;
  /** What another pool is here. */
  readonly another: string;
}

interface Worded {
  readonly words?: PoolWords;
}

/** The fields that say which addresses a pool gives. */
export function fieldsOf({ words }: Worded): string {
  return words?.fields ?? "range, additionalRanges, exclude, gateway, DNS servers or reservations";
}

/** What to do first where an owner has an address that a pool does not give: `renumber the node`. */
export function howToRenumber({ words }: Worded): string {
  return words?.renumber ?? "renumber the node";
}

/** What to add for addresses that a pool cannot have: `a second pool`. */
export function anotherPool({ words }: Worded): string {
  return words?.another ?? "a second pool";
}

/** What to do about an address that a pool is to give to nobody: `exclude or reserve it`. */
export function howToKeep({ words }: Worded): string {
  return words?.without ?? "exclude or reserve it";
}
