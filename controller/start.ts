import { nmstate } from "../integrations/nmstate/index.ts";
import { type Access, type Clock, objectsOf, realClock, transport, type WatchState, watch } from "../kube/index.ts";
import { kubernetes } from "../state/kubernetes/backend.ts";
import { Engine } from "./engine.ts";
import type { LogEvent } from "./ground.ts";
import { kindsOf } from "./kinds.ts";
import { keep, type Seen } from "./seen.ts";
import { timing } from "./timing.ts";
import type { WorldKind } from "./world.ts";

/** How the controller runs. */
export interface ControllerOptions {
  readonly access: Access;
  /** Where the record is. */
  readonly namespace?: string | undefined;
  readonly signal: AbortSignal;
  readonly log: (event: LogEvent) => void;
}

/** Every foreign system that the controller serves. */
const integrations = [nmstate];

/** Runs the controller until the signal aborts. What is in flight then is waited for. */
export async function runController({ access, namespace, signal, log }: ControllerOptions): Promise<void> {
  // The queue tries again, with what is right by then.
  const objects = objectsOf(access, { budget: 0, timeout: timing.request });
  const source = transport(access, 30_000);
  const clock: Clock = realClock;
  const engine = new Engine({
    objects,
    state: kubernetes(objectsOf(access), namespace),
    integrations,
    clock,
    random: Math.random,
    today: () => new Date(),
    log,
  });
  const known = new Set<string>();
  const kinds = kindsOf(integrations);
  const watches = kinds.map((kind) => {
    const follow = (state: WatchState) => {
      if (state !== "synced" && state !== "absent") return;
      known.add(kind.kind);
      if (known.size === kinds.length) engine.open();
    };
    const selection = { resource: kind, project: (object: object) => keep(kind, object) };
    return watch(source, selection, sinkOf(engine, kind, follow, log), { signal, clock, random: Math.random });
  });
  while (!signal.aborted) {
    await clock.sleep(timing.again, signal);
    if (!signal.aborted) engine.lookAgain();
  }
  await Promise.all(watches);
  await engine.queue.close();
  source.close();
  objects.close();
}

/** What a watch tells goes into the world. */
function sinkOf(
  { world }: Engine,
  { kind }: WorldKind,
  follow: (state: WatchState) => void,
  log: ControllerOptions["log"],
) {
  return {
    replace: (all: Map<string, Seen>) => world.replace(kind, [...all.values()]),
    set: (_: string, object: Seen) => world.set(object),
    delete: (key: string) => world.delete(kind, `${kind}/${key.replace("/", ":")}`),
    state: (state: WatchState, error?: unknown) => {
      if (state === "failing") log({ level: "warn", message: "a watch fails", kind, error: `${error}` });
      follow(state);
    },
  };
}
