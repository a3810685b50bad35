import { text } from "node:stream/consumers";
import type { KubeObject, Stored } from "./objects.ts";
import { Refusal } from "./refusal.ts";
import { isPage, pathOf, type Resource, selectorsOf, type Where } from "./resource.ts";
import { type Reading, readStream, type StreamSource } from "./stream.ts";
import { Unanswered } from "./transport.ts";
import { watchEvents } from "./watch-events.ts";

/** Objects of one kind, and what is kept of each. */
export interface Selection<T> extends Where {
  readonly resource: Resource;
  project(object: Stored): T;
}

/** All that there is at one moment, by key. */
export interface FullList<T> {
  readonly all: Map<string, T>;
  /** The resourceVersion of that moment. */
  readonly version: string;
}

const PAGE = 500;
const END = "k8s.io/initial-events-end";

/** `namespace/name`, or the name of what is in no namespace. */
export function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/**
 * Lists as a stream, which costs both sides least: no object is kept whole. In pages, if the stream
 *
 *  - is refused with 400 or 422: the server has no streaming lists;
 *  - is refused with 504: the server's cache does not get as far as the stream has to (`Too large resource version`);
 *  - is cut, or brings no more objects for `idle` milliseconds and does not end: some proxies, and servers without progress
 *    notifications, never send the bookmark that ends it.
 *
 * A stream may fail in this way each time, and pages cost more but come to an end.
 */
export async function fullList<T>(
  source: StreamSource,
  selection: Selection<T>,
  reading: Reading,
): Promise<FullList<T>> {
  try {
    return await streamed(source, selection, reading);
  } catch (error) {
    if (reading.signal.aborted || !isOfStreams(error)) throw error;
    return paged(source, selection, reading);
  }
}

/** Whether pages may come where a stream failed. A server that was not reached gives neither. */
function isOfStreams(error: unknown): boolean {
  if (error instanceof Unanswered) return error.isSent;
  return error instanceof Refusal && [400, 422, 504].includes(error.status);
}

async function streamed<T>(source: StreamSource, selection: Selection<T>, reading: Reading): Promise<FullList<T>> {
  const query = new URLSearchParams({
    watch: "true",
    sendInitialEvents: "true",
    allowWatchBookmarks: "true",
    resourceVersionMatch: "NotOlderThan",
    ...selectorsOf(selection),
  });
  const path = `${pathOf(selection.resource, selection.namespace)}?${query}`;
  const all = new Map<string, T>();
  const { clock, idle } = reading;
  let grown = { size: 0, at: clock.now() };
  for await (const { type, object } of watchEvents(source, path, reading)) {
    if (type === "ADDED" || type === "MODIFIED") all.set(keyOf(object), selection.project(object));
    else if (type === "DELETED") all.delete(keyOf(object));
    else if (object.metadata.annotations?.[END] === "true") return { all, version: object.metadata.resourceVersion };
    // Objects that are there change meanwhile, so that the stream is never silent.
    if (all.size > grown.size) grown = { size: all.size, at: clock.now() };
    else if (clock.now() - grown.at > idle)
      throw new Unanswered(true, new Error(`the list did not end, and brought nothing new for ${idle / 1000} seconds`));
  }
  throw new Unanswered(true, new Error("the list ended before its end"));
}

async function paged<T>(source: StreamSource, selection: Selection<T>, reading: Reading): Promise<FullList<T>> {
  const query = new URLSearchParams({ limit: String(PAGE), ...selectorsOf(selection) });
  const path = pathOf(selection.resource, selection.namespace);
  const all = new Map<string, T>();
  for (;;) {
    const page = JSON.parse(await text(readStream(source, `${path}?${query}`, reading)));
    if (!isPage<Stored>(page) || !page.metadata?.resourceVersion)
      throw new Error(`what answers ${path} is no API server of Kubernetes`);
    // The objects of a list may leave to the list what kind they are of.
    const kind = { apiVersion: page.apiVersion, kind: page.kind?.replace(/List$/, "") };
    for (const item of page.items) {
      const object: Stored = { ...kind, ...item };
      all.set(keyOf(object), selection.project(object));
    }
    if (!page.metadata.continue) return { all, version: page.metadata.resourceVersion };
    query.set("continue", page.metadata.continue);
  }
}
