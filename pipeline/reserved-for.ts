import { formatAddress, formatOwner, type Issue, nodeOwner, placed } from "../core/index.ts";
import type { Desired } from "./desired.ts";

/**
 * Returns what is wrong with reservations whose owner is misspelt: their address would stay unused, and the owner who is meant
 * would get another one. An owner who is not there yet is none of them:
 *
 *  the reservation is for | beside                      |
 *  ---------------------- | --------------------------- | -------------------------------------------------
 *  an owner who is there  |                             | fine
 *  another owner          | a like one with a claim on  | misspelt
 *                         | the pool and no reservation |
 *  another owner          | nobody of a like name       | fine: reserved for an owner who is to come
 */
export function misspeltReservers({ pools, claims, facts }: Pick<Desired, "pools" | "claims" | "facts">): Issue[] {
  const there = new Set([
    ...claims.map(({ owner }) => formatOwner(owner)),
    ...facts.nodes.map(({ name }) => nodeOwner(name)),
  ]);
  return pools.flatMap((pool): Issue[] => {
    const { all } = pool.reservations;
    const strangers = [...all.entries()].filter(([, { owner }]) => owner !== undefined && !there.has(owner));
    if (strangers.length === 0) return [];
    const reserved = new Set(all.map(({ owner }) => owner));
    const asking = claims.filter((claim) => claim.pool === pool.name).map(({ owner }) => formatOwner(owner));
    const names = new LikeNames(asking.filter((owner) => !reserved.has(owner)));
    return strangers.flatMap(([i, { address, owner = "" }]): Issue[] => {
      const meant = names.like(owner);
      if (meant === undefined) return [];
      return [
        {
          message: `pool ${pool.name} reserves ${formatAddress(address)} for ${owner}, which is not there; did you mean ${meant}?`,
          ...placed(pool.at?.(["reservations", i, "owner"])),
          hint: `Write ${meant}. If ${owner} is to come, leave its owner out until then: nobody gets the address.`,
        },
      ];
    });
  });
}

/** Finds names that differ from another one as a slip of the pen does, and not as the next name of a series does. */
class LikeNames {
  /** By each name without one of its characters, and by the whole. */
  private readonly byPart = new Map<string, Set<string>>();
  constructor(names: Iterable<string>) {
    for (const name of names)
      for (const part of partsOf(name)) this.byPart.set(part, (this.byPart.get(part) ?? new Set()).add(name));
  }

  like(name: string): string | undefined {
    const near = new Set(partsOf(name).flatMap((part) => [...(this.byPart.get(part) ?? [])]));
    return [...near].sort().find((other) => isSlip(name, other));
  }
}

/** What people mistake for each other, alike. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll("o", "0").replaceAll(/[il]/g, "1").replaceAll(/[-_.]/g, "");
}

function partsOf(name: string): string[] {
  const whole = plain(name);
  return [whole, ...Array.from(whole, (_, i) => whole.slice(0, i) + whole.slice(i + 1))];
}

/** `nodeO2`, `mode02` and `ndoe02` are slips of node02; of a series are `node03`, `node021` and, of nodea, `nodeb`. */
function isSlip(name: string, other: string): boolean {
  if (plain(name) === plain(other)) return true;
  const [a, b] = [name.toLowerCase(), other.toLowerCase()];
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  return [a, b].every((text) => isInWord(text, start, text.length - end));
}

/** Reports whether a part of a text is letters in a word of three letters or more, and not its last one. */
function isInWord(text: string, start: number, end: number): boolean {
  const before = /[a-z]*$/.exec(text.slice(0, start))?.[0].length ?? 0;
  const after = /^[a-z]*/.exec(text.slice(end))?.[0].length ?? 0;
  return /^[a-z]{0,2}$/.test(text.slice(start, end)) && after > 0 && before + (end - start) + after >= 3;
}
