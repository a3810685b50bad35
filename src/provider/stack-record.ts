import type { Snapshot } from "../core/index.ts";
import { only, type Previous, present, recordOf, type SetState } from "./set-state.ts";

/*
 * A pool can go from one set of a stack to another one, and the update in which it does may end in the middle: then both
 * sets say that they have it. The one that took it over later is right. `turn` counts that.
 */

/** What the stack's sets hold of the pools of this set, and what is still to be released of pools that it had. */
export function stackRecord({ own, others }: Previous, pools: object, set: string): Snapshot {
  const states = own === undefined ? others : [own, ...others];
  const names = new Set([...Object.keys(pools), ...Object.keys(own?.pools ?? {})]);
  const parts = [...names].flatMap((pool) => {
    const holder = holderOf(pool, states);
    const about = pool in pools ? states : own === undefined ? [] : [own];
    if (holder !== undefined) return about.includes(holder) ? [part(holder, pool)] : [];
    return about.map((state) => part(state, pool));
  });
  return recordOf(parts, set);
}

/** The turns of pools that were in another set before. */
export function turnsOf({ own, others }: Previous, pools: object): Pick<SetState, "turn"> {
  const states = own === undefined ? others : [own, ...others];
  const turns = Object.keys(pools).map((pool): [string, number | undefined] => {
    const holder = holderOf(pool, states);
    if (holder !== undefined && holder === own) return [pool, own.turn?.[pool]];
    const known = states.filter((state) => pool in state.pools);
    return [pool, known.length === 0 ? undefined : Math.max(...known.map((state) => turnOf(state, pool))) + 1];
  });
  const turn = present(Object.fromEntries(turns)) as Record<string, number>;
  return Object.keys(turn).length === 0 ? {} : { turn };
}

function holderOf(pool: string, states: readonly SetState[]): SetState | undefined {
  return states
    .filter(({ addresses }) => pool in addresses)
    .reduce<SetState | undefined>(
      (best, state) => (best === undefined || turnOf(state, pool) > turnOf(best, pool) ? state : best),
      undefined,
    );
}

function turnOf({ turn }: SetState, pool: string): number {
  return turn?.[pool] ?? 0;
}

/** The part of a state that is about one pool. */
function part(state: SetState, pool: string): SetState {
  const here = (name: string) => name === pool;
  const { addresses, releasing = {}, pools } = state;
  return { ...state, addresses: only(addresses, here), releasing: only(releasing, here), pools: only(pools, here) };
}
