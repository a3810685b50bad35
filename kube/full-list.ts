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
 * Lists as a stream, which costs both sides least: no object is kept whole. A server that has no streaming lists answers
 * 400 or 422, and gives pages.
 */
export async function fullList<T>(
  source: StreamSource,
  selection: Selection<T>,
  reading: Reading,
): Promise<FullList<T>> {
  try {
    return await streamed(source, selection, reading);
  } catch (error) {
    if (!(error instanceof Refusal && [400, 422].includes(error.status))) throw error;
    return paged(source, selection, reading);
  }
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
  for await (const { type, object } of watchEvents(source, path, reading)) {
    if (type === "ADDED" || type === "MODIFIED") all.set(keyOf(object), selection.project(object));
    else if (type === "DELETED") all.delete(keyOf(object));
    else if (object.metadata.annotations?.[END] === "true") return { all, version: object.metadata.resourceVersion };
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
