import { nameOfKind } from "../../integrations/contract/object-key.ts";
import { realClock, type transport, type WatchState, watch } from "../../kube/index.ts";
import type { Cache } from "../cache/cache.ts";
import { keep, type Seen } from "../cache/seen.ts";
import { Selections } from "../cache/selections.ts";
import { type CachedKind, selectionsOf } from "../cache/world-kind.ts";
import type { Dependencies } from "../dependencies.ts";
import type { Engine } from "./engine.ts";

/** What reads the cache, and acts upon it: the engine, and the loop of each reconciler. */
export type Loop = Pick<Engine, "world" | "queue" | "open" | "resync">;

interface Watching extends Pick<Dependencies, "log" | "timing"> {
  readonly signal: AbortSignal;
  /** Called with each object that a watch shows, as it is kept. */
  readonly shown: (object: Seen) => void;
}

type States = Map<string, WatchState>;

/** The watches of all kinds that they look at, each once. They begin with `run`, and end when the signal aborts. */
export function watchesOf(
  source: ReturnType<typeof transport>,
  cache: Cache,
  loops: readonly Loop[],
  watching: Watching,
) {
  const kinds = cache.allKinds();
  const states: States = new Map(kinds.flatMap((kind) => watchNames(kind).map((name) => [name, "listing"])));
  const running = { signal: watching.signal, clock: realClock, random: Math.random };
  const run = () =>
    kinds.flatMap((kind) => {
      const joined = new Selections(selectionsOf(kind).length, {
        replace: (all) => cache.replace(nameOfKind(kind), all),
        set: (object) => cache.set(object),
        delete: (key) => cache.delete(key),
      });
      return selectionsOf(kind).map((where, i) => {
        const selection = { ...where, resource: kind, project: (object: object) => keep(kind, object) };
        return watch(source, selection, sinkOf({ cache, loops }, kind, i, joined, states, watching), running);
      });
    });
  return { states, run };
}

/** Returns the name of each watch of a kind: that of the kind, and where there are several, what each selects. */
export function watchNames(kind: CachedKind): string[] {
  const all = selectionsOf(kind);
  return all.map((where) => (all.length === 1 ? nameOfKind(kind) : `${nameOfKind(kind)} ${selected(where)}`));
}

/** Such as `metal3/metadata.name=nodeippool-infra`. */
function selected({ namespace, labels, fields }: ReturnType<typeof selectionsOf>[number]): string {
  const selectors = [labels, fields].filter((one) => one !== undefined).join(",");
  return [namespace, selectors === "" ? undefined : selectors].filter((one) => one !== undefined).join("/");
}

/** The states of all watches of a kind. */
function statesOf(kind: CachedKind, states: States): WatchState[] {
  return [...states].flatMap(([name, state]) => (name.split(" ")[0] === nameOfKind(kind) ? state : []));
}

/** What a watch tells goes into the cache. Once all kinds of a reader are known, that is acted upon. */
function sinkOf(
  { cache, loops }: { readonly cache: Cache; readonly loops: readonly Loop[] },
  watched: CachedKind,
  i: number,
  joined: Selections,
  states: States,
  { log, timing, signal, shown }: Watching,
) {
  const kind = nameOfKind(watched);
  const name = `${watchNames(watched)[i]}`;
  const isKnown = (one: CachedKind) => statesOf(one, states).every((state) => ["synced", "absent"].includes(state));
  const follow = async (state: WatchState) => {
    // What was missed comes after the watch is open again.
    if (state === "synced") await realClock.sleep(timing.fresh, signal);
    if (states.get(name) === state)
      cache.follow(
        kind,
        statesOf(watched, states).every((each) => each === "synced"),
      );
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
      for (const one of loops) if (one.world.allKinds().every(isKnown)) one.open();
    },
  };
}
