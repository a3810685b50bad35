import { formatAddress, identityOf, type Snapshot } from "../core/index.ts";
import { lockfile, withOffers } from "../state/index.ts";
import { type Addresses, present, type SetState } from "./set-state.ts";

/** A lockfile, as a run of `nodeippool allocate -- COMMAND` will leave it. The path is relative to the program's folder. */
export function readLock(path: string): Snapshot {
  return withOffers(lockfile(path).readSync(), path);
}

/** A state with the addresses that the record has now for what the state holds. */
export function asRecorded(held: SetState): SetState {
  const { state, set } = held;
  if (state.backend === "stack") return held;
  const recorded = readLock(state.path).allocations.filter((line) => line.set === set);
  const now = new Map(recorded.map((line) => [identityOf(line), formatAddress(line.address)]));
  return { ...held, addresses: mapped(held.addresses, (pool, claim) => now.get(identityOf({ pool, claim }))) };
}

/** The addresses that `find` knows. */
function mapped(addresses: Addresses, find: (pool: string, claim: string) => string | undefined): Addresses {
  return Object.fromEntries(
    Object.entries(addresses).map(([pool, claims]) => [
      pool,
      present(Object.fromEntries(Object.keys(claims).map((claim) => [claim, find(pool, claim)]))) as Addresses[string],
    ]),
  );
}
