import type { Allocation } from "../allocation.ts";
import { formatBlock } from "../block.ts";
import { nameOfKey, ownerName } from "../claim.ts";
import type { Plan } from "./plan.ts";

/** What a plan changes, a line each, as people read it: `+` new, `~` rewritten, `-` released, `!` pending. Of one pool, if it is named. */
export function describeChanges(proposed: Plan, pool?: string): string[] {
  const here = (line: { readonly pool: string }) => pool === undefined || line.pool === pool;
  const rewritten = (isLeaving: boolean) =>
    proposed.keep.flatMap(({ allocation, was, releasing = false }) =>
      was !== undefined && releasing === isLeaving && here(allocation)
        ? [`${describeLine(allocation)}  ${releasing ? "releasing, " : ""}${describeRewrite(was, allocation)}`]
        : [],
    );
  return [
    ...proposed.assign.filter(here).map((line) => `+ ${describeLine(line)}`),
    ...rewritten(false).map((text) => `~ ${text}`),
    ...rewritten(true).map((text) => `- ${text}`),
    ...proposed.release
      .filter(({ allocation }) => here(allocation))
      .map(({ allocation, to }) => `- ${describeLine(allocation)}  ${to}`),
    ...proposed.pending
      .filter(here)
      .map(({ claim, message }) => `! ${ownerName(claim)}  ${nameOfKey(claim)}  ${message}`),
  ];
}

/** How many changes an error tells: beyond them, people look at the plan itself. */
const maxNamed = 20;

/** As many lines of what a plan changes as an error can hold, what is new last, and how many more there are. */
export function shortened(changes: readonly string[]): readonly string[] {
  if (changes.length <= maxNamed) return changes;
  const isNew = (change: string) => change.startsWith("+");
  const all = [...changes.filter((change) => !isNew(change)), ...changes.filter(isNew)];
  return [...all.slice(0, maxNamed), `and ${changes.length - maxNamed} more`];
}

/** What is not as it was with a line that keeps its address. One that says the same was releasing. */
export function describeRewrite(was: Allocation, now: Allocation): string {
  if (was.length !== now.length) return `was ${formatBlock(was)}`;
  if (was.claim !== now.claim) return `was ${was.claim}`;
  if (was.interface !== now.interface) return `on ${now.interface ?? "no NIC"}, was on ${was.interface ?? "no NIC"}`;
  if (was.uid !== now.uid) return `uid ${now.uid ?? "none"}, was ${was.uid ?? "none"}`;
  if (was.set !== now.set) return `in set ${now.set}, was in ${was.set}`;
  return "no longer releasing";
}

/** `10.10.10.6  node04  static-ip/address-from-traffic-1` */
export function describeLine(line: Allocation): string {
  return `${formatBlock(line)}  ${ownerName(line.claim)}  ${nameOfKey(line.claim)}`;
}
