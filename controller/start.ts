import { emptySnapshot } from "../core/index.ts";
import type { ClusterApiVersion } from "../integrations/cluster-api.ts";
import { nameOfKind } from "../integrations/object-key.ts";
import { type Access, objectsOf, realClock, type Sent, transport, type WatchState, watch } from "../kube/index.ts";
import { integrationsInCluster } from "../pipeline/integrations.ts";
import { kubernetes } from "../state/kubernetes/backend.ts";
import { Engine } from "./engine.ts";
import { EventWriter } from "./event-writer.ts";
import type { LogEvent } from "./ground.ts";
import { kindsOf } from "./kinds.ts";
import { type Counted, counting, type Metrics, metricsOf } from "./metrics.ts";
import { keep, type Seen } from "./seen.ts";
import { type ListenAt, serve } from "./server.ts";
import { type Timing, timing as usual } from "./timing.ts";
import type { WorldKind } from "./world.ts";

/** How the controller runs. */
export interface ControllerOptions {
  readonly access: Access;
  /** Where the record is. */
  readonly namespace?: string | undefined;
  /** Where health and metrics are asked for, and the version they say; without it, nowhere. */
  readonly server?: { readonly at: ListenAt; readonly version: string } | undefined;
  /** Serve Cluster API's claims, too, at this version of its groups. */
  readonly clusterApi?: ClusterApiVersion | undefined;
  /** Serve the bare-metal hosts of this namespace, too. */
  readonly metal3?: string | undefined;
  /** Serve networks with node slices, too: their NodeSlicePools are in this namespace. */
  readonly nodeSlices?: string | undefined;
  /** Serve IPAMClaims, too, on networks that take addresses from NodeIPPools. */
  readonly ipamClaims?: boolean | undefined;
  /** Instead of the usual one. */
  readonly timing?: Timing;
  readonly signal: AbortSignal;
  readonly log: (event: LogEvent) => void;
}

type States = Map<string, WatchState>;

/** Runs the controller until the signal aborts. What is in flight then is waited for, but not for long. */
export async function runController(options: ControllerOptions): Promise<void> {
  const { access, namespace, server, timing = usual, signal, log } = options;
  const integrations = integrationsInCluster(options);
  const kinds = kindsOf(integrations);
  const states: States = new Map(kinds.map((kind) => [nameOfKind(kind), "listing"]));
  const metrics = server && metricsOf(() => counted(engine, states), server.version);
  const told: Sent = (verb, status) => metrics?.sent(verb, status);
  // The queue tries again, with what is right by then.
  const objects = objectsOf(access, { budget: 0, server: transport(access, timing.request, told) });
  const recorded = objectsOf(access, { server: transport(access, 3 * timing.request, told) });
  const source = transport(access, 30_000, told);
  const ground = { objects, clock: realClock, timing, today: () => new Date(), log };
  const engine: Engine = new Engine({
    ...ground,
    state: counting(kubernetes(recorded, namespace), (error) => metrics?.committed(error)),
    integrations,
    random: Math.random,
    observer: {
      ran: (key, ms, error) => {
        log({ level: "debug", message: "ran", key, ms: Math.round(ms) });
        metrics?.ran(key.replace(/ .*/s, ""), ms, error);
      },
      recorded: (given, freed) => events.recorded(given, freed),
      wrong: (about, problem, message) => events.wrong(about, problem, message),
    },
  });
  const events = new EventWriter(ground, engine.world, engine.allocator, signal);
  const open = server && metrics && (await listen(server.at, engine, states, signal, metrics));
  const watches = kinds.map((kind) => {
    const selection = { ...kind.where, resource: kind, project: (object: object) => keep(kind, object) };
    const running = { signal, clock: realClock, random: Math.random };
    return watch(source, selection, sinkOf(engine, kind, states, options), running);
  });
  log({ level: "info", message: "started", server: objects.name, namespace, port: open?.port });
  await lookNowAndThen(engine, timing.again, signal);
  const isDone = await within(timing.stop, Promise.all([...watches, engine.queue.close()]));
  log({ level: isDone ? "info" : "warn", message: isDone ? "stopped" : "stopped before all was done" });
  for (const one of [open, source, objects, recorded]) one?.close();
}

async function lookNowAndThen(engine: Engine, ms: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await realClock.sleep(ms, signal);
    if (!signal.aborted) engine.lookAgain();
  }
}

function listen(at: ListenAt, engine: Engine, watches: States, signal: AbortSignal, metrics: Metrics) {
  return serve(at, {
    vitals: () => ({
      watches,
      hasDecided: engine.hasDecided,
      oldest: engine.queue.oldest(),
      isStopping: signal.aborted,
    }),
    metrics: () => metrics.print(),
  });
}

function counted({ allocator, queue }: Engine, watches: States): Counted {
  return {
    pools: [...allocator.pools.values()].flatMap(({ pool, whole }) => pool ?? whole ?? []),
    snapshot: allocator.record.latest ?? emptySnapshot,
    pending: [...allocator.pending.values()].flat(),
    queue: { length: queue.length(), oldest: queue.oldest() },
    watches,
  };
}

/** Was that done in so many milliseconds? */
async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const done = new AbortController();
  await Promise.race([work.finally(() => done.abort()), realClock.sleep(ms, done.signal)]);
  return done.signal.aborted;
}

/** What a watch tells goes into the world. Once all are known, that is acted upon. */
function sinkOf(
  engine: Engine,
  watched: WorldKind,
  states: States,
  { log, timing: { fresh } = usual, signal }: ControllerOptions,
) {
  const { world } = engine;
  const kind = nameOfKind(watched);
  const follow = async (state: WatchState) => {
    // What was missed comes after the watch is open again.
    if (state === "synced") await realClock.sleep(fresh, signal);
    if (states.get(kind) === state) world.follow(kind, state === "synced");
  };
  return {
    replace: (all: Map<string, Seen>) => world.replace(kind, [...all.values()]),
    set: (_: string, object: Seen) => world.set(object),
    delete: (key: string) => world.delete(`${kind}/${key.replace("/", ":")}`),
    state: (state: WatchState, error?: unknown) => {
      states.set(kind, state);
      follow(state);
      if (state === "failing") log({ level: "warn", message: "a watch fails", kind, error });
      else log({ level: "info", message: `a watch is ${state}`, kind });
      if ([...states.values()].every((one) => one === "synced" || one === "absent")) engine.open();
    },
  };
}
