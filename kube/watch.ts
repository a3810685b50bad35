import type { Clock } from "./clock.ts";
import { type FullList, fullList, keyOf, type Selection } from "./full-list.ts";
import { Refusal } from "./refusal.ts";
import { pathOf, selectorsOf } from "./resource.ts";
import { type Backoff, pauseAfterFailures } from "./retry.ts";
import type { StreamSource } from "./stream.ts";
import { Unanswered } from "./transport.ts";
import { type WatchEvent, watchEvents } from "./watch-events.ts";

/**
 * What is known of the objects that are watched:
 * - `listing`: being listed, for the first time or because the server has forgotten what came next;
 * - `synced`: all there is, and followed;
 * - `absent`: there is no such kind. That says nothing of objects: what was known stays;
 * - `failing`: what was known may be old.
 */
export type WatchState = "listing" | "synced" | "absent" | "failing";

/** Whom a watch tells. Objects go by their keys, `namespace/name` or `name`. */
export interface Sink<T> {
  /** These are all; what is not among them is gone. */
  replace(all: Map<string, T>): void;
  set(key: string, object: T): void;
  delete(key: string): void;
  /** The state is another, or `failing` once more. `error` says why it is failing. */
  state(state: WatchState, error?: unknown): void;
}

export interface WatchOptions {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** From 0 to 1, as Math.random. */
  readonly random: () => number;
}

/** The server is asked to end a watch after so many seconds, up to half as many more. */
const SECONDS = 30;
/** A watch that has not ended so many milliseconds after its time is frozen. */
const GRACE = 5_000;
/** A list that brings nothing for so long is frozen. */
const LIST_IDLE = 30_000;
/** What cannot be mended from here is asked again after so long, up to half as much more. */
const SLOW = 10_000;
const BACKOFF: Backoff = { first: 500, longest: 10_000 };

/**
 * Lists objects, tells the sink of all of them, and then of every change, until the signal aborts. It never throws.
 *
 * | what happens | the sink is told | it goes on | after |
 * |---|---|---|---|
 * | the watch ends at its time | | where it was | nothing |
 * | no connection, or a frozen one; a watch that ends at once; 429, 503 | failing | where it was | a random pause |
 * | 410, as a reply or as an event | listing | with a list | a random pause |
 * | 404 | absent | with a list | 10-15 s |
 * | the same of what was there before: the server may just have started | absent | with a list | a random pause |
 * | any other 4xx, for example 403 | failing | with a list | 10-15 s |
 * | any other reply or event, or the sink throws | failing | with a list | a random pause |
 *
 * Random pauses double up to 10 s until something is heard of the watch; Retry-After comes on top of any pause.
 */
export async function watch<T>(
  source: StreamSource,
  selection: Selection<T>,
  sink: Sink<T>,
  options: WatchOptions,
): Promise<void> {
  await new Watch(source, selection, sink, options).run();
}

class Watch<T> {
  private readonly source: StreamSource;
  private readonly selection: Selection<T>;
  private readonly sink: Sink<T>;
  private readonly options: WatchOptions;
  /** Up to where the sink knows everything; undefined where it takes a list to know. */
  private version: string | undefined;
  private failures = 0;
  /** Whether the server ever served the kind. */
  private wasThere = false;
  private told: WatchState | undefined;

  constructor(source: StreamSource, selection: Selection<T>, sink: Sink<T>, options: WatchOptions) {
    this.source = source;
    this.selection = selection;
    this.sink = sink;
    this.options = options;
  }

  async run(): Promise<void> {
    const { signal, clock } = this.options;
    this.tell("listing");
    while (!signal.aborted) {
      try {
        await (this.version === undefined ? this.list() : this.follow(this.version));
      } catch (error) {
        if (!signal.aborted) await clock.sleep(this.fail(error), signal);
      }
    }
  }

  private async list(): Promise<void> {
    const { signal, clock } = this.options;
    const { all, version }: FullList<T> = await fullList(this.source, this.selection, {
      signal,
      clock,
      idle: LIST_IDLE,
    });
    if (signal.aborted) return;
    this.sink.replace(all);
    this.version = version;
    this.wasThere = true;
    this.tell("synced");
  }

  private async follow(from: string): Promise<void> {
    const { signal, clock, random } = this.options;
    const seconds = Math.floor(SECONDS * (1 + random() / 2));
    const query = new URLSearchParams({
      watch: "true",
      allowWatchBookmarks: "true",
      timeoutSeconds: String(seconds),
      resourceVersion: from,
      ...selectorsOf(this.selection),
    });
    const path = `${pathOf(this.selection.resource, this.selection.namespace)}?${query}`;
    const opened = () => this.tell("synced");
    const start = clock.now();
    let isSilent = true;
    for await (const event of watchEvents(this.source, path, { signal, clock, idle: 1000 * seconds + GRACE, opened })) {
      this.take(event);
      isSilent = false;
      this.failures = 0;
    }
    // Or a server that ends every watch at once would be asked without end.
    if (isSilent && clock.now() - start < 500 * seconds)
      throw new Unanswered(true, new Error("the watch ended before its time, without a word"));
    this.failures = 0;
  }

  private take({ type, object }: WatchEvent): void {
    if (type === "DELETED") this.sink.delete(keyOf(object));
    else if (type !== "BOOKMARK") this.sink.set(keyOf(object), this.selection.project(object));
    this.version = object.metadata.resourceVersion;
  }

  /** Tells of it, and returns after how long to go on. */
  private fail(error: unknown): number {
    const { random } = this.options;
    const status = error instanceof Refusal ? error.status : undefined;
    const goesOn = error instanceof Unanswered || status === 429 || status === 503;
    if (!goesOn) this.version = undefined;
    if (status === 410) this.tell("listing");
    else if (status === 404) this.tell("absent");
    else this.tell("failing", error);
    this.failures++;
    const isBrief = status === 410 || status === 429 || (status === 404 && this.wasThere);
    const isSlow = status !== undefined && status >= 400 && status < 500 && !isBrief;
    const pause = isSlow ? SLOW * (1 + random() / 2) : pauseAfterFailures(this.failures, BACKOFF, random);
    return pause + (error instanceof Refusal ? error.pause : 0);
  }

  private tell(state: WatchState, error?: unknown): void {
    if (state === this.told && state !== "failing") return;
    this.told = state;
    this.sink.state(state, error);
  }
}
