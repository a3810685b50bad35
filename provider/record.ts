import { formatBlock, IpamError, identityOf, type Moved, Renames, type Snapshot } from "../core/index.ts";
import { lockfile, withOffers } from "../state/index.ts";
import { recordOfLock } from "../state/offer.ts";
import { readCluster } from "./cluster-record.ts";
import {
  type Entry,
  entriesOf,
  type Previous,
  present,
  recordOf,
  type SetInputs,
  type SetState,
  type StateArgs,
  sameValue,
} from "./set-state.ts";

/** A record, and what tells it from others, where something does. */
export interface Recorded {
  readonly name: string;
  readonly snapshot: Snapshot;
  readonly identity?: string | undefined;
}

/** Where a record is, and which one it is, where that is known. */
export interface RecordAt {
  readonly state: StateArgs;
  readonly identity?: string | undefined;
}

/** The claim set of what other sets of the stack hold, in this one's record: occupied space. */
const another = "another of the stack";

/** What all sets of the stack hold, as the record of one of them. */
export function stackRecord({ own, others }: Previous, set: string): Snapshot {
  return recordOf(
    own === undefined ? [] : [{ ...own, set }],
    others.map((one) => ({ ...one, set: another })),
  );
}

/** What the record of a set holds now; a lockfile as a run of `nodeippool allocate -- COMMAND` will leave it. */
export async function readRecord({ state, previous, set }: Omit<SetInputs, "claims">): Promise<Recorded> {
  return state.backend === "stack" ? { name: "the stack", snapshot: stackRecord(previous, set) } : readOffered(state);
}

type SharedArgs = Exclude<StateArgs, { readonly backend: "stack" }>;

/** A record that others share, as it is written now. The path of a lockfile is relative to the program's folder. */
export async function readShared(state: SharedArgs): Promise<Recorded> {
  return state.backend === "kubernetes"
    ? readCluster(state)
    : { name: state.path, snapshot: lockfile(state.path).readSync() };
}

async function readOffered(state: SharedArgs): Promise<Recorded> {
  if (state.backend === "kubernetes") return readShared(state);
  const { path } = state;
  return {
    name: path,
    // Read when it is asked for: the plan made from it is offered before another set of this process reads.
    get snapshot() {
      return withOffers(lockfile(path).readSync(), recordOfLock(path));
    },
  };
}

/** A state with the addresses that the record has now for what the state holds. */
export async function asRecorded(held: SetState): Promise<SetState> {
  const { state, set } = held;
  if (state.backend === "stack") return held;
  const recorded = await readOffered(state);
  refuseOther(held, recorded);
  const lines = recorded.snapshot.allocations.filter((line) => line.set === set);
  const now = new Map(lines.map((line) => [identityOf(line), formatBlock(line)]));
  const addresses = Object.entries(held.addresses).map(([pool, claims]) => {
    const found = Object.keys(claims).map((claim) => [claim, now.get(identityOf({ pool, claim }))]);
    return [pool, present(Object.fromEntries(found))];
  });
  return { ...held, addresses: Object.fromEntries(addresses), ...present({ record: recorded.identity }) };
}

/** Returns whether a set, as the stack has it, is in this record. Two texts may lead to one record; in one run, one text leads to one. */
export function isSameRecord({ state, record }: SetState, there: RecordAt): boolean {
  if (sameValue(state, there.state) || (record !== undefined && record === there.identity)) return true;
  const isLock = state.backend === "lockfile" && there.state.backend === "lockfile";
  return isLock && recordOfLock(state.path) === recordOfLock(there.state.path);
}

/**
 * What tells whether a record is the one that this stack used: what the set has in it or, for a set that is new there,
 * what all sets have whose settings are the same.
 */
export function witnessOf({ own, others }: Previous, there: RecordAt): Partial<SetState> {
  if (own?.record !== undefined && isSameRecord(own, there)) return own;
  const beside = others.filter((one) => one.record !== undefined && sameValue(one.state, there.state));
  const known = beside.find(({ record }) => record === there.identity) ?? beside[0];
  const addresses = Object.assign({}, ...beside.map((one) => one.addresses));
  return known === undefined ? {} : { addresses, ...present({ record: known.record }) };
}

/**
 * Throws IpamError `stale` where a record is not the one that these addresses are in: a kubeconfig leads to another
 * cluster, or the record was lost. What others have in the right one, nobody knows here. One that was restored has
 * all lines; where a set has none, nothing tells.
 */
export function refuseOther({ addresses = {}, record }: Partial<SetState>, recorded: Recorded): void {
  if (record === undefined || record === recorded.identity) return;
  const lines = entriesOf(addresses);
  const missing = missingIn(recorded.snapshot, lines);
  if (missing.length === 0 && lines.length > 0) return;
  const why =
    lines.length === 0
      ? ", and no address of the set tells whether it was restored"
      : `: it lacks ${missing.length} of ${lines.length} addresses`;
  const message = `${recorded.name} is not the record that this stack used before${why}`;
  throw new IpamError("stale", [{ path: ["state"], message, hint: restoreHint }]);
}

const restoreHint =
  "Is it the right cluster? Restore a lost record from a backup or with nodeippool import. Only if it is gone for good, write the addresses into the claims and pulumi state delete each set that was in it.";

/** Which of a set's addresses a record does not have: for the same claims, or for what those are called now. */
export function missingIn(
  { allocations, releasing }: Snapshot,
  entries: readonly Entry[],
  moved: readonly Moved[] = [],
): Entry[] {
  const text = (pool: string, claim: string, address: string) => `${identityOf({ pool, claim })} ${address}`;
  const lines = [...allocations, ...releasing];
  const there = new Set(lines.map((line) => text(line.pool, line.claim, formatBlock(line))));
  const renames = new Renames(moved);
  return entries.filter(
    ({ pool, claim, address }) => !renames.after(claim).some((name) => there.has(text(pool, name, address))),
  );
}

/** Returns whether an error says that a record moved to another place. */
export function hasMoved(error: unknown): error is IpamError {
  return error instanceof IpamError && error.issues.some(({ remedy }) => remedy?.[0] === "moved");
}
