import {
  type Allocation,
  describeChanges,
  formatAddress,
  IpamError,
  type Issue,
  identityOf,
  isNamedInFull,
  type Plan,
  placeOf,
  plan,
  planRelease,
  refuseBulkRelease,
  type Snapshot,
  shortened,
  type TakeOver,
} from "../core/index.ts";
import { applyPlan, covering } from "../state/index.ts";
import { recording } from "./advice.ts";
import { stateOf, unknownState } from "./answer.ts";
import { type Left, nothingLeft, refuseComing, refuseForgetting } from "./forgetting.ts";
import { asHeld, asTaken, ofPools, withWayBack } from "./held.ts";
import { refuseOtherIds } from "./other-ids.ts";
import { pendingErrors, type Read, readInputs } from "./read-inputs.ts";
import { type ClaimInput, type SetInputs, type SetState, type StateArgs, unknown } from "./set-state.ts";

/** What a set is to hold, and what it takes to make the record say so, where it is known. */
interface PlannedSet {
  readonly state: SetState;
  readonly plan?: Plan;
}

/**
 * What a set is to hold: the plan of its claims against the record, all or nothing. The same in preview and update,
 * as long as the record is the same. A claim whose wanted address is unknown is unknown itself.
 * `held` is what the stack's state has of the set, `left` what would be left behind in other records, `takes` what other
 * claim sets of the stack had of its pools. Throws AggregateError of IpamErrors: everything that stands against it.
 */
export function planSet(
  inputs: SetInputs,
  record: () => Snapshot,
  held: Partial<SetState> = {},
  left: Left = nothingLeft,
  takes: readonly TakeOver[] = [],
): PlannedSet {
  const read = readInputs(inputs);
  const { claims } = inputs;
  const [, comes] = caught(() => refuseComing(left, read.pools));
  const errors = [...read.errors, ...comes];
  if (claims === unknown) return { state: attempt(errors, () => unknownState(inputs, record())) };
  const { after, plan } = attempt(errors, () => planned(inputs, claims, read, record(), { held, left, takes }));
  return { state: stateOf(after, inputs, claims, plan), plan };
}

/** Runs the last step; its failure is told together with those before it. */
function attempt<T>(before: readonly IpamError[], work: () => T): T {
  const [result, errors] = caught(work);
  const all = [...before, ...errors];
  if (all.length > 0) throw new AggregateError(all, all.map(({ message }) => message).join("\n"));
  return result as T;
}

function caught<T>(work: () => T): [result: T | undefined, errors: readonly IpamError[]] {
  try {
    return [work(), []];
  } catch (error) {
    if (error instanceof IpamError) return [undefined, [error]];
    if (error instanceof AggregateError) return [undefined, error.errors];
    throw error;
  }
}

/** The record after this set has its claims. */
function planned(
  inputs: SetInputs,
  listed: readonly ClaimInput[],
  read: Read,
  recorded: Snapshot,
  { held, left, takes }: { readonly held: Partial<SetState>; readonly left: Left; readonly takes: readonly TakeOver[] },
): { after: Snapshot; plan: Plan } {
  const { state, set, allowMove, moved } = inputs;
  const { pools } = read;
  const claims = asHeld(read, { held, left }, recorded, inputs);
  const whole = plan({ pools, claims, snapshot: asTaken(recorded, held, takes), set, allowMove, moved, takes });
  const pending = pendingErrors(withWayBack(whole.pending, held, recorded, set, takes), listed);
  if (pending.length > 0) throw new AggregateError(pending);
  if (!allowMove) refuseOtherIds(whole, listed, inputs);
  if (state.backend === "lockfile") refuseUnknown(whole, listed);
  const made = state.backend === "kubernetes" ? ofPools(whole, { ...held.pools, ...inputs.pools }) : whole;
  const after = () => applyPlan(recorded, made) ?? recorded;
  refuseForgetting(left, after, pools, inputs);
  // A lock is recorded by `nodeippool allocate`, which asks for its own confirmation.
  if (state.backend !== "lockfile" && !inputs.confirmRelease) refuseBulkRelease(made, recorded);
  switch (state.backend) {
    case "stack":
      return { after: released(after(), recorded, inputs), plan: made };
    case "lockfile":
      if (read.errors.length > 0) return { after: recorded, plan: made };
      return { after: covering(made, recorded) ?? refuseDrift(made, state), plan: made };
    case "kubernetes":
      return { after: after(), plan: made };
  }
}

/**
 * Frees what a human named and could see among `releasing`: a word that was left there frees nothing that this plan gives
 * up. Nobody gets it in the same plan: this comes after all claims are served.
 */
function released(after: Snapshot, before: Snapshot, { set, release }: SetInputs): Snapshot {
  const seen = new Set(before.releasing.map(placeOf));
  const open = after.releasing.filter((line) => line.set === set && seen.has(placeOf(line)));
  const lines = open.filter((line) => release.some((word) => isNamedInFull(line, word)));
  refuseSeveral(lines, release);
  return lines.length === 0 ? after : (applyPlan(after, planRelease(after, lines)) ?? after);
}

/** Throws IpamError `invalid` for an address that is releasing in several networks. */
function refuseSeveral(lines: readonly Allocation[], words: readonly string[]): void {
  const issues = words.flatMap((word, i): Issue[] => {
    const same = lines.filter(({ address }) => formatAddress(address) === word);
    if (same.length < 2) return [];
    const message = `${word} is releasing in several pools: ${same.map(({ pool }) => pool).join(", ")}`;
    return [{ path: ["release", i], message, hint: `Say which: ${same.map(({ claim }) => claim).join(", ")}.` }];
  });
  if (issues.length > 0) throw new IpamError("invalid", issues);
}

/** A lock has the address that a claim gets here for good; where the one that it asks for is unknown, that would be a guess. */
function refuseUnknown({ assign }: Plan, claims: readonly ClaimInput[]): void {
  const fresh = new Set(assign.map(identityOf));
  const issues = claims.flatMap(({ key, pool, address }, i) => {
    if (address !== unknown || !fresh.has(identityOf({ pool, claim: key }))) return [];
    const message = `${key} of pool ${pool}: the address that it asks for is known only when another resource is made`;
    return { path: ["claims", i], message, hint: "Bring that one up first, then record this one." };
  });
  if (issues.length > 0) throw new IpamError("invalid", issues);
}

function refuseDrift(made: Plan, state: Extract<StateArgs, { readonly backend: "lockfile" }>): never {
  const what = [`${state.path} is not up to date with the program:`, ...shortened(describeChanges(made))];
  throw new IpamError("stale", what.join("\n    "), {
    hint: `Run ${recording(state)}, review the record, and commit it.`,
  });
}
