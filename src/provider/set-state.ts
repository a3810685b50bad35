import {
  type Address,
  type Allocation,
  address,
  byAddress,
  byCodeUnit,
  formatAddress,
  type Pool,
  type PoolRecord,
  type PoolSpec,
  parsePool,
  type Snapshot,
  unwrap,
} from "../core/index.ts";
import { snapshotOf } from "../state/codec.ts";

/** Addresses by pool name and claim key. Maps, because an engine shows a list that grew as a list that moved. */
export type Addresses = { readonly [pool: string]: { readonly [claim: string]: string } };

/** Where the record is. No credentials: it stays in the stack's state. */
export type StateArgs =
  /** In the stack itself: this stack alone has the pools. */
  | { readonly backend: "stack" }
  /** In a lockfile, which a program only ever reads. */
  | { readonly backend: "lockfile"; readonly path: string };

/** A claim as the provider gets it. An unknown address is the engine's sentinel. */
export interface ClaimInput {
  /** Claim key. */
  readonly key: string;
  readonly pool: string;
  readonly address?: string;
  readonly interface?: string;
  readonly uid?: string;
}

/** What a set asks for; the program's side of `check`. */
export interface SetInputs {
  readonly pools: { readonly [name: string]: PoolSpec };
  readonly claims: readonly ClaimInput[];
  readonly state: StateArgs;
  readonly set: string;
  readonly allowMove: boolean;
  /** Claim keys, owners or addresses that may be freed. */
  readonly release: readonly string[];
  /** What the stack held when its last update ended; of no use with other backends. */
  readonly previous: {
    readonly own?: SetState;
    /** Of the stack's other sets: this one under an earlier name, or one that a pool came over from. */
    readonly others: readonly SetState[];
  };
}

/** What a stack's state keeps of a set: `check` returns it, and every other call gets it. Only maps, and nothing that moves by itself. */
export interface SetState {
  readonly addresses: Addresses;
  /** Given up, and not known to be off their nodes. */
  readonly releasing?: Addresses;
  /** The pools as configured, and those that only have releasing addresses as they last were. */
  readonly pools: { readonly [name: string]: PoolSpec };
  readonly state: StateArgs;
  readonly set: string;
}

/** The pools of a set. Throws IpamError `invalid` with everything that is wrong with them. */
export function poolsOf(specs: SetInputs["pools"]): Pool[] {
  return Object.entries(specs).map(([name, spec]) => unwrap(parsePool(name, spec)));
}

/** What a stack holds of some pools, as a record. */
export function recordOf(states: readonly SetState[], set: string): Snapshot {
  const lines = (pick: (state: SetState) => Addresses | undefined) =>
    states.flatMap((state) => linesOf(pick(state) ?? {}, set)).sort(byAddress);
  const allocations = lines((state) => state.addresses);
  const live = new Set(allocations.map((line) => `${line.pool} ${line.address}`));
  // The set that a pool came over from goes on to say that it gave its addresses up.
  const releasing = lines((state) => state.releasing).filter((line) => !live.has(`${line.pool} ${line.address}`));
  const held = new Set([...allocations, ...releasing].map(({ pool }) => pool));
  const pools = new Map(
    states
      .flatMap((state) => poolsOf(Object.fromEntries(Object.entries(state.pools).filter(([name]) => held.has(name)))))
      .map(({ name, prefix, network }): [string, PoolRecord] => [name, { name, prefix, network }]),
  );
  const sorted = [...pools.values()].sort((a, b) => byCodeUnit(a.name, b.name));
  return snapshotOf({ pools: sorted, allocations, releasing });
}

function linesOf(addresses: Addresses, set: string): Allocation[] {
  return Object.entries(addresses).flatMap(([pool, claims]) =>
    Object.entries(claims).map(([claim, text]) => ({ address: address(text), pool, claim, set })),
  );
}

/** The addresses of some lines, as a state keeps them. */
export function addressesOf(lines: readonly { address: Address; pool: string; claim: string }[]): Addresses {
  const sorted = Map.groupBy(
    [...lines].sort((a, b) => byCodeUnit(`${a.pool} ${a.claim}`, `${b.pool} ${b.claim}`)),
    ({ pool }) => pool,
  );
  const entries = [...sorted].map(([pool, held]) => [
    pool,
    Object.fromEntries(held.map((line) => [line.claim, formatAddress(line.address)])),
  ]);
  return Object.fromEntries(entries);
}

/** The part of a state that is about some pools. */
export function onlyPools(state: SetState, names: ReadonlySet<string>): SetState {
  const only = <T>(map: { readonly [pool: string]: T }) =>
    Object.fromEntries(Object.entries(map).filter(([name]) => names.has(name)));
  const { addresses, releasing = {}, pools, ...rest } = state;
  return { ...rest, addresses: only(addresses), releasing: only(releasing), pools: only(pools) };
}
