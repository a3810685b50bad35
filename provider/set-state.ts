import {
  type Allocation,
  byAddress,
  byCodeUnit,
  formatBlock,
  type MaybeBlock,
  type Moved,
  type PoolRecord,
  type PoolSpec,
  parseAddress,
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
  /** The owner, where the key has an id in its place. */
  readonly owner?: string;
  readonly address?: string;
  readonly interface?: string;
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
  /** The list of claims, or an address that one asks for, is a secret: no text may repeat what claims say. */
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
  /** The stack's other sets; this one may be among them under an earlier name. */
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
   * No longer claimed, and not known to be off their nodes; of a claim with several, all of them: `10.0.0.1, 10.0.0.3`.
   * States of earlier versions have none where nothing is.
   */
  readonly releasing?: Addresses;
  /** Where pools of order Next allocated last, of a set whose record is in the stack. */
  readonly last?: { readonly [pool: string]: string };
  /** Owners of claims that have an id, by claim key. */
  readonly owners?: { readonly [claim: string]: string };
  /** The pools as configured, and those that only have releasing addresses as they last were. */
  readonly pools: { readonly [name: string]: PoolSpec };
  readonly state: StateArgs;
  readonly set: string;
  /** Which record has these addresses, where it can be told. */
  readonly record?: string;
  /** Something in `addresses` or `releasing` came from a secret, now or before. */
  readonly secret?: true;
}

/** The fields of a state, without those that only the engine, the program or an earlier version has an interest in. */
export function onlyState(held: SetState & { readonly secretAddresses?: Addresses }): SetState {
  const { addresses, releasing = {}, last, owners, pools, state, set, record } = held;
  const hadSecrets = entriesOf(held.secretAddresses ?? {}).length > 0; // of version 0.1.0
  const secret = held.secret ?? (hadSecrets ? true : undefined);
  return { addresses, releasing, ...present({ last, owners }), pools, state, set, ...present({ record, secret }) };
}

/** The same without which record it is in. */
export function withoutRecord({ record: _, ...state }: SetState): SetState {
  return state;
}

/**
 * Who this set was: as the engine has it, or as the stack has it where the engine forgets it (a set that is replaced,
 * tainted or renamed). Under an alias it is the one with the old inputs; without one, the one whose pools it has, all of
 * them.
 */
export function previousOf(olds: Partial<SetState>, { previous, pools, state, set }: SetInputs): Previous {
  const known = olds.addresses === undefined ? undefined : onlyState(olds as SetState);
  const isKnown = (one: SetState) =>
    known !== undefined && sameValue(known.record === undefined ? withoutRecord(one) : one, known);
  const isRenamed = (one: SetState) => {
    const used = [one.addresses, one.releasing ?? {}].flatMap(entriesOf).map(({ pool }) => pool);
    const names = used.length > 0 ? used : Object.keys(one.addresses);
    const isSameSet = sameValue(one.state, state) && (state.backend === "stack" || one.set === set);
    return known === undefined && isSameSet && names.length > 0 && names.every((pool) => pool in pools);
  };
  const found = previous.own ?? previous.others.find(isKnown) ?? previous.others.find(isRenamed);
  const others = previous.others.filter((one) => one !== found);
  // The engine does not know of a record that began when the set was created; the stack does.
  const record = known?.record ?? (known && !sameValue(known.state, found?.state) ? undefined : found?.record);
  const own = known ?? found;
  const secret = own?.secret ?? found?.secret;
  return own === undefined ? { others } : { own: { ...own, ...present({ record, secret }) }, others };
}

/** The fields that have a value. The engine refuses `undefined` anywhere. */
export function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/**
 * What states say of their pools, as a record. Of two that speak of one address, the earlier one decides. What `others`
 * have is occupied: it is releasing here, so that no claim finds it as its own.
 */
export function recordOf(states: readonly SetState[], others: readonly SetState[] = []): Snapshot {
  const places = new Set<string>();
  const fresh = (lines: Allocation[]) =>
    lines.filter((line) => {
      const isNew = !places.has(placeOf(line));
      places.add(placeOf(line));
      return isNew;
    });
  const live = (some: readonly SetState[]) => fresh(some.flatMap(({ addresses, set }) => linesOf(addresses, set)));
  const gone = (some: readonly SetState[]) => fresh(some.flatMap(({ releasing = {}, set }) => linesOf(releasing, set)));
  const allocations = live(states).sort(byAddress);
  const releasing = [...gone(states), ...live(others), ...gone(others)].sort(byAddress);
  const held = new Set([...allocations, ...releasing].map(({ pool }) => pool));
  return snapshotOf({ pools: recordsOf([...states, ...others], held), allocations, releasing });
}

function recordsOf(states: readonly SetState[], held: ReadonlySet<string>): PoolRecord[] {
  const specs = new Map(states.toReversed().flatMap((state) => Object.entries(state.pools)));
  const lastOf = new Map(states.toReversed().flatMap(({ last = {} }) => Object.entries(last)));
  return (
    [...specs]
      .filter(([name]) => held.has(name))
      // No more than a record needs: the rest of an old spec may be what is refused today.
      .map(([name, { range, network = "default" }]): PoolRecord => {
        const last = lastOf.get(name);
        const record = { name, prefix: unwrap(parsePrefix(range.cidr)), network };
        return last === undefined ? record : { ...record, last: unwrap(parseAddress(last)) };
      })
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

/** A value as text: the same for the same value, whatever the order of its fields. */
export function textOf(value: unknown): string {
  return JSON.stringify(sorted(value));
}

/** Returns whether two values are equal, whatever the order of their fields. */
export function sameValue(a: unknown, b: unknown): boolean {
  return textOf(a) === textOf(b);
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
