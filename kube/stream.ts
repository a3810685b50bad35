import { text } from "node:stream/consumers";
import type { Clock } from "./clock.ts";
import { Refusal } from "./refusal.ts";
import { type Transport, Unanswered } from "./transport.ts";

/** Where replies are read while they come: a Transport, or what stands in for one. */
export type StreamSource = Pick<Transport, "stream">;

export interface Reading {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** A stream that brings nothing for so many milliseconds is frozen. */
  readonly idle: number;
  /** Told when the server has agreed. */
  opened?(): void;
}

/** The bytes of a reply while they come. Throws Refusal, or Unanswered where the connection is lost or frozen. */
export async function* readStream(
  source: StreamSource,
  path: string,
  { signal, clock, idle, opened }: Reading,
): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted();
  const own = new AbortController();
  const stop = () => own.abort();
  signal.addEventListener("abort", stop);
  let last = clock.now();
  const guard = async () => {
    for (let left = idle; left > 0 && !own.signal.aborted; left = last + idle - clock.now())
      await clock.sleep(left, own.signal);
    own.abort(new Unanswered(true, new Error(`nothing came for ${idle / 1000} seconds`)));
  };
  guard();
  try {
    const { status, headers, body } = await source.stream({ method: "GET", path }, own.signal);
    if (status >= 300) throw new Refusal({ status, headers, body: await text(body) });
    opened?.();
    for await (const chunk of body) {
      last = clock.now();
      yield chunk;
    }
  } catch (error) {
    throw own.signal.reason instanceof Unanswered ? own.signal.reason : error;
  } finally {
    stop();
    signal.removeEventListener("abort", stop);
  }
}

const NEWLINE = 10;

/** The lines of a text that comes in chunks, wherever these are cut. The last line, too, ends with a newline. */
export async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      parts.push(chunk.subarray(start, end));
      yield Buffer.concat(parts).toString();
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
  if (parts.length > 0) throw new Error(`the reply ends in the middle of a line: ${excerpt(Buffer.concat(parts))}`);
}

function excerpt(line: Buffer): string {
  return line.subarray(0, 200).toString();
}
