import { IpamError, type Issue } from "../errors.ts";
import type { Pending } from "./changes.ts";
import type { Plan } from "./plan.ts";
import { policiesOf } from "./rename-remedy.ts";

/** Throws what stands against committing a plan: all or nothing. */
export function refusePending(made: Plan): void {
  const worst = ["exhausted", "in-use", "out-of-range"] as const;
  const code = worst.find((c) => made.pending.some((pending) => pending.code === c));
  if (code === undefined) return;
  throw new IpamError(
    code,
    groupPending(made.pending, policiesToRename).map(({ first, more }): Issue => {
      const { claim, pool, code: kind, message, ...rest } = first;
      return { message: kind === "exhausted" ? message : `${claim} in pool ${pool}: ${message}${more}`, ...rest };
    }),
  );
}

/** One group for each thing to do, with words for its size: a renamed policy stands for all its nodes. */
export function groupPending(
  pending: readonly Pending[],
  keyOf: (pending: Pending) => string = claimsToRename,
): { readonly first: Pending; readonly more: string }[] {
  return [...Map.groupBy(pending, keyOf).values()].map((group) => ({
    first: { ...(group[0] as Pending), ...remedyFor(group) },
    more: group.length === 1 ? "" : ` (and ${group.length - 1} more like it)`,
  }));
}

/** What is done at once where claims are renamed one name at a time. */
function claimsToRename({ code, pool, hint, message, remedy }: Pending): string {
  const what = remedy?.[0] === "rename" && typeof remedy[3] !== "string" ? remedy.slice(0, 3) : remedy;
  return `${code} ${pool} ${hint ?? message} ${what}`;
}

/** The same where a whole policy can be renamed, with all its captures, in all pools. */
function policiesToRename(one: Pending): string {
  const [what, from = "", to = "", reach] = one.remedy ?? [];
  return what === "rename" && reach === "policy" ? `policy ${policiesOf(`${from}`, `${to}`)}` : claimsToRename(one);
}

const fewOwners = 20;

/** One remedy for all. Renames of some owners' claims: so many that a line can hold them; the next plan names the others. */
function remedyFor([first, ...others]: readonly Pending[]): Pick<Pending, "remedy"> {
  const remedy = first?.remedy;
  if (remedy === undefined) return {};
  const [what, from, to, reach, ...set] = remedy;
  if (what !== "rename" || typeof reach === "string") return { remedy };
  const owners = others.flatMap(({ remedy }) => (remedy?.[0] === "rename" ? remedy[3] : []));
  return { remedy: [what, from, to, [...reach, ...owners].slice(0, fewOwners), ...set] };
}
