import { formatAddress, IpamError, identityOf, type Moved, Renames, type Snapshot } from "../core/index.ts";
import { recordOfLock } from "../state/offer.ts";
import { sameValue } from "./same-value.ts";
import { type Addresses, type Entry, entriesOf, type SetState, type StateArgs } from "./set-state.ts";

/** A record, and what tells it from others, where something does. */
export interface Recorded {
  readonly name: string;
  readonly snapshot: Snapshot;
  readonly identity?: string | undefined;
}

/** Is a set, as the stack has it, in this record? Two texts may lead to one record; in one run, one text leads to one. */
export function isSameRecord({ state, record }: SetState, there: RecordAt): boolean {
  if (sameValue(state, there.state) || (record !== undefined && record === there.identity)) return true;
  return state.backend === "lockfile" && there.state.backend === "lockfile"
    ? recordOfLock(state.path) === recordOfLock(there.state.path)
    : false;
}

/** Where a record is, and which one it is, where that is known. */
export interface RecordAt {
  readonly state: StateArgs;
  readonly identity?: string | undefined;
}

/**
 * Throws IpamError `stale` where a record is not the one that these addresses are in: a kubeconfig leads to another
 * cluster, or the record was lost. What others have in the right one, nobody knows here. One that was brought back has
 * all lines; where a set has none, nothing tells.
 */
export function refuseOther({ addresses = {}, record }: Partial<SetState>, recorded: Recorded): void {
  if (record === undefined || record === recorded.identity) return;
  const lines = entriesOf(addresses);
  const missing = missingIn(recorded.snapshot, addresses);
  if (missing.length === 0 && lines.length > 0) return;
  const [why, hint] =
    lines.length === 0
      ? [`, and no address of the set tells whether that was brought back`, idleHint]
      : [`: it lacks ${missing.length} of ${lines.length} addresses`, lostHint];
  const message = `${recorded.name} is not the record that this stack used before${why}`;
  throw new IpamError("stale", [{ path: ["state"], message, hint }]);
}

/** What a record does not have of a set's addresses, live or releasing: for the same claims, or for what those are called now. */
export function missingIn(
  { allocations, releasing }: Snapshot,
  addresses: Addresses,
  moved: readonly Moved[] = [],
): Entry[] {
  const lines = [...allocations, ...releasing];
  const there = new Set(lines.map((line) => lineText(line.pool, line.claim, formatAddress(line.address))));
  const renames = new Renames(moved);
  return entriesOf(addresses).filter(
    ({ pool, claim, address }) => !renames.after(claim).some((name) => there.has(lineText(pool, name, address))),
  );
}

function lineText(pool: string, claim: string, address: string): string {
  return `${identityOf({ pool, claim })} ${address}`;
}

const lostHint =
  "Is it the right cluster? A record that was lost must be brought back first, from a backup or with nodeippool import. Only where it is gone for good, write the addresses into the claims and pulumi state delete the set.";
const idleHint =
  "Is it the right cluster? Only where it is, and the record was brought back, or is gone for good with nobody else's addresses in it, pulumi state delete each set that was in it and has no address: the next pulumi up goes on with what is there.";

/** Where a record says that it has moved to; undefined for every other error. */
export function movedTo(error: unknown): "cluster" | "file" | undefined {
  const remedies = error instanceof IpamError ? error.issues.map(({ remedy }) => remedy) : [];
  return remedies.find((remedy) => remedy?.[0] === "moved")?.[1];
}
