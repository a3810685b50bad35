import { byCodeUnit, type Issue } from "../errors.ts";

/** A declared rename, claim key to claim key. */
export interface Moved {
  readonly from: string;
  readonly to: string;
}

/** Declared renames, of which one may go on from where another one ends. What is claimed is so of one pool. */
export class Renames {
  private readonly into: ReadonlyMap<string, readonly Moved[]>;
  private readonly from: ReadonlyMap<string, readonly Moved[]>;

  constructor(moved: readonly Moved[]) {
    const real = moved.filter(({ from, to }) => from !== to).toSorted(byNames);
    this.into = Map.groupBy(real, ({ to }) => to);
    this.from = Map.groupBy(real, ({ from }) => from);
  }

  /** What a claim is called, and all that it is called later. */
  after(name: string): readonly string[] {
    return follow(name, (one) => (this.from.get(one) ?? []).map(({ to }) => to));
  }

  /** What a claim is called, and all that it was called before, the nearest name first: none that is claimed itself. */
  before(name: string, claimed: ReadonlySet<string>): readonly string[] {
    if (!this.into.has(name)) return [name];
    return follow(name, (one) => (this.into.get(one) ?? []).flatMap(({ from }) => (claimed.has(from) ? [] : from)));
  }

  /**
   * What is wrong with those that lead to claims: of a name that is still claimed; two names that become one; one that
   * becomes two. One that was taken back, and goes on elsewhere, is neither.
   */
  issues(claimed: ReadonlySet<string>): Issue[] {
    const heirs = new Map<Moved, string[]>();
    for (const claim of claimed)
      for (const name of this.before(claim, claimed))
        for (const one of this.into.get(name) ?? [])
          if (one.from !== claim) heirs.set(one, [...(heirs.get(one) ?? []), claim]);
    const all = [...heirs.keys()].sort(byNames);
    const declared = all.filter(({ from }) => !claimed.has(from));
    const forward = declared.filter(({ from, to }) => !this.after(to).includes(from));
    const splits = pairsOf(declared, "from", (one, other) => `${heirs.get(one)}` !== `${heirs.get(other)}`);
    const merges = pairsOf(forward, "to", (one, other) => one.from !== other.from);
    return [
      ...all.filter(({ from }) => claimed.has(from)).map(issueOfStale),
      ...[...splits, ...merges].map(([one, other]) => issueOfFork(one, other)),
    ];
  }
}

function issueOfStale({ from, to }: Moved): Issue {
  return { message: `${from} moved to ${to}, but is still claimed`, hint: "If that rename is done, take it out." };
}

function issueOfFork(one: Moved, other: Moved): Issue {
  const message = `${other.from} moved to ${other.to}, but ${one.from} moved to ${one.to}`;
  return { message, hint: "If one of them is done, take it out." };
}

/** Each rename that is unlike the first one with the same name on this side, with that one. */
function pairsOf(
  moved: readonly Moved[],
  side: keyof Moved,
  isUnlike: (one: Moved, other: Moved) => boolean,
): [Moved, Moved][] {
  return [...Map.groupBy(moved, (one) => one[side]).values()].flatMap(([first, ...others]) =>
    others.flatMap((other): [Moved, Moved][] => (first && isUnlike(first, other) ? [[first, other]] : [])),
  );
}

function byNames(a: Moved, b: Moved): number {
  return byCodeUnit(a.from, b.from) || byCodeUnit(a.to, b.to);
}

/** A name, and all that lead on from it. */
function follow(name: string, next: (name: string) => readonly string[]): readonly string[] {
  const names = new Set([name]);
  // A set may grow while it is gone through.
  for (const one of names) for (const other of next(one)) names.add(other);
  return [...names];
}
