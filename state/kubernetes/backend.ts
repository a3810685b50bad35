import { IpamError, type Plan, type Snapshot } from "../../core/index.ts";
import { type Objects, refusalOf, retry } from "../../kube/index.ts";
import { applyPlan, issuesAfterWrite } from "../apply.ts";
import type { KnownBackend } from "../backend.ts";
import { refusalOfMark } from "../mark.ts";
import { type Held, isLost, Store } from "./store.ts";

interface KubernetesLimits {
  /** How long a commit goes on against others who write the same objects, in milliseconds. */
  readonly budget?: number;
  /**
   * Go on where a part of the record cannot be read or written: the snapshot names its subnet (`unreadable`, `full`), and has
   * its lines as they were read last. A commit that fails because of such a part succeeds without the pools that are named then.
   * For a caller that reads often and allocates nothing from these pools; every other caller gets the error.
   */
  readonly goesOn?: boolean;
}

/**
 * A state backend in ConfigMaps of one namespace of a vanilla cluster, one for each subnet (see `split`) and an index of
 * them. A commit replaces those that it touches, each only at the version that was read, so a commit that touches one
 * pool is atomic. Of a commit over several subnets some may be there after a crash; a repeat finds them as kept.
 *
 * Without a namespace it is that of the context, but there no record begins: `stale`.
 *
 * Needs the rights to list, create and update ConfigMaps there.
 */
export function kubernetes(
  objects: Objects,
  namespace?: string,
  { budget = 30_000, goesOn = false }: KubernetesLimits = {},
): KnownBackend {
  const store = new Store(objects, namespace, goesOn);
  let last: Held | undefined;
  return {
    name: store.name,
    async read() {
      last = await loadUnmarked(store);
      return last.snapshot;
    },
    async identity() {
      return (last ?? (await store.load())).indexUid;
    },
    async hasTaken(move) {
      return (last ?? (await store.load())).index.arrived.includes(move);
    },
    async writtenAt() {
      const { maps } = last ?? (await store.load());
      const times = [...maps.values()].flatMap(({ metadata }) => metadata.managedFields ?? []);
      const latest = Math.max(...times.map(({ time = "" }) => Date.parse(time)).filter(Number.isFinite));
      return Number.isFinite(latest) ? new Date(latest) : undefined;
    },
    commit(plan) {
      const seen = last;
      last = undefined;
      return new Commit(store, plan).run(budget, seen);
    },
  };
}

async function loadUnmarked(store: Store): Promise<Held> {
  const held = await store.load();
  if (held.index.mark !== undefined) throw refusalOfMark(held.index.mark, store.name, "file");
  return held;
}

/**
 * Another writer of the same object is no conflict by itself: what counts is whether the pools of the plan are still
 * as planned against, which `applyPlan` says of what is there now. The same goes for a write whose answer was lost.
 */
class Commit {
  private readonly store: Store;
  private readonly plan: Plan;
  /** Pools that were or may have been written. */
  private readonly begun = new Set<string>();
  /** Why nobody knows whether the last write went through, if that is so. */
  private unsure: IpamError | undefined;

  constructor(store: Store, plan: Plan) {
    this.store = store;
    this.plan = plan;
  }

  async run(budget: number, seen?: Held): Promise<Snapshot> {
    const after = seen === undefined ? undefined : await this.guess(seen);
    if (after !== undefined) return after;
    try {
      return await retry(
        () => this.attempt(),
        (error) => (isContended(error) || isLost(error) ? 0 : undefined),
        { budget, first: 20, longest: 1_000 },
      );
    } catch (error) {
      if (!isContended(error)) throw error;
      throw new IpamError("unavailable", `${this.store.name} changes faster than it can be written`, { cause: error });
    }
  }

  /**
   * Writes on top of what was read for the plan: what is there no more at the server is not replaced, so nothing need
   * be read again. Undefined if anything at all is in the way: then only the record as it is now can say what is true.
   */
  private async guess(seen: Held): Promise<Snapshot | undefined> {
    try {
      const next = applyPlan(seen.snapshot, this.plan);
      return next && (await this.write(seen, next, true));
    } catch (error) {
      if (error instanceof IpamError) return undefined;
      throw error;
    }
  }

  private async attempt(): Promise<Snapshot> {
    const held = await loadUnmarked(this.store).catch((error) => {
      throw (isUnavailable(error) ? this.unsure : undefined) ?? error;
    });
    const next = this.apply(held.snapshot);
    return next === undefined ? held.snapshot : this.write(held, next);
  }

  private async write(held: Held, next: Snapshot, isPlannedOn = false): Promise<Snapshot> {
    try {
      const written = (pools: Iterable<string>) => {
        for (const pool of pools) this.begun.add(pool);
      };
      await this.store.replace(held, next, { written, isPlannedOn });
      const { unreadable, full } = held.snapshot;
      return { ...next, ...(unreadable && { unreadable }), ...(full && { full }) };
    } catch (error) {
      this.unsure = isLost(error) ? error : undefined;
      throw error;
    }
  }

  /** `applyPlan`, which knows nothing of what this commit has written before. */
  private apply(now: Snapshot): Snapshot | undefined {
    try {
      return applyPlan(now, this.plan);
    } catch (error) {
      if (!(error instanceof IpamError) || this.begun.size === 0) throw error;
      const pools = [...this.begun].sort().join(", ");
      const message = `what the plan says of pool ${pools} was or may have been written before that`;
      throw new IpamError(error.code, [
        ...issuesAfterWrite(error),
        { message, hint: "Whatever stands there is kept by the next plan." },
      ]);
    }
  }
}

/** Returns whether the server refused a write because another one came first. */
function isContended(error: unknown): boolean {
  return error instanceof IpamError && error.code === "conflict" && refusalOf(error) !== undefined;
}

function isUnavailable(error: unknown): boolean {
  return error instanceof IpamError && error.code === "unavailable";
}
