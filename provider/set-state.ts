import {
  type Allocation,
  byAddress,
  byCodeUnit,
  formatBlock,
  type MaybeBlock,
  type Moved,
  type PoolRecord,
  type PoolSpec,
  parseBlock,
  parsePrefix,
  placeOf,
  type Snapshot,
  unwrap,
} from "../core/index.ts";
import { snapshotOf } from "../state/codec.ts";

/** The engine's word for a value that preview does not know yet (`rpc.unknownValue` in @pulumi/pulumi). */
export const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Addresses by pool name and claim key. Maps, because an engine shows a list that grew as a list that moved. */
export type Addresses = { readonly [pool: string]: { readonly [claim: string]: string } };

/** Where the record is. No credentials: it stays in the stack's state. */
export type StateArgs =
  /** In the stack itself: this stack alone has the pools. */
  | { readonly backend: "stack" }
  /** In a lockfile, which a program only ever reads. The path is relative to the program's folder. */
  | { readonly backend: "lockfile"; readonly path: string }
  /**
   * In ConfigMaps of a namespace, for several stacks and tools; `up` commits. The kubeconfig is the one that kubectl
   * finds; default are its current context and the namespace of that.
   */
  | { readonly backend: "kubernetes"; readonly context?: string; readonly namespace?: string };

/** A claim as the provider gets it. What is unknown is the engine's sentinel. */
export interface ClaimInput {
  /** Claim key. */
  readonly key: string;
  readonly pool: string;
  /** Who it is for, where an id stands for that in the key. */
  readonly owner?: string;
  readonly address?: string;
  /** The address is a secret. */
  readonly secretAddress?: boolean;
  readonly interface?: string;
  readonly uid?: string;
}

/** What a set asks for; the program's side of `check`. */
export interface SetInputs {
  readonly pools: { readonly [name: string]: PoolSpec };
  /** The sentinel, where the whole list is unknown. */
  readonly claims: readonly ClaimInput[] | typeof unknown;
  readonly state: StateArgs;
  readonly set: string;
  readonly allowMove: boolean;
  readonly confirmRelease: boolean;
  readonly moved: readonly Moved[];
  /** Claim keys, owners or addresses that may be freed. */
  readonly release: readonly string[];
  /** Names of claims are secrets: no text may repeat them. */
  readonly secret: boolean;
  /** The list of claims is an output: preview may not know it. */
  readonly isLate: boolean;
  readonly previous: Previous;
}

/**
 * The same on its way from the program. What is plain goes as one text, because each value of a list of thousands costs
 * the SDK and the engine their work.
 */
export type SentInputs = { readonly [Field in keyof SetInputs]: SetInputs[Field] | Sent<Field> };
type Sent<Field> = Field extends "claims" | "previous" ? string : never;

export function received({ claims, previous, ...rest }: SentInputs): SetInputs {
  return { ...rest, claims: parsed(claims), previous: parsed(previous) };
}

function parsed<T>(value: T | string): T {
  return typeof value === "string" && value !== unknown ? JSON.parse(value) : (value as T);
}

/** What the stack's state had of its sets when its last update ended, wherever their records are. */
export interface Previous {
  readonly own?: SetState;
  /** Of the stack's other sets: this one under an earlier name, or one that a pool came over from. */
  readonly others: readonly SetState[];
}

/** All of them, this one first. */
export function statesOf({ own, others }: Previous): readonly SetState[] {
  return own === undefined ? others : [own, ...others];
}

/** What a stack's state keeps of a set: `check` returns it, and every other call gets it. Only maps, and nothing that moves by itself. */
export interface SetState {
  /** An entry for each pool that the set has, even an empty one. */
  readonly addresses: Addresses;
  /**
   * Given up, and not known to be off their nodes; of a claim that gave up several, all of them: `10.0.0.1, 10.0.0.3`.
   * States of earlier versions have none where nothing is.
   */
  readonly releasing?: Addresses;
  /** Owners of claims that have an id, by claim key. */
  readonly owners?: { readonly [claim: string]: string };
  /** The pools as configured, and those that only have releasing addresses as they last were. */
  readonly pools: { readonly [name: string]: PoolSpec };
  readonly state: StateArgs;
  readonly set: string;
  /** Which record has these addresses, where it can be told. */
  readonly record?: string;
  /** How many times a pool came over from another set, where it did. */
  readonly turn?: { readonly [pool: string]: number };
  /** A name in `addresses`, `releasing` or `owners` came from a secret. */
  readonly secret?: true;
  /** What of `addresses` and `releasing` came from a secret, until its claim asks for it in plain text. */
  readonly secretAddresses?: Addresses;
}

