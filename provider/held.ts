import {
  type Allocation,
  address,
  type Claim,
  claimKey,
  emptySnapshot,
  formatAddress,
  identityOf,
  isOfOtherSet,
  type Pending,
  type Plan,
  type Pool,
  Renames,
  type Snapshot,
  type TakeOver,
  takenBy,
} from "../core/index.ts";
import { contains } from "../core/range.ts";
import type { Left } from "./forgetting.ts";
import { isSameRecord, type RecordAt } from "./recorded.ts";
import { sameValue } from "./same-value.ts";
import { type Previous, present, type SetInputs, type SetState } from "./set-state.ts";
import { holderOf } from "./stack-record.ts";

/*
 * A record outside of the stack, beside what the stack's state holds of a set: `held`.
 */

/**
 * What the stack has of a set on a shared record. The engine forgets `olds` of a set that is replaced, tainted or renamed:
 * what the stack held before tells, of this set and of those that its pools may have come from.
 */
export function heldOf(
  olds: Partial<SetState>,
  { own, others }: Previous,
  { set }: SetInputs,
  takes: readonly TakeOver[],
  there: RecordAt,
): Partial<SetState> {
  // A refresh in the same run is in `olds` alone.
  const { record: _, ...held }: Partial<SetState> = olds.addresses === undefined ? (own ?? {}) : olds;
  const sets = new Set([set, ...takes.map((one) => one.set)]);
  const alike = others.filter((other) => sets.has(other.set) && isSameRecord(other, there));
  const states = [...(held.addresses === undefined ? [] : [held as SetState]), ...alike];
  const pools = [...new Set(states.flatMap(({ addresses }) => Object.keys(addresses)))];
  const known = [olds as SetState, own, ...alike].filter((one) => one?.state !== undefined && isSameRecord(one, there));
  return {
    ...held,
    addresses: Object.fromEntries(pools.map((pool) => [pool, holderOf(pool, states)?.addresses[pool] ?? {}])),
    ...present({ record: known.find((one) => one?.record !== undefined)?.record }),
  };
}

/**
 * What tells whether a record is the one that this stack used: what the stack has of a set in it or, for a set that is new
 * there, of all sets that were where its settings lead.
 */
export function witnessOf(
  held: Partial<SetState>,
  { others }: Previous,
  { state, identity }: RecordAt,
): Partial<SetState> {
  if (held.record !== undefined) return held;
  const beside = others.filter((other) => other.record !== undefined && sameValue(other.state, state));
  const known = beside.find(({ record }) => record === identity) ?? beside[0];
  const pools = new Set(beside.flatMap(({ addresses }) => Object.keys(addresses)));
  const holders = [...pools].map((pool) => [pool, holderOf(pool, others)] as const);
  const addresses = holders.flatMap(([pool, one]) =>
    one && beside.includes(one) ? [[pool, one.addresses[pool]]] : [],
  );
  return { addresses: Object.fromEntries(addresses), ...present({ record: known?.record }) };
}

/**
 * The claims, where those that the stack, or a record that is left, has an address of want that address, whatever the
 * record says: it may be a new one, or have lost lines. Nobody moves because of that. A lockfile that stays the record is
 * right where it has a line, and so is any record about a claim that may move.
 */
