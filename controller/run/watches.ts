import { nameOfKind } from "../../integrations/object-key.ts";
import { realClock, type transport, type WatchState, watch } from "../../kube/index.ts";
import { mergedKinds } from "../cache/kinds.ts";
import { keep, type Seen } from "../cache/seen.ts";
import { Selections } from "../cache/selections.ts";
import { selectionsOf, type WorldKind } from "../cache/world.ts";
import type { Ground } from "../ground.ts";
import type { Engine } from "./engine.ts";

/** What looks at the world, and acts upon it: the engine, and each tender. */
export type Looking = Pick<Engine, "world" | "queue" | "open" | "lookAgain">;

interface Watching extends Pick<Ground, "log" | "timing"> {
  readonly signal: AbortSignal;
  /** Called with each object that a watch shows, as it is kept. */
  readonly shown: (object: Seen) => void;
}

type States = Map<string, WatchState>;

/** The watches of all kinds that they look at, each once. They begin with `run`, and end when the signal aborts. */
export function watchesOf(source: ReturnType<typeof transport>, looking: readonly Looking[], watching: Watching) {
  const kinds = mergedKinds(looking.flatMap(({ world }) => world.allKinds()));
  const states: States = new Map(kinds.flatMap((kind) => watchNames(kind).map((name) => [name, "listing"])));
  const running = { signal: watching.signal, clock: realClock, random: Math.random };
  const run = () =>
    kinds.flatMap((kind) => {
      const joined = new Selections(selectionsOf(kind).length, worldsOf(looking, kind));
      return selectionsOf(kind).map((where, i) => {
        const selection = { ...where, resource: kind, project: (object: object) => keep(kind, object) };
        return watch(source, selection, sinkOf(looking, kind, i, joined, states, watching), running);
      });
    });
  return { states, run };
}

/** Returns the name of each watch of a kind: that of the kind, and where there are several, what each selects. */
export function watchNames(kind: WorldKind): string[] {
  const all = selectionsOf(kind);
  return all.map((where) => (all.length === 1 ? nameOfKind(kind) : `${nameOfKind(kind)} ${selected(where)}`));
}

/** Such as `metal3/metadata.name=nodeippool-infra`. */
function selected({ namespace, labels, fields }: ReturnType<typeof selectionsOf>[number]): string {
  const selectors = [labels, fields].filter((one) => one !== undefined).join(",");
  return [namespace, selectors === "" ? undefined : selectors].filter((one) => one !== undefined).join("/");
}

/** Whoever looks at a kind, together. */
function worldsOf(looking: readonly Looking[], watched: WorldKind) {
  const kind = nameOfKind(watched);
  const worlds = looking.map(({ world }) => world).filter((world) => world.hasKind(kind));
  return {
    replace: (all: readonly Seen[]) => {
      for (const world of worlds) world.replace(kind, all);
    },
    set: (object: Seen) => {
      for (const world of worlds) world.set(object);
    },
    delete: (key: string) => {
      for (const world of worlds) world.delete(key);
    },
    follow: (isFollowed: boolean) => {
      for (const world of worlds) world.follow(kind, isFollowed);
    },
  };
}

/** What a watch tells goes into the world. Once all are known, that is acted upon. */
function sinkOf(
  looking: readonly Looking[],
  watched: WorldKind,
  i: number,
  joined: Selections,
  states: States,
  { log, timing, signal, shown }: Watching,
) {
  const kind = nameOfKind(watched);
  const name = `${watchNames(watched)[i]}`;
  const { follow: followIn } = worldsOf(looking, watched);
  const statesOf = (one: WorldKind) =>
    [...states].flatMap(([each, state]) => (each.split(" ")[0] === nameOfKind(one) ? state : []));
  const isKnown = (one: WorldKind) => statesOf(one).every((state) => ["synced", "absent"].includes(state));
  const follow = async (state: WatchState) => {
    // What was missed comes after the watch is open again.
    if (state === "synced") await realClock.sleep(timing.fresh, signal);
    if (states.get(name) === state) followIn(statesOf(watched).every((each) => each === "synced"));
  };
  return {
    replace: (all: Map<string, Seen>) => {
      joined.replace(i, [...all.values()]);
      for (const object of all.values()) shown(object);
    },
    set: (_: string, object: Seen) => {
      joined.set(i, object);
      shown(object);
    },
    delete: (key: string) => joined.delete(i, `${kind}/${key.replace("/", ":")}`),
    state: (state: WatchState, error?: unknown) => {
      states.set(name, state);
      follow(state);
      if (state === "failing") log({ level: "warn", message: "a watch fails", kind: name, error });
      else log({ level: "info", message: `a watch is ${state}`, kind: name });
      for (const one of looking) if (one.world.allKinds().every(isKnown)) one.open();
    },
  };
}
