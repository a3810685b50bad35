import type { Registry } from "prom-client";
import { IpamError, type Pending, type Pool, type Snapshot } from "../../core/index.ts";
import type { WatchState } from "../../kube/index.ts";
import type { PoolConflicts } from "../../schema/pool-conflicts.ts";
import type { StateBackend } from "../../state/backend.ts";
import { freeIn } from "../reconcile/pool-status.ts";

/** What is counted when somebody asks. */
export interface Counted {
  readonly pools: readonly Pool[];
  /** The addresses of pools, by their names, that other hosts have. */
  readonly conflicts: ReadonlyMap<string, PoolConflicts>;
  readonly snapshot: Snapshot;
  readonly pending: readonly Pending[];
  readonly queue: { readonly length: number; readonly oldest: number };
  readonly watches: ReadonlyMap<string, WatchState>;
}

/** What is counted as it happens. */
export interface Metrics {
  ran(verb: string, ms: number, error?: unknown): void;
  /** A request was answered with this status; 0 without an answer. */
  sent(verb: string, status: number): void;
  committed(error?: unknown): void;
  print(): Promise<{ readonly type: string; readonly text: string }>;
}

const states: readonly WatchState[] = ["listing", "synced", "absent", "failing"];

/**
 * The metrics of the controller; docs/observe.md lists them. Their library is loaded once a request was answered, or
 * somebody asks: the first request does not wait for it.
 */
export function metricsOf(count: () => Counted, version: string): Metrics {
  let loading: Promise<Metrics> | undefined;
  const loaded = () => {
    loading ??= load(count, version);
    return loading;
  };
  return {
    ran: (verb, ms, error) => void loaded().then((one) => one.ran(verb, ms, error)),
    sent: (verb, status) => void loaded().then((one) => one.sent(verb, status)),
    committed: (error) => void loaded().then((one) => one.committed(error)),
    print: async () => (await loaded()).print(),
  };
}

async function load(count: () => Counted, version: string): Promise<Metrics> {
  const library = await import("prom-client");
  const registry = new library.Registry();
  const { Counter, Gauge, Histogram } = library;
  new Gauge(named(registry, "build_info", "The version of nodeippool and of Node.", ["version", "node"]))
    .labels(version, process.versions.node)
    .set(1);
  const collect = gauges(library, registry);
  const runs = new Counter(named(registry, "runs_total", "Runs of a verb of the queue.", ["verb", "result"]));
  const duration = named(registry, "run_duration_seconds", "How long a run takes.", ["verb"]);
  const time = new Histogram({ ...duration, buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10] });
  const requests = new Counter(named(registry, "api_requests_total", "Requests to the API server.", ["verb", "code"]));
  const commits = new Counter(named(registry, "commits_total", "Writes of the record.", ["result"]));
  return {
    ran: (verb, ms, error) => {
      runs.inc({ verb, result: resultOf(error) });
      time.observe({ verb }, ms / 1000);
    },
    sent: (verb, status) => requests.inc({ verb, code: status === 0 ? "none" : `${status}` }),
    committed: (error) => commits.inc({ result: resultOf(error) }),
    print: async () => {
      collect(count());
      return { type: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** What is read off the state of the controller when somebody asks. */
function gauges({ Gauge }: typeof import("prom-client"), registry: Registry): (counted: Counted) => void {
  const gauge = (name: string, help: string, labels?: string[]) => new Gauge(named(registry, name, help, labels));
  const addresses = gauge("pool_addresses", "Addresses, or blocks, of a pool.", ["pool", "state"]);
  const pending = gauge("pool_pending_claims", "Claims that get nothing from a pool.", ["pool"]);
  const keys = gauge("queue_keys", "Keys that wait.");
  const oldest = gauge("queue_oldest_age_seconds", "For how long the oldest key has been waiting.");
  const watches = gauge("watch_state", "1 for the state that the watch of a kind is in.", ["kind", "state"]);
  return ({ pools, conflicts, snapshot, pending: waiting, queue, watches: seen }) => {
    const ofPool = ({ pool }: { readonly pool: string }) => pool;
    const live = Map.groupBy(snapshot.allocations, ofPool);
    const leaving = Map.groupBy(snapshot.releasing, ofPool);
    const unserved = Map.groupBy(waiting, ofPool);
    addresses.reset();
    pending.reset();
    for (const pool of pools) {
      const { name } = pool;
      const lines = [live.get(name) ?? [], leaving.get(name) ?? []] as const;
      addresses.set({ pool: name, state: "allocated" }, lines[0].length);
      addresses.set({ pool: name, state: "releasing" }, lines[1].length);
      addresses.set({ pool: name, state: "free" }, Number(freeIn(pool, lines.flat(), conflicts.get(name)).free));
      pending.set({ pool: name }, unserved.get(name)?.length ?? 0);
    }
    keys.set(queue.length);
    oldest.set(queue.oldest / 1000);
    for (const [kind, now] of seen) for (const state of states) watches.set({ kind, state }, state === now ? 1 : 0);
  };
}

function named(registry: Registry, name: string, help: string, labelNames: string[] = []) {
  return { name: `nodeippool_${name}`, help, labelNames, registers: [registry] };
}

/** Tells of each write of a record. */
export function counting(state: StateBackend, committed: (error?: unknown) => void): StateBackend {
  return {
    name: state.name,
    ...(state.where && { where: state.where }),
    read: () => state.read(),
    commit: async (plan) => {
      try {
        const after = await state.commit(plan);
        committed();
        return after;
      } catch (error) {
        committed(error);
        throw error;
      }
    },
  };
}

function resultOf(error: unknown): string {
  return error === undefined ? "ok" : error instanceof IpamError ? error.code : "bug";
}
