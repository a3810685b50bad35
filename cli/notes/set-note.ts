import {
  type Allocation,
  comersOf,
  formatAddress,
  isOfOtherSet,
  nameOfKey,
  ownerName,
  ownerOfKey,
  type Plan,
  policiesOf,
  type Snapshot,
  toSetRemedy,
} from "../../core/index.ts";
import { command } from "../advice.ts";

/**
 * Asks whether a claim that gets a new address is one that another claim set has releasing, for the same NIC: it came over
 * from there, and got a new name on the way. `before` says what to do first.
 */
export function cameOverNotes(
  { assign, set }: Plan,
  { allocations, releasing }: Snapshot,
  before: () => string,
): string[] {
  const left = Map.groupBy(
    releasing.filter((line) => isOfOtherSet(line, set) && line.interface !== undefined),
    nicOf,
  );
  const pairs = [...Map.groupBy(assign, nicOf)]
    .flatMap(([nic, fresh]) => comersOf(fresh, left.get(nic) ?? []))
    .map(({ was, now }) => ({ was, now, names: namesOf(was, now) }));
  return [...Map.groupBy(pairs, ({ was, names }) => `${was.set} ${names}`).values()].flatMap((group) => {
    const [first, ...others] = group;
    if (first === undefined) return [];
    const { now, was, names } = first;
    const more = others.length === 0 ? "" : ` (and ${others.length} more like it)`;
    const going = group.map((pair) => [pair.was.claim, pair.now.claim] as const);
    const mv = command(toSetRemedy(going, was.set, set, allocations));
    return `Note: ${ownerName(now.claim)} gets ${formatAddress(now.address)} on ${now.interface}, and has ${formatAddress(was.address)} there releasing, of claim set ${was.set}${more}; if ${names[0]} came over as ${names[1]}, ${before()}: ${mv}`;
  });
}

/** Old and new name, of the policies where both have the same capture. */
function namesOf(was: Allocation, now: Allocation): readonly [from: string, to: string] {
  const names = [nameOfKey(was.claim), nameOfKey(now.claim)] as const;
  return policiesOf(...names) ?? names;
}

function nicOf({ claim, interface: nic }: Allocation): string {
  return `${ownerOfKey(claim)} ${nic}`;
}
