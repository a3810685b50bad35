import {
  type Allocation,
  emptySnapshot,
  formatAddress,
  IpamError,
  type Issue,
  identityOf,
  type Pool,
  placeOf,
  Renames,
  type Snapshot,
} from "../core/index.ts";
import { contains } from "../core/range.ts";
import { rememberFollowed } from "./planned.ts";
import { readShared } from "./record.ts";
import { isSameRecord, missingIn, movedTo, type RecordAt, type Recorded, refuseOther } from "./recorded.ts";
import { sameValue, textOf } from "./same-value.ts";
import {
  type Addresses,
  only,
  type Previous,
  present,
  type SetInputs,
  type SetState,
  statesOf,
  unknown,
} from "./set-state.ts";
import { holderOf, linesOfStack } from "./stack-record.ts";

/*
 * A record changes only as a whole. A set that goes to another one, or that gets another name in its own, takes along all
 * that it has there; a pool that comes without its set leaves nothing in another record. Nobody of these reads the old one
 * after that: an address that stays behind would be given to somebody else.
 */

/** What may be left behind where a set, or some of its pools, come to a record. */
export interface Left {
  /** What is in the record that the set leaves. */
  readonly record: Snapshot;
  /** What the set itself has there; where it stays and has another name now, what it has under the old one. */
  readonly own: Snapshot;
  /** The pools that come without the set that had them last, and that claim set, where there is one. */
  readonly coming: ReadonlyMap<string, string | undefined>;
  /** The other records of the stack, where pools come. */
  readonly elsewhere: readonly Snapshot[];
}

export const nothingLeft: Left = { record: emptySnapshot, own: emptySnapshot, coming: new Map(), elsewhere: [] };

/** The record that a set comes to, or stays in. */
interface Destination extends RecordAt {
  readonly content: () => Snapshot;
}

/**
 * `olds` is the set as the engine has it, or else as the stack has it. Throws IpamError `stale` for a record that is left
 * and is not the one that it was, or has moved and not to `there`: nothing in it counts, and nobody knows what does.
 */
export async function whatIsLeft(
  olds: SetState | undefined,
  { own, others }: Previous,
  inputs: SetInputs,
  there: Destination,
): Promise<Left> {
  const { pools, set } = inputs;
  const before = withRecord(olds, own);
  const previous = { others, ...present({ own: before }) };
  const states = statesOf(previous);
  const isAway = (one: SetState) => !isSameRecord(one, there);
  const holders = Object.keys(pools).map((pool) => [pool, holderOf(pool, states)] as const);
  const comes = (holder: SetState | undefined) => holder === undefined || (holder !== before && isAway(holder));
  const coming = new Map(holders.flatMap(([pool, holder]) => (comes(holder) ? [[pool, holder?.set]] : [])));
  const read = reader(previous, inputs, there);
  const leaves = before !== undefined && isAway(before);
  const isRenamed = before !== undefined && !leaves && there.state.backend !== "stack" && before.set !== set;
  const record = leaves || isRenamed ? await read(before) : emptySnapshot;
  return {
    record: leaves ? record : emptySnapshot,
    own: before === undefined ? emptySnapshot : ownLines(before, states, record),
    coming,
    elsewhere: coming.size === 0 ? [] : await Promise.all(states.filter(isAway).map(read)),
  };
}

/** What a set has in a record, of pools that no other one of the stack took over since. */
function ownLines(before: SetState, states: readonly SetState[], record: Snapshot): Snapshot {
  const isOwn = ({ set, pool }: Allocation) => set === before.set && holderOf(pool, states) === before;
  return { ...record, allocations: record.allocations.filter(isOwn), releasing: record.releasing.filter(isOwn) };
}

/** The engine does not know of a record that began when the set was made; the stack does. */
function withRecord(olds: SetState | undefined, own: SetState | undefined): SetState | undefined {
  if (olds === undefined || olds.record !== undefined || !sameValue(olds.state, own?.state)) return olds;
  return { ...olds, ...present({ record: own?.record }) };
}

/** Reads each record once. What a set has in one, as far as no other set of the stack took it over, tells which one it is. */
function reader(previous: Previous, inputs: SetInputs, there: Destination): (of: SetState) => Promise<Snapshot> {
  const reads = new Map<string, Promise<Recorded>>();
  const states = statesOf(previous);
  return async (of) => {
    const key = textOf(of.state);
    const record = reads.get(key) ?? recordLeft(of, previous);
    reads.set(key, record);
    const addresses = only(of.addresses, (pool) => holderOf(pool, states) === of);
    try {
      const recorded = await record;
      refuseOther({ ...of, addresses }, recorded);
      return recorded.snapshot;
    } catch (error) {
      const isOwn = of === previous.own;
      const moved = { ...of, addresses: isOwn ? stillClaimed(addresses, inputs) : addresses };
      const refusal = unlessMovedThere(error, moved, inputs, there);
      if (refusal !== undefined) throw isOwn ? refusal : aloneFirst(refusal, of);
      if (isOwn || sameValue(stillClaimed(of.addresses, inputs), of.addresses)) rememberFollowed(of);
      return emptySnapshot;
    }
  };
}

