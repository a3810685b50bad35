import type { Allocation } from "../allocation.ts";

/**
 * Gives claims lines that may have been theirs, no line twice: first whatever the first rule finds for any claim, in the
 * order of the claims, then the next rule.
 */
export function paired<T>(
  claims: readonly T[],
  linesOf: (claim: T) => readonly Allocation[],
  rules: readonly ((line: Allocation, claim: T) => boolean)[],
): ReadonlyMap<T, Allocation> {
  const found = new Map<T, Allocation>();
  const used = new Set<Allocation>();
  for (const isMatch of rules)
    for (const claim of claims) {
      if (found.has(claim)) continue;
      const line = linesOf(claim).find((one) => !used.has(one) && isMatch(one, claim));
      if (line === undefined) continue;
      used.add(line);
      found.set(claim, line);
    }
  return found;
}
