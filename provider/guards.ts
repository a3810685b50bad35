import {
  bulkRelease,
  formatBlock,
  IpamError,
  type Issue,
  identityOf,
  ownerOfKey,
  type Plan,
  type Pool,
  Renames,
  type Snapshot,
} from "../core/index.ts";
import { type Left, type Line, linesOf } from "./left-behind.ts";
import { pendingErrors } from "./read-inputs.ts";
import { type ClaimInput, entriesOf, type SetInputs, type SetState, unknown } from "./set-state.ts";

/** The plan of a set, and what it was made from. */
export interface Proposal {
  readonly plan: Plan;
  readonly before: Snapshot;
  /** The record once the plan is committed. */
  readonly after: () => Snapshot;
  readonly inputs: SetInputs;
  readonly claims: readonly ClaimInput[];
  readonly pools: readonly Pool[];
  readonly left: Left;
}

/** Says what stands against a plan: nothing, or why it is refused. */
type Guard = (proposal: Proposal) => readonly IpamError[];

/** In this order; the first one that finds something decides what is said. */
const guards: readonly Guard[] = [poolsStay, everyClaimServed, ownersStay, nothingLeftBehind, fewReleased];

/** What stands against a plan. Where some claims are left out because they cannot be read, what is wrong with the others. */
export function refusals(proposal: Proposal, isWhole: boolean): readonly IpamError[] {
  for (const guard of isWhole ? guards : guards.slice(0, 2)) {
    const found = guard(proposal);
    if (found.length > 0) return found;
  }
  return [];
}

function everyClaimServed({ plan, claims }: Proposal): readonly IpamError[] {
  return pendingErrors(plan.pending, claims);
}

function inUse(issues: readonly Issue[]): readonly IpamError[] {
  return issues.length === 0 ? [] : [new IpamError("in-use", issues)];
}

/** An address of an owner, by the claim under which it has it. */
interface Has {
  readonly pool: string;
  readonly key: string;
  readonly owner: string;
  readonly address: string;
}

/**
 * An owner keeps its address where its claim gets an id, loses it, or has another one. Of one whose name is not
 * known yet nobody can tell.
 */
function ownersStay({ plan, claims, inputs }: Proposal): readonly IpamError[] {
  const { owners = {}, addresses = {} } = inputs.previous.own ?? ({} as Partial<SetState>);
  const hasIds = claims.some(({ owner }) => owner !== undefined) || Object.keys(owners).length > 0;
  if (inputs.allowMove || !hasIds) return [];
  const before = entriesOf(addresses).map(
    ({ claim, ...rest }): Has => ({ ...rest, key: claim, owner: owners[claim] ?? ownerOfKey(claim) }),
  );
  const had = Map.groupBy(before, ({ pool, owner }) => `${pool} ${owner}`);
  const has = Map.groupBy(hasAfter(plan, claims), ({ pool, owner }) => `${pool} ${owner}`);
  const places = new Map(claims.map(({ pool, key }, i) => [identityOf({ pool, claim: key }), i]));
  const issues = [...has].flatMap(([owner, now]): Issue[] => {
    const was = had.get(owner) ?? [];
    const lost = was.find(({ address }) => !now.some((one) => one.address === address));
    const got = now.find(({ address }) => !was.some((one) => one.address === address));
    if (lost === undefined || got === undefined) return [];
    const message = `${got.key} of pool ${got.pool}: its owner would lose ${lost.address}, which it has as ${lost.key}`;
    const hint = `If this is the same claim, declare it: moved: [{ from: "${lost.key}", to: "${got.key}" }]. If not: allowMove: true`;
    return [{ path: ["claims", places.get(identityOf({ pool: got.pool, claim: got.key })) ?? 0], message, hint }];
  });
  return inUse(issues);
}

function hasAfter({ assign, keep }: Plan, claims: readonly ClaimInput[]): Has[] {
  const live = [...assign, ...keep.flatMap(({ allocation, releasing }) => (releasing ? [] : [allocation]))];
  const addresses = new Map(live.map((line) => [identityOf(line), formatBlock(line)]));
  return claims.flatMap(({ pool, key, owner = ownerOfKey(key) }) => {
    const address = addresses.get(identityOf({ pool, claim: key }));
    return address === undefined || owner === unknown ? [] : { pool, key, owner, address };
  });
}

/** What other sets and records have of a set's pools is in its own record already. */
function poolsStay({ left, before, inputs }: Proposal): readonly IpamError[] {
  if (left.others.length === 0) return [];
  const isThere = finder(before, inputs);
  const lost = left.others.filter((one) => !isThere(one, [inputs.set, one.line.set]));
  return inUse(
    [...Map.groupBy(lost, ({ line }) => line.pool).values()].map((some) => ({
      path: ["pools"],
      message: `another record or set of this stack has ${describe(some)}: a pool stays where it is while it has addresses`,
      hint: "Keep the pool there, or release its addresses there first.",
    })),
  );
}

/** What a set has in a record that it leaves is in its new record then. */
function nothingLeftBehind({ left, after, inputs }: Proposal): readonly IpamError[] {
  if (left.own.length === 0) return [];
  const isThere = finder(after(), inputs);
  const lost = left.own.filter((one) => !isThere(one, [inputs.set]));
  if (lost.length === 0) return [];
  const message = `the record that the set leaves has ${describe(lost)}, which would be lost`;
  const hint =
    "First release what is releasing there, then change the state alone, with the same pools and claims; nodeippool migrate moves a shared record. Only then change those.";
  return inUse([{ path: ["state"], message, hint }]);
}

/** Tells whether a record has an address for the same claim, which may have been renamed, of one of these sets. */
function finder(record: Snapshot, { moved }: SetInputs) {
  const renames = new Renames(moved);
  const lines = new Map(linesOf(record).map(({ line, place }) => [place, line]));
  return ({ line, place }: Line, sets: readonly string[]) => {
    const now = lines.get(place);
    return now !== undefined && sets.includes(now.set) && renames.after(line.claim).includes(now.claim);
  };
}

function describe(some: readonly Line[]): string {
  const { line } = some[0] as Line;
  const count = new Set(some.map(({ place }) => place)).size;
  const what = count === 1 ? "1 address" : `${count} addresses`;
  return `${what}, as ${formatBlock(line)} of ${line.claim} in pool ${line.pool}`;
}

/** A plan that releases much is sooner a wrong list of nodes. For a lock `nodeippool allocate` asks that itself. */
function fewReleased({ plan, before, inputs }: Proposal): readonly IpamError[] {
  const refusal = inputs.state.backend === "lockfile" || inputs.confirmRelease ? undefined : bulkRelease(plan, before);
  return refusal === undefined ? [] : [refusal];
}
