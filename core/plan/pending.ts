import { IpamError, type Issue } from "../errors.ts";
import type { Pending } from "./changes.ts";
import type { Plan } from "./plan.ts";

/** Throws what stands against committing a plan: all or nothing. `placeOf` tells where a claim is written. */
export function refusePending(
  proposed: Plan,
  placeOf: (pending: Pending) => Pick<Issue, "path" | "at"> = () => ({}),
): void {
  const worst = ["exhausted", "in-use", "out-of-range", "invalid"] as const;
  const code = worst.find((c) => proposed.pending.some((pending) => pending.code === c));
  if (code === undefined) return;
  throw new IpamError(
    code,
    groupPending(proposed.pending).map(({ first, more }): Issue => {
      const { claim, pool, code: kind, message, ...rest } = first;
      const said = kind === "exhausted" ? message : `${claim} in pool ${pool}: ${message}${more}`;
      return { message: said, ...rest, ...placeOf(first) };
    }),
  );
}

/** One group for each thing to do, with words for its size. */
function groupPending(pending: readonly Pending[]): { readonly first: Pending; readonly more: string }[] {
  return [...Map.groupBy(pending, thingToDo).values()].map((group) => ({
    first: group[0] as Pending,
    more: group.length === 1 ? "" : ` (and ${group.length - 1} more like it)`,
  }));
}

/** The same for all owners of a claim that is renamed. */
function thingToDo({ code, pool, hint, message, remedy }: Pending): string {
  return `${code} ${pool} ${hint ?? message} ${remedy?.slice(0, 3)}`;
}
