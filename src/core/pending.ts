import type { Pending } from "./changes.ts";
import { IpamError, type Issue } from "./errors.ts";
import type { Plan } from "./plan.ts";

/** Throws what stands against committing a plan: all or nothing. */
export function refusePending(made: Plan): void {
  const worst = ["exhausted", "in-use", "out-of-range"] as const;
  const code = worst.find((c) => made.pending.some((pending) => pending.code === c));
  if (code === undefined) return;
  // One issue for each thing to do; a renamed policy stands for all its nodes.
  const byHint = Map.groupBy(made.pending, (p) => `${p.code} ${p.pool} ${p.hint ?? p.message} ${p.remedy}`);
  throw new IpamError(
    code,
    [...byHint.values()].map(([first, ...others]): Issue => {
      const { claim, pool, code: kind, message, ...rest } = first as Pending;
      const more = others.length === 0 || kind === "exhausted" ? "" : ` (and ${others.length} more like it)`;
      return {
        message: kind === "exhausted" ? message : `${claim} in pool ${pool}: ${message}${more}`,
        ...rest,
      };
    }),
  );
}
