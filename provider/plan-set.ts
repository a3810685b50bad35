import {
  type Address,
  type Allocation,
  type Claim,
  claimKey,
  describeChanges,
  formatAddress,
  formatBlock,
  IpamError,
  identityOf,
  isNamedInFull,
  type Plan,
  parseBlock,
  placeOf,
  planRelease,
  Renames,
  remedyText,
  type Snapshot,
  shortened,
  unwrap,
} from "../core/index.ts";
import { desiredClaims } from "../pipeline/desired.ts";
import { doubtfulRelease, firstRefusal } from "../pipeline/guards.ts";
import { type Proposal, proposalOf, propose } from "../pipeline/proposal.ts";
import { applyPlan, covering } from "../state/index.ts";
import { guardsFor } from "./guards.ts";
import { type Left, nothingLeft } from "./left-behind.ts";
import type { Read } from "./read-inputs.ts";
import { isSameRecord } from "./record.ts";
import {
  type Addresses,
  addressesOf,
  type ClaimInput,
  only,
  type SetInputs,
  type SetState,
  type StateArgs,
  unknown,
} from "./set-state.ts";

/** What a set is to hold, and what it takes to make the record say so, where it is known. */
export interface PlannedSet {
  readonly state: SetState;
  readonly plan?: Plan;
}

/**
 * What a set is to hold: the plan of its claims against the record, all or nothing. The same in preview and update,
 * as long as the record is the same. `left` is what other records of the stack have. Throws IpamError: what the first guard
 * has against it.
 */
export function planSet(inputs: SetInputs, read: Read, before: Snapshot, left: Left = nothingLeft): PlannedSet {
  const { claims } = inputs;
  if (claims === unknown) return { state: unknownState(inputs, before) };
  const proposal = proposed(inputs, claims, read, before);
  const refusal = firstRefusal(proposal, guardsFor(inputs, claims, left));
  if (refusal !== undefined) throw refusal;
  return { state: stateOf(recordAfter(proposal, inputs), inputs, claims), plan: proposal.plan };
}

function proposed(inputs: SetInputs, listed: readonly ClaimInput[], read: Read, before: Snapshot): Proposal {
  const { state, set, allowMove, moved, previous } = inputs;
  const places = new Map(listed.map(({ key, pool }, i) => [identityOf({ pool, claim: key }), i]));
  const placeOf = (claim: { pool: string; claim: string }) => ({
    path: ["claims", places.get(identityOf(claim)) ?? 0],
  });
  const desired = desiredClaims(read.pools, claimsAsHeld(read.claims, inputs, before), placeOf);
  // With a lock, `nodeippool allocate` asks before it records the plan.
  const confirmRelease = inputs.confirmRelease || state.backend === "lockfile";
  const options = { set, allowMove, moved, confirmRelease };
  const whole = propose(() => desired, before, options);
  if (state.backend !== "kubernetes") return whole;
  // Other programs may have a set of this name on other pools: nothing is released there.
  const own = { ...previous.own?.pools, ...inputs.pools };
  const release = whole.plan.release.filter(({ allocation }) => Object.hasOwn(own, allocation.pool));
  return proposalOf({ ...whole.plan, release }, () => desired, before, options);
}

/**
 * The claims, where those that the stack has an address of want that address, whatever a record that others share says:
 * it may be another one now, or have lost lines, and nobody moves because of that. A lock that stays the record is right
 * where it has a line, and so is any record about a claim that may move.
 */
function claimsAsHeld(claims: readonly Claim[], inputs: SetInputs, snapshot: Snapshot): readonly Claim[] {
  const { state, set, allowMove, moved, previous } = inputs;
  const { own } = previous;
  if (own === undefined || state.backend === "stack") return claims;
  const { allocations, releasing } = snapshot;
  // Of several lines of a claim a live one counts, else the lowest that is releasing.
  const leaving = releasing.filter((line) => line.set === set).toReversed();
  const lines = new Map([...leaving, ...allocations].map((line) => [identityOf(line), line]));
  const live = new Set(allocations);
  const taken = new Set<Address | undefined>([...allocations, ...releasing].map(({ address }) => address));
  const isRight = allowMove || (state.backend === "lockfile" && isSameRecord(own, { state }));
  const keys = Map.groupBy(claims, ({ pool }) => pool);
  const claimed = new Map([...keys].map(([pool, some]) => [pool, new Set(some.map(keyOf))]));
  const renames = new Renames(moved);
  return claims.map((claim) => {
    const { pool, wanted } = claim;
    const names = renames.before(keyOf(claim), claimed.get(pool) ?? new Set());
    const text = names.map((name) => own.addresses[pool]?.[name]).find((one) => one !== undefined);
    if (text === undefined || wanted !== undefined) return claim;
    const held = unwrap(parseBlock(text)).address;
    const found = names.flatMap((name) => lines.get(identityOf({ pool, claim: name })) ?? []);
    const line = found.find((one) => live.has(one)) ?? found[0];
    if (line !== undefined && (line.address === held || isRight)) return claim;
    return allowMove && taken.has(held) ? claim : { ...claim, wanted: held };
  });
}

