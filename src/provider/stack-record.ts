import type { Snapshot } from "../core/index.ts";
import { only, type Previous, present, recordOf, type SetState } from "./set-state.ts";

/*
 * A pool can go from one set of a stack to another one, and the update in which it does may end in the middle: then
 * several sets speak of it. The one that took it over last is right, also when it has given it up since and nobody took
 * it after that. `turn` counts that.
 */

/** The claim set of what other sets of the stack hold, in this one's record: occupied space. */
const another = "another of the stack";

/**
 * What all sets of the stack hold. Lines of this set's pools, and what is still to be released of pools that it had, are
 * its own.
 */
export function stackRecord(previous: Previous, pools: object, set: string): Snapshot {
  const isOurs = ({ pool, holder }: Holding) => pool in pools || holder === previous.own;
  return recordOf(holdings(previous).map((one) => ({ ...part(one), set: isOurs(one) ? set : another })));
}

/** What the sets hold whose record is in the stack. */
export function linesOfStack(previous: Previous): Snapshot {
  return recordOf(holdings(previous).flatMap((one) => (one.holder.state.backend === "stack" ? part(one) : [])));
}

/** A pool that the stack's sets speak of, and the set that is right about it. */
interface Holding {
  readonly pool: string;
  readonly holder: SetState;
}

function holdings({ own, others }: Previous): Holding[] {
  const states = own === undefined ? others : [own, ...others];
  const names = new Set(states.flatMap(({ addresses, releasing = {} }) => [addresses, releasing].flatMap(Object.keys)));
  return [...names].flatMap((pool) => {
    const holder = holderOf(pool, states);
    return holder === undefined ? [] : { pool, holder };
  });
}

/** The turns of pools that were in another set before. A set that gives up such a pool keeps its turn. */
export function turnsOf({ own, others }: Previous, pools: object): Pick<SetState, "turn"> {
  const states = own === undefined ? others : [own, ...others];
  const turns = [...new Set([...Object.keys(pools), ...Object.keys(own?.turn ?? {})])].map((pool) => {
    const holder = holderOf(pool, states);
    if (holder === undefined || holder === own) return [pool, own?.turn?.[pool]];
    return [pool, pool in pools ? turnOf(holder, pool) + 1 : undefined];
  });
  const turn = present(Object.fromEntries(turns)) as Record<string, number>;
  return Object.keys(turn).length === 0 ? {} : { turn };
}

/** Who took the pool over last, of those who speak of it. */
function holderOf(pool: string, states: readonly SetState[]): SetState | undefined {
  return states
    .filter(({ addresses, releasing = {}, turn = {} }) => [addresses, releasing, turn].some((map) => pool in map))
    .reduce<SetState | undefined>(
      (best, state) => (best === undefined || turnOf(state, pool) > turnOf(best, pool) ? state : best),
      undefined,
    );
}

function turnOf({ turn }: SetState, pool: string): number {
  return turn?.[pool] ?? 0;
}

/** The part of a state that is about one pool. */
function part({ pool, holder }: Holding): SetState {
  const here = (name: string) => name === pool;
  const { addresses, releasing = {}, pools } = holder;
  return { ...holder, addresses: only(addresses, here), releasing: only(releasing, here), pools: only(pools, here) };
}
