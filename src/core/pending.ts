import type { Pending } from "./changes.ts";
import { IpamError, type Issue } from "./errors.ts";
import type { Plan } from "./plan.ts";

/** Throws what stands against committing a plan: all or nothing. */
export function refusePending(made: Plan): void {
  const worst = ["exhausted", "in-use", "out-of-range"] as const;
  const code = worst.find((c) => made.pending.some((pending) => pending.code === c));
  if (code === undefined) return;
  throw new IpamError(
    code,
    groupPending(made.pending).map(({ first, more }): Issue => {
      const { claim, pool, code: kind, message, ...rest } = first;
      return { message: kind === "exhausted" ? message : `${claim} in pool ${pool}: ${message}${more}`, ...rest };
    }),
  );
}

/** One group for each thing to do, with words for its size: a renamed policy stands for all its nodes. */
export function groupPending(pending: readonly Pending[]): { readonly first: Pending; readonly more: string }[] {
  const groups = Map.groupBy(pending, (p) => `${p.code} ${p.pool} ${p.hint ?? p.message} ${p.remedy}`);
  return [...groups.values()].map(([first, ...others]) => ({
    first: first as Pending,
    more: others.length === 0 ? "" : ` (and ${others.length} more like it)`,
  }));
}
