import { emptySnapshot } from "../../core/index.ts";
import { objectKey } from "../../integrations/contract/object-key.ts";
import type { AskedInCluster, System } from "../../integrations/contract/system.ts";
import { type Access, fullList, objectsOf, realClock, type Sent, transport } from "../../kube/index.ts";
import { integrationsInCluster, reconcilersInCluster } from "../../pipeline/integrations.ts";
import { poolConflictsOf } from "../../schema/pool-conflicts.ts";
import { kubernetes } from "../../state/kubernetes/backend.ts";
import { Cache } from "../cache/cache.ts";
import { kindsOf, kindsOfReconciler } from "../cache/kinds.ts";
import type { Seen } from "../cache/seen.ts";
import type { Dependencies, LogEvent, Observer } from "../dependencies.ts";
import { logChange } from "../log.ts";
import { ReconcileLoop } from "../reconcile/reconcile-loop.ts";
import { type Timing, timing as usual } from "../timing.ts";
import { tellContest, tellRefused } from "../write/contest.ts";
import { EventWriter } from "../write/event-writer.ts";
import { limitWrites } from "../write/write-limit.ts";
import { Engine } from "./engine.ts";
import { type Counted, counting, type Metrics, metricsOf } from "./metrics.ts";
import { type ListenAt, serve } from "./server.ts";
import { type KeysOf, sweep } from "./sweep.ts";
import { type Loop, watchesOf } from "./watches.ts";
import { tellWrongKeys } from "./wrong-keys.ts";

/** How the controller runs. */
export interface ControllerOptions extends AskedInCluster {
  readonly access: Access;
  /** Where the record is. */
  readonly namespace?: string | undefined;
  /** Where health and metrics are asked for, and the version they say; without it, nowhere. */
  readonly server?: { readonly at: ListenAt; readonly version: string } | undefined;
  /** Instead of the usual one. */
  readonly timing?: Timing;
  /** Foreign systems beside those that nodeippool knows. */
  readonly systems?: readonly System[];
  readonly signal: AbortSignal;
  readonly log: (event: LogEvent) => void;
}

/** Runs the controller until the signal aborts. What is in flight then is waited for, but not for long. */
export async function runController(options: ControllerOptions): Promise<void> {
  const { access, namespace, server, timing = usual, systems, signal, log } = options;
  const metrics = server && metricsOf(() => counted(engine, watches.states), server.version);
  const told: Sent = (verb, status) => metrics?.sent(verb, status);
  // The queue tries again, with what is right by then.
  const unlimited = objectsOf(access, { budget: 0, server: transport(access, timing.request, told) });
  const recorded = objectsOf(access, { server: transport(access, 3 * timing.request, told) });
  const source = transport(access, 30_000, told);
  const observer = observerOf(log, metrics, () => events);
  const reconcilers = reconcilersInCluster(options, systems);
  const integrations = integrationsInCluster(options, systems);
  const cache = new Cache([...kindsOf(integrations), ...reconcilers.flatMap(kindsOfReconciler)]);
  const worlds = () => loops.map(({ world }) => world);
  const objects = limitWrites(unlimited, realClock, tellContest(worlds, observer), tellRefused(worlds, observer));
  const deps = { cache, objects, clock: realClock, random: Math.random, timing, today: () => new Date(), log };
  const engine: Engine = new Engine({
    ...{ ...deps, observer },
    state: counting({ ...kubernetes(recorded, namespace, { goesOn: true }), where: { namespace } }, (error) =>
      metrics?.committed(error),
    ),
    integrations,
  });
  const loops = [engine, ...reconcilers.map((one) => new ReconcileLoop({ ...deps, observer }, one))];
  const events = new EventWriter({ ...deps, objects: unlimited }, (key) => cache.get(key), engine.allocator, signal);
  const shown = (object: Seen) => tellWrongKeys(object, observer);
  const watches = watchesOf(source, cache, loops, { log, timing, signal, shown });
  const vitals = () => vitalsOf(engine, loops, watches.states, signal);
  const open = server && metrics && (await serve(server.at, { vitals, metrics: () => metrics.print() }));
  const running = watches.run();
  log({ level: "info", message: "started", server: objects.name, namespace, port: open?.port });
  await resyncEvery(loops, () => sweepBy(source, cache, { log, signal }), timing.again, signal);
  const isDone = await within(timing.stop, Promise.all([...running, ...loops.map(({ queue }) => queue.close())]));
  log({ level: isDone ? "info" : "warn", message: isDone ? "stopped" : "stopped before all was done" });
  for (const one of [open, source, objects, recorded]) one?.close();
}

/** Returns what logs and counts what was done, and writes Events about it. */
function observerOf(log: Dependencies["log"], metrics: Metrics | undefined, events: () => EventWriter): Observer {
  return {
    ran: (key, ms, error) => {
      log({ level: "debug", message: "ran", key, ms: Math.round(ms) });
      metrics?.ran(key.replace(/ .*/s, ""), ms, error);
    },
    recorded: (change) => {
      logChange(change, log);
      events().recorded(change);
    },
    wrong: (...said) => events().wrong(...said),
  };
}

function vitalsOf(engine: Engine, loops: readonly Loop[], watches: Counted["watches"], signal: AbortSignal) {
  const stuckFor = Math.max(...loops.map(({ queue }) => queue.stuckFor()));
  return { watches, hasDecided: engine.hasDecided, stuckFor, isStopping: signal.aborted };
}

/** Before everything is looked at, it is found out what is gone. */
async function resyncEvery(
  loops: readonly Loop[],
  sweeping: () => Promise<void>,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await realClock.sleep(ms, signal);
    if (!signal.aborted) await sweeping();
    for (const one of signal.aborted ? [] : loops) one.resync();
  }
}

async function sweepBy(
  source: ReturnType<typeof transport>,
  cache: Cache,
  { log, signal }: Pick<ControllerOptions, "log" | "signal">,
): Promise<void> {
  const reading = { signal, clock: realClock, idle: 30_000 };
  const keysOf: KeysOf = async (resource, where) => {
    const project = (object: object) => objectKey({ ...resource, ...object } as never);
    const { all } = await fullList(source, { ...where, resource, project }, reading);
    return new Set(all.values());
  };
  await sweep(cache, keysOf).catch((error) => {
    if (!signal.aborted) log({ level: "warn", message: "what is gone cannot be found out", error });
  });
}

function counted({ allocator, queue }: Engine, watches: Counted["watches"]): Counted {
  return {
    pools: [...allocator.pools.values()].flatMap(({ pool, whole }) => pool ?? whole ?? []),
    conflicts: new Map([...allocator.pools].map(([name, { object }]) => [name, poolConflictsOf(object)])),
    snapshot: allocator.record.latest ?? emptySnapshot,
    pending: [...allocator.pending.values()].flat(),
    queue: { length: queue.length(), oldest: queue.oldest() },
    watches,
  };
}

/** Returns whether a promise was fulfilled within so many milliseconds. */
async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const done = new AbortController();
  await Promise.race([work.finally(() => done.abort()), realClock.sleep(ms, done.signal)]);
  return done.signal.aborted;
}
