import type { Stored } from "./objects.ts";
import { Refusal } from "./refusal.ts";
import { lines, type Reading, readStream, type StreamSource } from "./stream.ts";

export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  /** A bookmark's has a resourceVersion and annotations alone. */
  readonly object: Stored;
}

/** What a watch reports while it comes; an ERROR event is thrown as the Refusal that it is. */
export async function* watchEvents(source: StreamSource, path: string, reading: Reading): AsyncGenerator<WatchEvent> {
  for await (const line of lines(readStream(source, path, reading))) {
    // Whoever has stopped hears of nothing more, also not of what has arrived.
    if (reading.signal.aborted) return;
    yield eventOf(line);
  }
}

function eventOf(line: string): WatchEvent {
  const { type = "", object } = parse(line) ?? {};
  if (type === "ERROR") {
    const headers = { "retry-after": String(object?.details?.retryAfterSeconds ?? 0) };
    throw new Refusal({ status: object?.code ?? 500, headers, body: JSON.stringify(object ?? {}) });
  }
  if (!/^(ADDED|MODIFIED|DELETED|BOOKMARK)$/.test(type) || !object?.metadata?.resourceVersion)
    throw new Error(`not an event of a watch: ${line.slice(0, 200)}`);
  return { type, object } as WatchEvent;
}

/** What a line is as far as it is looked at here; `object` is a Status where the type is ERROR. */
interface Line {
  readonly type?: string;
  readonly object?: {
    readonly metadata?: { readonly resourceVersion?: string };
    readonly code?: number;
    readonly details?: { readonly retryAfterSeconds?: number };
  };
}

function parse(line: string): Line | null {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new Error(`not an event of a watch: ${(error as Error).message}`);
  }
}
