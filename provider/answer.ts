import { type Allocation, formatAddress, identityOf, isNamedInFull, type Plan, type Snapshot } from "../core/index.ts";
import {
  type Addresses,
  addressesOf,
  type ClaimInput,
  entriesOf,
  only,
  type Previous,
  type SetInputs,
  type SetState,
  statesOf,
  unknown,
} from "./set-state.ts";
import { holderOf, turnsOf } from "./stack-record.ts";

/*
 * What `check` answers of a plan: what the set is to hold.
 */

/** A state in preview, of claims that are known in the update: whoever holds something may have to release it then. */
export function unknownState(inputs: SetInputs, { allocations, releasing }: Snapshot): SetState {
  const { pools, state, set, secret, release, previous } = inputs;
  const addresses = unknown as unknown as Addresses;
  const isNamed = (line: Allocation) => release.some((word) => isNamedInFull(line, word));
  const own = [...allocations, ...releasing.filter((line) => !isNamed(line))].filter((line) => line.set === set);
  const isShared = state.backend !== "stack";
  return {
    addresses,
    releasing: isShared || own.length + releasing.length === 0 ? {} : addresses,
    owners: addresses as never,
    secretAddresses: addresses,
    pools: { ...(isShared ? {} : poolsOf(addressesOf(own), previous.own)), ...pools },
    state,
    set,
    ...turnsOf(previous, inputs),
    ...(secret || wasSecret(inputs) ? { secret: true } : {}),
  };
}

/** A set as it is after a plan of its claims. */
export function stateOf(after: Snapshot, inputs: SetInputs, claims: readonly ClaimInput[], made: Plan): SetState {
  const { pools, state, set, secret, isLate, previous } = inputs;
  const mine = new Set(claims.map(({ key, pool }) => identityOf({ pool, claim: key })));
  const held = after.allocations.filter((line) => mine.has(identityOf(line)));
  const named = claims.flatMap(({ key, owner }) => (owner === undefined ? [] : [[key, owner]]));
  const owners = Object.fromEntries(named);
  const isShared = state.backend !== "stack";
  const gone = isShared ? [] : after.releasing.filter((line) => line.set === set);
  const releasing = addressesOf(gone);
  return {
    addresses: withUnknown(addressesOf(held, Object.keys(pools)), claims, made.assign),
    releasing: !isShared && mayGiveUp(claims, made, inputs) ? (unknown as unknown as Addresses) : releasing,
    pools: { ...poolsOf(releasing, previous.own), ...pools },
    state,
    set,
    ...turnsOf(previous, inputs),
    ...((secret && isLate) || (wasSecret(inputs) && (isLate || gone.length > 0)) ? { secret: true } : {}),
    ...filled({ owners, secretAddresses: secretAddresses(held, gone, claims, previous) }, inputs),
  };
}

/** Had this set, or one that had its pools, names that came from a secret? */
function wasSecret({ pools, previous }: SetInputs): boolean {
  const states = statesOf(previous);
  return [previous.own, ...Object.keys(pools).map((pool) => holderOf(pool, states))].some((state) => state?.secret);
}

/** May a claim whose wanted address is unknown give up, or leave, what it has? */
function mayGiveUp(claims: readonly ClaimInput[], { keep }: Plan, { allowMove, previous }: SetInputs): boolean {
  const waiting = new Set(
    claims.flatMap(({ key, pool, address }) => (address === unknown ? identityOf({ pool, claim: key }) : [])),
  );
  const states = statesOf(previous);
  const wasLive = ({ pool, claim, address }: Allocation) =>
    holderOf(pool, states)?.addresses[pool]?.[claim] === formatAddress(address);
  return keep.some(({ allocation }) => waiting.has(identityOf(allocation)) && (allowMove || !wasLive(allocation)));
}

/**
 * What came from a secret, in this program or in what the stack had. What a claim asks for in plain text is none any more.
 */
function secretAddresses(
  held: readonly Allocation[],
  gone: readonly Allocation[],
  claims: readonly ClaimInput[],
  previous: Previous,
): Addresses {
  const before = new Set(
    statesOf(previous).flatMap((state) =>
      entriesOf(state.secretAddresses ?? {}).map(({ pool, address }) => `${pool} ${address}`),
    ),
  );
  const wasHidden = (line: Allocation) => before.has(`${line.pool} ${formatAddress(line.address)}`);
  const asking = claims.filter(({ address }) => address !== undefined);
  const asked = new Map(asking.map((claim) => [identityOf({ pool: claim.pool, claim: claim.key }), claim]));
  const isSecret = (line: Allocation) => {
    const claim = asked.get(identityOf(line));
    return claim === undefined ? wasHidden(line) : claim.secretAddress === true;
  };
  const lines = [...held.filter(isSecret), ...gone.filter(wasHidden)];
  const secret = asking.filter(({ secretAddress }) => secretAddress);
  return withUnknown(addressesOf(lines), secret, []);
}

/**
 * Where the wanted address of a claim is unknown, so is the address it gets; and what others newly get of the pool may be
 * that one.
 */
function withUnknown(addresses: Addresses, claims: readonly ClaimInput[], assign: readonly Allocation[]): Addresses {
  const waiting = claims.filter(({ address }) => address === unknown);
  if (waiting.length === 0) return addresses;
  const pools = new Set(waiting.map(({ pool }) => pool));
  const fresh = assign.filter(({ pool }) => pools.has(pool)).map(({ pool, claim }) => ({ pool, key: claim }));
  const keys = Map.groupBy([...waiting, ...fresh], ({ pool }) => pool);
  return Object.fromEntries(
    Object.entries(addresses).map(([pool, held]) => [
      pool,
      { ...held, ...Object.fromEntries((keys.get(pool) ?? []).map(({ key }) => [key, unknown])) },
    ]),
  );
}

/**
 * The maps that have something in them. An update with `--strict` may answer no other fields than its preview: of claims
 * that this may not know, all of them.
 */
function filled<T extends { [name: string]: object }>(maps: T, { isLate }: SetInputs): Partial<T> {
  return isLate ? maps : (only(maps, (name) => Object.keys(maps[name] ?? {}).length > 0) as Partial<T>);
}

/** How pools of these addresses last were. */
function poolsOf(releasing: Addresses, own: SetState | undefined): SetState["pools"] {
  return only(own?.pools ?? {}, (pool) => pool in releasing);
}