/** What is claimed no more may have been released where the record is now. */
function stillClaimed(addresses: Addresses, { claims, moved }: SetInputs): Addresses {
  if (claims === unknown) return addresses;
  const claimed = new Set(claims.map(({ pool, key }) => identityOf({ pool, claim: key })));
  const renames = new Renames(moved);
  const isClaimed = (pool: string, claim: string) =>
    renames.after(claim).some((name) => claimed.has(identityOf({ pool, claim: name })));
  return Object.fromEntries(
    Object.entries(addresses).map(([pool, held]) => [
      pool,
      Object.fromEntries(Object.entries(held).filter(([claim]) => isClaimed(pool, claim))),
    ]),
  );
}

/**
 * Undefined for a record that has moved to where the set goes, with all that was in it, perhaps by way of other places:
 * a mark says only where it went first, so what the set had in it tells. Where that is nothing, the set is like a new one.
 */
function unlessMovedThere(
  error: unknown,
  { addresses }: SetState,
  inputs: SetInputs,
  { state, content }: Destination,
): unknown {
  const moved = movedTo(error);
  if (moved === undefined || state.backend === "stack") return error;
  const isIdle = Object.values(addresses).every((claims) => Object.keys(claims).length === 0);
  if (isIdle) return moved === { lockfile: "file", kubernetes: "cluster" }[state.backend] ? undefined : error;
  if (missingIn(content(), addresses, inputs.moved).length === 0) return undefined;
  const lacks = "; where the program has it now, addresses of the set are missing";
  const issues = (error as IpamError).issues.map((issue) => ({ ...issue, message: `${issue.message}${lacks}` }));
  return new IpamError("stale", issues, { cause: error });
}

/** Where the record of another set has moved, that set is to follow it: this one can be anywhere. */
function aloneFirst(error: unknown, { set }: SetState): unknown {
  if (!(error instanceof IpamError) || movedTo(error) === undefined) return error;
  const hint = `Set ${set} was in it. Bring that one up alone first, with the state to which it has moved; then this one.`;
  const issues = error.issues.map(({ message }) => ({ message, hint }));
  return new IpamError(error.code, issues, { cause: error });
}

async function recordLeft({ state }: SetState, previous: Previous): Promise<Recorded> {
  return state.backend === "stack" ? { name: "the stack", snapshot: linesOfStack(previous) } : readShared(state);
}

/** Throws IpamError `in-use` for pools that come and have addresses in another record, live or releasing. */
export function refuseComing({ coming, elsewhere }: Left, pools: readonly Pool[]): void {
  const lines = elsewhere.flatMap(placed);
  const issues = pools.flatMap((pool): Issue[] => {
    if (!coming.has(pool.name)) return [];
    const isIts = ({ line }: Placed) => line.pool === pool.name && line.set === coming.get(pool.name);
    const found = lines.filter((one) => isIts(one) || isOf(pool, one));
    if (found.length === 0) return [];
    const message = `another record of this stack has ${describeSome(found)}: a pool goes to another record only with its whole set`;
    return [{ path: ["pools", pool.name], message, hint: aloneHint }];
  });
  if (issues.length > 0) throw new IpamError("in-use", issues);
}

const aloneHint =
  "Leave it where it is, in a set of its own there if need be, and change the state of that set alone. Within one record it may go to any set.";

/**
 * Throws IpamError `in-use` for what would be forgotten: what the set has that it does not keep under the name it has now,
 * and addresses of its pools that others have in a record that it leaves. A claim may have been renamed.
 */
export function refuseForgetting(
  left: Left,
  after: () => Snapshot,
  pools: readonly Pool[],
  { moved, set }: SetInputs,
): void {
  const own = placed(left.own);
  const others = placed(left.record).filter((one) => pools.some((pool) => isOf(pool, one)));
  if (own.length + others.length === 0) return;
  const renames = new Renames(moved);
  const kept = new Map(placed(after()).map(({ line, place }) => [place, line]));
  const isKept = ({ line, place }: Placed) => {
    const claim = kept.get(place)?.claim;
    return claim !== undefined && renames.after(line.claim).includes(claim);
  };
  const isOurs = (one: Placed) => isKept(one) && kept.get(one.place)?.set === set;
  const lost = [...own.filter((one) => !isOurs(one)), ...others.filter((one) => !isKept(one))];
  if (lost.length === 0) return;
  throw new IpamError("in-use", `this change of state or set leaves behind ${describeSome(lost)}`, {
    hint: "First release what is releasing there, then change that alone, with the same pools and claims, and only then change those. Addresses of other sets cannot stay behind in these pools.",
  });
}

/** A line, and where it stands: an address of a pool of a network. */
interface Placed {
  readonly line: Allocation;
  readonly network: string | undefined;
  readonly place: string;
}

function placed({ pools, allocations, releasing }: Snapshot): Placed[] {
  const networks = new Map(pools.map(({ name, network }) => [name, network]));
  return [...releasing, ...allocations].map((line) => {
    const network = networks.get(line.pool);
    return { line, network, place: `${placeOf(line)} ${network}` };
  });
}

function isOf({ network, range }: Pool, one: Placed): boolean {
  return network === one.network && contains(range, one.line.address);
}

function describeSome(some: readonly Placed[]): string {
  const [{ line }] = some as [Placed];
  const count = new Set(some.map(({ place }) => place)).size;
  const what = count === 1 ? "1 address" : `${count} addresses`;
  return `${what} that would be forgotten, as ${formatAddress(line.address)} of ${line.claim} in pool ${line.pool}`;
}