/** The fields of a state, without those that only the engine or the program has an interest in. */
export function onlyState({
  addresses,
  releasing = {},
  owners,
  pools,
  state,
  set,
  record,
  turn,
  secret,
  secretAddresses,
}: SetState): SetState {
  const rest = present({ record, turn, secret, secretAddresses });
  return { addresses, releasing, ...present({ owners }), pools, state, set, ...rest };
}

/** The fields that have a value. The engine refuses `undefined` anywhere. */
export function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** What states say of some pools, as a record. Of two that speak of one address, the earlier one decides. */
export function recordOf(states: readonly SetState[]): Snapshot {
  const live = new Map<string, Allocation>();
  const releasing = new Map<string, Allocation>();
  const add = (to: Map<string, Allocation>, set: string, addresses: Addresses = {}) => {
    for (const line of linesOf(addresses, set)) if (!to.has(placeOf(line))) to.set(placeOf(line), line);
  };
  for (const { set, addresses } of states) add(live, set, addresses);
  for (const state of states) add(releasing, state.set, state.releasing);
  const lines = [live, releasing].map((map) => [...map.values()].sort(byAddress)) as [Allocation[], Allocation[]];
  const held = new Set(lines.flat().map(({ pool }) => pool));
  return snapshotOf({ pools: recordsOf(states, held), allocations: lines[0], releasing: lines[1] });
}

function recordsOf(states: readonly SetState[], held: ReadonlySet<string>): PoolRecord[] {
  const specs = new Map(states.toReversed().flatMap((state) => Object.entries(state.pools)));
  return (
    [...specs]
      .filter(([name]) => held.has(name))
      // No more than a record needs: the rest of an old spec may be what is refused today.
      .map(([name, { range, network = "default" }]) => ({ name, prefix: unwrap(parsePrefix(range.cidr)), network }))
      .sort((a, b) => byCodeUnit(a.name, b.name))
  );
}

function linesOf(addresses: Addresses, set: string): Allocation[] {
  return entriesOf(addresses).map((one) => ({ ...one, ...unwrap(parseBlock(one.address)), set }));
}

/** An address that a state has. */
export interface Entry {
  readonly pool: string;
  readonly claim: string;
  readonly address: string;
}

const between = ", ";

/** One by one: a claim has several only where they are releasing. */
export function entriesOf(addresses: Addresses): Entry[] {
  return Object.entries(addresses).flatMap(([pool, claims]) =>
    Object.entries(claims).flatMap(([claim, text]) =>
      text.split(between).map((one) => ({ address: one, pool, claim })),
    ),
  );
}

/** The addresses of some lines, as a state keeps them; with an entry for each of `pools`. */
export function addressesOf(
  lines: readonly (MaybeBlock & { pool: string; claim: string })[],
  pools: readonly string[] = [],
): Addresses {
  const held = Map.groupBy(
    lines.toSorted((a, b) => byCodeUnit(a.claim, b.claim)),
    ({ pool }) => pool,
  );
  const names = [...new Set([...pools, ...held.keys()])].sort(byCodeUnit);
  return Object.fromEntries(
    names.map((pool) => [
      pool,
      Object.fromEntries([...Map.groupBy(held.get(pool) ?? [], ({ claim }) => claim)].map(addressesOfClaim)),
    ]),
  );
}

function addressesOfClaim([claim, lines]: [string, MaybeBlock[]]): [string, string] {
  const sorted = lines.toSorted((a, b) => (a.address < b.address ? -1 : 1));
  return [claim, sorted.map(formatBlock).join(between)];
}

/** The part of a map that is about some pools. */
export function only<T>(map: { readonly [pool: string]: T }, names: (pool: string) => boolean): Record<string, T> {
  return Object.fromEntries(Object.entries(map).filter(([name]) => names(name)));
}