export function asHeld(
  { claims, pools }: { readonly claims: readonly Claim[]; readonly pools: readonly Pool[] },
  { held, left }: { readonly held: Partial<SetState>; readonly left: Left },
  { allocations, releasing }: Snapshot,
  { state, set, allowMove, moved }: SetInputs,
): readonly Claim[] {
  if (held.addresses === undefined && left.record === emptySnapshot) return claims;
  const lines = [...allocations, ...releasing];
  // Of several lines of a claim a live one comes first, then the lowest of its own set that is releasing.
  const own = [...releasing.filter((line) => line.set === set).toReversed(), ...allocations];
  const known = new Map(own.map((line) => [identityOf(line), line]));
  const live = new Set(allocations);
  const keys = Map.groupBy(claims, ({ pool }) => pool);
  const claimed = new Map(
    [...keys].map(([pool, list]) => [pool, new Set(list.map(({ owner, name }) => claimKey(owner, name)))]),
  );
  const renames = new Renames(moved);
  const before = new Map(left.record.allocations.map((line) => [identityOf(line), line.address]));
  const taken = new Set([...lines.map((line) => line.address), ...claims.map(({ wanted }) => wanted)]);
  const mayTake = (pool: string, at: Allocation["address"]) =>
    !taken.has(at) && pools.some(({ name, assignable }) => name === pool && contains(assignable, at));
  return claims.map((claim) => {
    const { pool } = claim;
    const key = claimKey(claim.owner, claim.name);
    const called = renames.before(key, claimed.get(pool) ?? new Set());
    const names = called.map((name) => identityOf({ pool, claim: name }));
    const was = called.find((name) => held.addresses?.[pool]?.[name] !== undefined);
    const text = was === undefined ? undefined : held.addresses?.[pool]?.[was];
    const [away] = names.map((name) => before.get(name)).filter((one) => one !== undefined);
    const wanted = text === undefined ? away : address(text);
    if (wanted === undefined || claim.wanted !== undefined) return claim;
    const there = names.flatMap((name) => known.get(name) ?? []);
    const line = there.find((one) => live.has(one)) ?? there[0];
    if (line?.address === wanted) return claim;
    const isRight = state.backend === "lockfile" && away !== wanted;
    if (line !== undefined && (isRight || allowMove)) return claim;
    return allowMove && !mayTake(pool, wanted) ? claim : { ...claim, wanted };
  });
}

/**
 * Where a set has an address that the record has for the same claim under another claim set, an update has moved it there,
 * and the state does not know of that: it failed, or the state is an older one.
 */
export function withWayBack(
  pending: readonly Pending[],
  { addresses = {} }: Partial<SetState>,
  { allocations }: Snapshot,
  set: string,
  takes: readonly TakeOver[],
): Pending[] {
  if (pending.length === 0) return [];
  const isTaken = takenBy(takes);
  const elsewhere = allocations.filter((line) => isOfOtherSet(line, set) && !isTaken(line));
  const others = new Map(elsewhere.map((line) => [identityOf(line), line]));
  return pending.map((one) => {
    const line = others.get(identityOf(one));
    if (line === undefined || addresses[one.pool]?.[one.claim] !== formatAddress(line.address)) return one;
    const { remedy: _, ...rest } = one;
    return {
      ...rest,
      hint: `An update that did not end has moved it to set ${line.set}. Run the program of that update again, to its end, then this one.`,
    };
  });
}

/**
 * The record, where what the stack has live of pools that are taken over is live: the set that gives them up may have done
 * so before, in the same update. Its owners lose nothing that a plan of both would not let them lose.
 */
export function asTaken(
  recorded: Snapshot,
  { addresses = {} }: Partial<SetState>,
  takes: readonly TakeOver[],
): Snapshot {
  const isTaken = takenBy(takes);
  const live = new Set(recorded.allocations.map(identityOf));
  const isGiven = (line: Allocation) =>
    isTaken(line) && addresses[line.pool]?.[line.claim] === formatAddress(line.address) && !live.has(identityOf(line));
  const [back, releasing] = [recorded.releasing.filter(isGiven), recorded.releasing.filter((line) => !isGiven(line))];
  return back.length === 0 ? recorded : { ...recorded, allocations: [...recorded.allocations, ...back], releasing };
}

/** A plan that gives up nothing on other pools: other programs may have a set of this name there. */
export function ofPools(made: Plan, pools: object): Plan {
  return { ...made, release: made.release.filter(({ allocation }) => allocation.pool in pools) };
}
