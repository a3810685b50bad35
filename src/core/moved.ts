import { byCodeUnit, IpamError, type Issue } from "./errors.ts";

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
 * Gives what a claim is called, and all that it was called before: the nearest name first. A name that is claimed itself
 * is behind no other one.
 * Throws IpamError `invalid` for a rename of what is still claimed, and where two names become one, or one becomes two.
 */
export function formerNames(
  moved: readonly Moved[],
  claimed: ReadonlySet<string>,
): (claim: string) => readonly string[] {
  const renames = Map.groupBy(
    moved.filter(({ from, to }) => from !== to),
    ({ to }) => to,
  );
  const sources = (name: string) => (renames.get(name) ?? []).filter(({ from }) => !claimed.has(from));
  const names = (claim: string) => follow(claim, (name) => sources(name).map(({ from }) => from));
  const declared = [...claimed].flatMap((claim) => (renames.has(claim) ? names(claim).flatMap(sources) : []));
  const stale = moved.filter(({ from, to }) => from !== to && claimed.has(from) && claimed.has(to));
  const issues = [
    ...stale.map(({ from, to }): Issue => {
      const hint = "If that rename is done, take it out.";
      return { message: `${from} moved to ${to}, but is still claimed`, hint };
    }),
    ...[...twice(declared, "from"), ...twice(declared, "to")].map(
      ([one, other]): Issue => ({
        message: `${other.from} moved to ${other.to}, but ${one.from} moved to ${one.to}`,
      }),
    ),
  ];
  if (issues.length === 0) return names;
  throw new IpamError(
    "invalid",
    issues.sort((a, b) => byCodeUnit(a.message, b.message)),
  );
}

/** Renames of which two have the same name on one side, and not on the other. */
function twice(moved: readonly Moved[], side: keyof Moved): [Moved, Moved][] {
  const firsts = new Map<string, Moved>();
  return moved.flatMap((one): [Moved, Moved][] => {
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