function keyOf({ owner, name }: Claim): string {
  return claimKey(owner, name);
}

/** The record once this plan is committed, as far as this backend lets a program go. */
function recordAfter(proposal: Proposal, inputs: SetInputs): Snapshot {
  const {
    plan,
    before,
    holdings: { snapshot: after },
  } = proposal;
  switch (inputs.state.backend) {
    case "stack":
      return released(after, before, inputs);
    case "lockfile":
      return covering(plan, before, doubtfulRelease(proposal)) ?? refuseDrift(plan, inputs.state);
    case "kubernetes":
      return after;
  }
}

/**
 * Frees what a human named and could see among `releasing`: a word that was left there frees nothing that this plan
 * releases. Nobody gets it in the same plan: this comes after all claims are served.
 */
function released(after: Snapshot, before: Snapshot, { set, release }: SetInputs): Snapshot {
  const seen = new Set(before.releasing.map(placeOf));
  const open = after.releasing.filter((line) => line.set === set && seen.has(placeOf(line)));
  // An address that is releasing in several networks is none in particular.
  const isOne = (word: string) => open.filter((line) => formatBlock(line) === word).length < 2;
  const lines = open.filter((line) => release.some((word) => isNamedInFull(line, word) && isOne(word)));
  return lines.length === 0 ? after : (applyPlan(after, planRelease(after, lines)) ?? after);
}

function refuseDrift(proposed: Plan, state: Extract<StateArgs, { readonly backend: "lockfile" }>): never {
  const what = [`${state.path} is not up to date with the program:`, ...shortened(describeChanges(proposed))];
  throw new IpamError("stale", what.join("\n    "), {
    hint: `Run ${remedyText(["record"], "pulumi")}, review the record, and commit it.`,
  });
}

const unknownAddresses = unknown as unknown as Addresses;

/** A state in preview, of claims that are known in the update: whoever holds something may have to release it then. */
function unknownState(inputs: SetInputs, { allocations, releasing }: Snapshot): SetState {
  const { pools, set, release, previous } = inputs;
  const isNamed = (line: Allocation) => release.some((word) => isNamedInFull(line, word));
  const own = [...allocations, ...releasing.filter((line) => !isNamed(line))].filter((line) => line.set === set);
  const isShared = inputs.state.backend !== "stack";
  return {
    ...settingsOf(inputs),
    addresses: unknownAddresses,
    releasing: isShared || own.length + releasing.length === 0 ? {} : unknownAddresses,
    ...(isShared || !hasNext(inputs) ? {} : { last: unknown as never }),
    owners: unknownAddresses as never,
    pools: { ...(isShared ? {} : poolsOf(addressesOf(own), previous.own)), ...pools },
  };
}

/** A set as it is after a plan of its claims. */
function stateOf(after: Snapshot, inputs: SetInputs, claims: readonly ClaimInput[]): SetState {
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
    ...(isShared || !hasNext(inputs) ? {} : { last: lastIn(after) }),
    // An update with `--strict` may answer no other fields than its preview, which may not know the claims.
    ...(isLate || owners.length > 0 ? { owners: Object.fromEntries(owners) } : {}),
    pools: { ...poolsOf(releasing, previous.own), ...pools },
  };
}

/** Whether a pool goes on after the address that it allocated last. */
function hasNext({ pools }: SetInputs): boolean {
  return Object.values(pools).some(({ allocationOrder }) => allocationOrder === "Next");
}

function lastIn({ pools }: Snapshot): Record<string, string> {
  return Object.fromEntries(
    pools.flatMap(({ name, last }) => (last === undefined ? [] : [[name, formatAddress(last)]])),
  );
}

/** What is secret stays so, also when no claim says it any more. */
function settingsOf({ state, set, secret, previous }: SetInputs): Pick<SetState, "state" | "set" | "secret"> {
  return { state, set, ...(secret || previous.own?.secret ? { secret: true } : {}) };
}

/** How pools of these addresses last were. */
function poolsOf(releasing: Addresses, own: SetState | undefined): SetState["pools"] {
  return only(own?.pools ?? {}, (pool) => pool in releasing);
}
