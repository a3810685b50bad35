import { type Allocation, identityOf, isNamedInFull, type Snapshot } from "../core/index.ts";
import {
  type Addresses,
  addressesOf,
  type ClaimInput,
  only,
  type SetInputs,
  type SetState,
  unknown,
} from "./set-state.ts";

/*
 * What `check` answers of a plan: what the set is to hold.
 */

const unknownAddresses = unknown as unknown as Addresses;

/** A state in preview, of claims that are known in the update: whoever holds something may have to release it then. */
export function unknownState(inputs: SetInputs, { allocations, releasing }: Snapshot): SetState {
  const { pools, set, release, previous } = inputs;
  const isNamed = (line: Allocation) => release.some((word) => isNamedInFull(line, word));
  const own = [...allocations, ...releasing.filter((line) => !isNamed(line))].filter((line) => line.set === set);
  const isShared = inputs.state.backend !== "stack";
  return {
    ...settingsOf(inputs),
    addresses: unknownAddresses,
    releasing: isShared || own.length + releasing.length === 0 ? {} : unknownAddresses,
    owners: unknownAddresses as never,
    pools: { ...(isShared ? {} : poolsOf(addressesOf(own), previous.own)), ...pools },
  };
}

/** A set as it is after a plan of its claims. */
export function stateOf(after: Snapshot, inputs: SetInputs, claims: readonly ClaimInput[]): SetState {
  const { pools, state, set, isLate, previous } = inputs;
  const mine = new Set(claims.map(({ key, pool }) => identityOf({ pool, claim: key })));
  const held = after.allocations.filter((line) => mine.has(identityOf(line)));
  const owners = claims.flatMap(({ key, owner }) => (owner === undefined ? [] : [[key, owner] as const]));
  const isShared = state.backend !== "stack";
  const releasing = isShared ? {} : addressesOf(after.releasing.filter((line) => line.set === set));
  return {
    ...settingsOf(inputs),
    addresses: addressesOf(held, Object.keys(pools)),
    releasing,
    // An update with `--strict` may answer no other fields than its preview, which may not know the claims.
    ...(isLate || owners.length > 0 ? { owners: Object.fromEntries(owners) } : {}),
    pools: { ...poolsOf(releasing, previous.own), ...pools },
  };
}

/** What is secret stays so, also when no claim says it any more. */
function settingsOf({ state, set, secret, previous }: SetInputs): Pick<SetState, "state" | "set" | "secret"> {
  return { state, set, ...(secret || previous.own?.secret ? { secret: true } : {}) };
}

/** How pools of these addresses last were. */
function poolsOf(releasing: Addresses, own: SetState | undefined): SetState["pools"] {
  return only(own?.pools ?? {}, (pool) => pool in releasing);
}
