import { describeChanges, IpamError, type Plan, remedyText, type Snapshot, shortened } from "../core/index.ts";
import { lockfile, type StateBackend, withOffers } from "../state/index.ts";

/** A record at the moment it was loaded. */
export interface LoadedState {
  readonly name: string;
  readonly snapshot: Snapshot;
  /** Of a record in a cluster: what it was opened with. */
  readonly where?: StateBackend["where"];
}

/** Loads a record that cannot be read while constructs are made: `await loadState(backend)` before `new App()`. */
export async function loadState(backend: StateBackend): Promise<LoadedState> {
  return { name: backend.name, snapshot: await backend.read(), where: backend.where };
}

/** The record of one app, read once; and what to do, beside the app, about what it lacks. */
export class AppRecord {
  private readonly lock: string | undefined;
  private readonly state: LoadedState | undefined;
  private loaded: LoadedState | undefined;

  constructor({ lock, state }: { readonly lock?: string; readonly state?: LoadedState } = {}) {
    this.lock = lock;
    this.state = state;
  }

  read(): LoadedState {
    const { lock = "nodeippool.lock" } = this;
    this.loaded ??= this.state ?? { name: lock, snapshot: lockfile(lock).readSync() };
    return this.loaded;
  }

  /** The record as it will be once `nodeippool allocate -- COMMAND` has what this run has offered it. */
  offered(): Snapshot {
    const { name, snapshot } = this.read();
    return withOffers(snapshot, name);
  }

  /** Throws `stale` with what the record lacks of a plan of this set. */
  refuseDrift(proposed: Plan, set: string): never {
    const { name } = this.read();
    const isKnown = this.offered().allocations.some((line) => line.set === set);
    const what = isKnown ? `${name} is not up to date with the app:` : `the app is not recorded in ${name}:`;
    throw new IpamError("stale", [what, ...shortened(describeChanges(proposed))].join("\n    "), {
      hint: this.remedy,
    });
  }

  private get remedy(): string {
    if (this.isUnknown)
      return "Commit AddressPlan.of(app).plan() to that backend: it is none that the command line knows.";
    const afterwards = this.state === undefined ? "review the record, and commit it" : "and synthesise anew";
    return `Run ${remedyText(["record"], "cdk8s")}, ${afterwards}.`;
  }

  /** It is in a backend that the command line does not know. */
  private get isUnknown(): boolean {
    return this.state !== undefined && this.state.where === undefined;
  }
}
