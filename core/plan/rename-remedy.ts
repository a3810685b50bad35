import { type Allocation, identityOf, isOfOtherSet, type Snapshot } from "../allocation.ts";
import { type Claim, nameOfKey, ownerOfKey } from "../claim.ts";
import type { Remedy } from "../errors.ts";
import { shellWord } from "../shell-word.ts";
import type { Pending } from "./changes.ts";

/** A rename that would help. */
export type RenameRemedy = Extract<Remedy, readonly ["rename", ...unknown[]]>;

/**
 * Says of each rename that would help how far it reaches. A whole policy, or all claims of a name, may be renamed where
 * nobody asks for the old name any more, all who lose it ask for the same new one, and no line has that already; else the
 * one owner's claim alone.
 */
export function withReach(
  pending: readonly Pending[],
  claims: readonly Claim[],
  { allocations, releasing }: Snapshot,
  set: string,
): readonly Pending[] {
  const renames = pending.flatMap(({ remedy }) => (remedy?.[0] === "rename" ? [remedy] : []));
  if (renames.length === 0) return pending;
  const asked = new Set(claims.flatMap(({ name }) => wordsOf(name)));
  const lost = byWord(renames, ([, from]) => from);
  const own = [...allocations, ...releasing].filter((line) => line.set === set);
  const lines = byWord(own, ({ claim }) => nameOfKey(claim));
  const live = new Set(allocations.map(identityOf));
  const isTaken = ({ pool, claim }: Allocation, name: string) =>
    live.has(identityOf({ pool, claim: `${ownerOfKey(claim)}/${name}` }));
  const isAlone = set === "default" && !allocations.some((line) => isOfOtherSet(line, set));
  const known = new Map<string, boolean>();
  const isSafe = (from: string, to: string) => {
    const rest = (name: string) => `${to}${name.slice(from.length)}`;
    const safe =
      known.get(`${from} ${to}`) ??
      (!asked.has(from) &&
        lost.get(from)?.every(([, old, fresh]) => fresh === rest(old)) === true &&
        !lines.get(from)?.some((line) => isTaken(line, rest(nameOfKey(line.claim)))));
    known.set(`${from} ${to}`, safe);
    return safe;
  };
  return pending.map((one) => {
    if (one.remedy?.[0] !== "rename") return one;
    const [what, from, to, owner] = one.remedy;
    const policies = policiesOf(from, to);
    const reach = policies && isSafe(...policies) ? "policy" : isSafe(from, to) ? "claim" : owner;
    return { ...one, remedy: isAlone ? [what, from, to, reach] : [what, from, to, reach, set] };
  });
}

/** The declarations of a rename, in the words that `planRename` takes: old and new name. */
export function renamesOf([, from, to, reach]: RenameRemedy): (readonly [from: string, to: string])[] {
  if (reach === "policy") return [policiesOf(from, to) ?? [from, to]];
  if (reach === "claim") return [[from, to]];
  return reach.map((owner) => [`${owner}/${from}`, `${owner}/${to}`]);
}

/** The same for a shell, each by this command. */
export function renameCommands(remedy: RenameRemedy, command: string): string {
  const [, from, to, reach] = remedy;
  return typeof reach === "string" || reach.length < 2
    ? renamesOf(remedy)
        .map((names) => [command, ...names.map(shellWord)].join(" "))
        .join("; ")
    : `for o in ${reach.map(shellWord).join(" ")}; do ${command} $o/${shellWord(from)} $o/${shellWord(to)}; done`;
}

/** The policies of two claim names whose captures are the same. */
export function policiesOf(from: string, to: string): readonly [from: string, to: string] | undefined {
  const [end, other] = [from.indexOf("/"), to.indexOf("/")];
  if (end < 0 || other < 0 || from.slice(end) !== to.slice(other)) return undefined;
  return [from.slice(0, end), to.slice(0, other)];
}

/** What names a claim for `planRename`: its name, and each part of it that ends before a `/`. */
function wordsOf(name: string): string[] {
  return [...[...name.matchAll(/\//g)].map(({ index }) => name.slice(0, index)), name];
}

function byWord<T>(list: readonly T[], nameOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of list)
    for (const word of wordsOf(nameOf(item))) {
      const group = groups.get(word);
      if (group === undefined) groups.set(word, [item]);
      else group.push(item);
    }
  return groups;
}
