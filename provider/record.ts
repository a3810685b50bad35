import { formatAddress, identityOf } from "../core/index.ts";
import { lockfile, withOffers } from "../state/index.ts";
import { recordOfLock } from "../state/offer.ts";
import { readCluster } from "./cluster-record.ts";
import { type Recorded, refuseOther } from "./recorded.ts";
import { type Addresses, present, type SetInputs, type SetState, type StateArgs } from "./set-state.ts";
import { stackRecord } from "./stack-record.ts";

/** What the record of a set holds now. */
export async function readRecord({ state, previous, pools, set }: SetInputs): Promise<Recorded> {
  return state.backend === "stack"
    ? { name: "the stack", snapshot: stackRecord(previous, pools, set) }
    : readOffered(state);
}

type SharedArgs = Exclude<StateArgs, { readonly backend: "stack" }>;

/** A record that others share, as it is written now. The path of a lockfile is relative to the program's folder. */
export async function readShared(state: SharedArgs): Promise<Recorded> {
  return state.backend === "kubernetes"
    ? readCluster(state)
    : { name: state.path, snapshot: lockfile(state.path).readSync() };
}

/** The same, but a lockfile as a run of `nodeippool allocate -- COMMAND` will leave it. */
async function readOffered(state: SharedArgs): Promise<Recorded> {
  if (state.backend === "kubernetes") return readShared(state);
  const { path } = state;
  return {
    name: path,
    // Read when it is asked for: the plan that is made of it is offered before another set of this process reads.
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
  const now = new Map(lines.map((line) => [identityOf(line), formatAddress(line.address)]));
  const addresses = mapped(held.addresses, (pool, claim) => now.get(identityOf({ pool, claim })));
  return { ...held, addresses, ...present({ record: recorded.identity }) };
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
