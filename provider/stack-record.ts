import type { Snapshot, TakeOver } from "../core/index.ts";
import { isSameRecord, type RecordAt } from "./recorded.ts";
import { sameValue } from "./same-value.ts";
import {
  only,
  onlyState,
  type Previous,
  present,
  recordOf,
  type SetInputs,
  type SetState,
  statesOf,
} from "./set-state.ts";

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

/**
 * What a set takes over in its record, outside of the stack: the pools that another claim set of the stack had last there,
 * or the set itself under another `set`.
 */
export function takesOf(previous: Previous, { pools, set }: SetInputs, there: RecordAt): TakeOver[] {
  if (there.state.backend === "stack") return [];
  return Object.keys(pools).flatMap((pool) => {
    const holder = holderOf(pool, statesOf(previous));
    return holder === undefined || holder.set === set || !isSameRecord(holder, there) ? [] : { pool, set: holder.set };
  });
}

/** A pool that the stack's sets speak of, and the set that is right about it. */
interface Holding {
  readonly pool: string;
  readonly holder: SetState;
}

function holdings(previous: Previous): Holding[] {
  const states = statesOf(previous);
  const names = new Set(states.flatMap(({ addresses, releasing = {} }) => [addresses, releasing].flatMap(Object.keys)));
  return [...names].flatMap((pool) => {
    const holder = holderOf(pool, states);
    return holder === undefined ? [] : { pool, holder };
  });
}

/**
 * The turns of pools that were in another set before. A set that gives up such a pool keeps its turn; with a record outside
 * of the stack it keeps one of every pool: nothing else there tells whose these lines were.
 */
export function turnsOf(previous: Previous, { pools, state }: SetInputs): Pick<SetState, "turn"> {
  const { own } = previous;
  const states = statesOf(previous);
  const had = state.backend === "stack" ? {} : own?.addresses;
  const names = new Set([pools, own?.turn ?? {}, had ?? {}].flatMap(Object.keys));
  const turns = [...names].map((pool) => {
    const holder = holderOf(pool, states);
    const isGone = !Object.hasOwn(pools, pool);
    if (holder === undefined || holder === own) return [pool, own?.turn?.[pool] ?? (isGone ? 0 : undefined)];
    return [pool, isGone ? undefined : turnOf(holder, pool) + 1];
  });
  const turn = present(Object.fromEntries(turns)) as Record<string, number>;
  return Object.keys(turn).length === 0 ? {} : { turn };
}

/** Who took the pool over last, of those who speak of it. */
export function holderOf(pool: string, states: readonly SetState[]): SetState | undefined {
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

/**
 * A set as it is to be; as it was, where all that changes are turns of pools that another one took over since. Nobody reads
 * those: they go with the next change, not in an update of their own after the one in which the pool went.
 */
export function unlessOutdated(made: SetState, previous: Previous): SetState {
  const { own } = previous;
  if (own === undefined) return made;
  const { turn: _, ...now } = onlyState(own);
  const { turn = {}, ...next } = onlyState(made);
  const isSame = Object.entries(turn).every(([pool, count]) => own.turn?.[pool] === count);
  return isSame && sameValue(now, next) ? onlyState(own) : made;
}

/** The part of a state that is about one pool. */
function part({ pool, holder }: Holding): SetState {
  const here = (name: string) => name === pool;
  const { addresses, releasing = {}, pools } = holder;
  return { ...holder, addresses: only(addresses, here), releasing: only(releasing, here), pools: only(pools, here) };
}
