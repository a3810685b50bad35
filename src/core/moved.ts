import { byCodeUnit, type Issue } from "./errors.ts";

/** A declared rename, claim key to claim key. */
export interface Moved {
  readonly from: string;
  readonly to: string;
}

/** Gives what a claim is called, and all that it is called later, by renames after renames. */
export function laterNames(moved: readonly Moved[]): (claim: string) => readonly string[] {
  const renames = Map.groupBy(moved, ({ from }) => from);
  return (claim) => follow(claim, (name) => (renames.get(name) ?? []).map(({ to }) => to));
}

/**
 * Gives what a claim of a pool is called, and all that it was called before: the nearest name first. A name that is claimed
 * itself, of that pool, is behind no other one.
 */
export function formerNames(
  moved: readonly Moved[],
  claimed: ReadonlySet<string>,
): (claim: string) => readonly string[] {
  const sources = sourcesOf(moved, claimed);
  return (claim) => follow(claim, (name) => sources(name).map(({ from }) => from));
}

/** What is wrong with renames for the claims of a pool: of what is still claimed; two names that become one, or one that becomes two. */
export function movedIssues(moved: readonly Moved[], claimed: ReadonlySet<string>): Issue[] {
  const done = "If that rename is done, take it out.";
  const stale = moved
    .filter(({ from, to }) => from !== to && claimed.has(from) && claimed.has(to))
    .map(({ from, to }): Issue => ({ message: `${from} moved to ${to}, but is still claimed`, hint: done }));
  const sources = sourcesOf(moved, claimed);
  const names = formerNames(moved, claimed);
  const heirs = new Set(moved.flatMap(({ to }) => (claimed.has(to) ? [to] : [])));
  const declared = [...new Set([...heirs].flatMap((claim) => names(claim).flatMap(sources)))];
  const forks = [...twice(declared, "from"), ...twice(declared, "to")].map(([one, other]): Issue => {
    const message = `${other.from} moved to ${other.to}, but ${one.from} moved to ${one.to}`;
    return { message, hint: "If one of them is done, take it out." };
  });
  return [...stale, ...forks];
}

/** Gives the renames that end at a name. */
function sourcesOf(moved: readonly Moved[], claimed: ReadonlySet<string>): (name: string) => readonly Moved[] {
  const renames = Map.groupBy(
    moved.filter(({ from, to }) => from !== to && !claimed.has(from)),
    ({ to }) => to,
  );
  return (name) => renames.get(name) ?? [];
}

/** Renames of which two have the same name on one side, and not on the other. */
function twice(moved: readonly Moved[], side: keyof Moved): [Moved, Moved][] {
  const ordered = moved.toSorted((a, b) => byCodeUnit(`${a.from} ${a.to}`, `${b.from} ${b.to}`));
  const firsts = new Map<string, Moved>();
  return ordered.flatMap((one): [Moved, Moved][] => {
    const first = firsts.get(one[side]) ?? one;
    firsts.set(one[side], first);
    return first.from === one.from && first.to === one.to ? [] : [[first, one]];
  });
}

/** A name, and all that lead on from it. */
function follow(name: string, next: (name: string) => readonly string[]): readonly string[] {
  const names = new Set([name]);
  // A set may grow while it is gone through.
  for (const one of names) for (const other of next(one)) names.add(other);
  return [...names];
}
