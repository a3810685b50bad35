import { objectKey } from "../../integrations/contract/object-key.ts";
import type { Seen } from "./seen.ts";

/** Where what watches show goes. */
interface Sink {
  replace(all: readonly Seen[]): void;
  set(object: Seen): void;
  delete(key: string): void;
}

/**
 * What several watches of one kind show, each by selectors of its own: an object is there as long as one of them shows it. Nothing is
 * known to be gone before all have listed what they select.
 */
export class Selections {
  private readonly sink: Sink;
  private readonly shown: (Map<string, Seen> | undefined)[];

  constructor(count: number, sink: Sink) {
    this.sink = sink;
    this.shown = Array.from({ length: count }, () => undefined);
  }

  /** All that the watch of this number shows. */
  replace(i: number, all: readonly Seen[]): void {
    if (this.shown.length > 1) this.shown[i] = new Map(all.map((object) => [objectKey(object), object]));
    const union = new Map(this.shown.flatMap((one) => [...(one ?? [])]));
    if (this.shown.length === 1) this.sink.replace(all);
    else if (!this.shown.includes(undefined)) this.sink.replace([...union.values()]);
  }

  set(i: number, object: Seen): void {
    this.shown[i]?.set(objectKey(object), object);
    this.sink.set(object);
  }

  delete(i: number, key: string): void {
    this.shown[i]?.delete(key);
    if (!this.shown.some((one) => one?.has(key))) this.sink.delete(key);
  }
}
