import { nameOfKind } from "../integrations/object-key.ts";
import { realClock, type transport, type WatchState, watch } from "../kube/index.ts";
import type { Engine } from "./engine.ts";
import type { Ground } from "./ground.ts";
import { mergedKinds } from "./kinds.ts";
import { keep, type Seen } from "./seen.ts";
import type { WorldKind } from "./world.ts";

/** What looks at the world, and acts upon it: the engine, and each tender. */
export type Looking = Pick<Engine, "world" | "queue" | "open" | "lookAgain">;

interface Watching extends Pick<Ground, "log" | "timing"> {
  readonly signal: AbortSignal;
}

type States = Map<string, WatchState>;

/** The watches of all kinds that they look at, each once. They begin with `run`, and end when the signal aborts. */
export function watchesOf(source: ReturnType<typeof transport>, looking: readonly Looking[], watching: Watching) {
  const kinds = mergedKinds(looking.flatMap(({ world }) => world.allKinds()));
  const states: States = new Map(kinds.map((kind) => [nameOfKind(kind), "listing"]));
  const running = { signal: watching.signal, clock: realClock, random: Math.random };
  const run = () =>
    kinds.map((kind) => {
      const selection = { ...kind.where, resource: kind, project: (object: object) => keep(kind, object) };
      return watch(source, selection, sinkOf(looking, kind, states, watching), running);
    });
  return { states, run };
}

/** What a watch tells goes into the world. Once all are known, that is acted upon. */
function sinkOf(looking: readonly Looking[], watched: WorldKind, states: States, { log, timing, signal }: Watching) {
  const kind = nameOfKind(watched);
  const worlds = looking.map(({ world }) => world).filter((world) => world.hasKind(kind));
  const isKnown = (one: WorldKind) => ["synced", "absent"].includes(`${states.get(nameOfKind(one))}`);
  const follow = async (state: WatchState) => {
    // What was missed comes after the watch is open again.
    if (state === "synced") await realClock.sleep(timing.fresh, signal);
    if (states.get(kind) === state) for (const world of worlds) world.follow(kind, state === "synced");
  };
  return {
    replace: (all: Map<string, Seen>) => {
      for (const world of worlds) world.replace(kind, [...all.values()]);
    },
    set: (_: string, object: Seen) => {
      for (const world of worlds) world.set(object);
    },
    delete: (key: string) => {
      for (const world of worlds) world.delete(`${kind}/${key.replace("/", ":")}`);
    },
    state: (state: WatchState, error?: unknown) => {
      states.set(kind, state);
      follow(state);
      if (state === "failing") log({ level: "warn", message: "a watch fails", kind, error });
      else log({ level: "info", message: `a watch is ${state}`, kind });
      for (const one of looking) if (one.world.allKinds().every(isKnown)) one.open();
    },
  };
}
