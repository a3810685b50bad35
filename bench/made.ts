import { type Access, type KubeObject, type Resource, realClock, transport, watch } from "../kube/index.ts";

/** Objects of a kind that are there, of those that count. */
export class Made {
  private readonly keys = new Set<string>();
  private readonly waiting = new Set<{ readonly count: number; readonly resolve: () => void }>();
  private readonly stopped = new AbortController();

  /** Watches them from now on. */
  constructor(access: Access, resource: Resource, counts: (object: KubeObject) => boolean) {
    const look = () => {
      for (const one of this.waiting) if (this.keys.size >= one.count) one.resolve();
    };
    const sink = {
      replace: (all: Map<string, boolean>) => {
        this.keys.clear();
        for (const [key, isCounted] of all) if (isCounted) this.keys.add(key);
        look();
      },
      set: (key: string, isCounted: boolean) => {
        if (isCounted) this.keys.add(key);
        look();
      },
      delete: (key: string) => void this.keys.delete(key),
      state: () => {},
    };
    const options = { signal: this.stopped.signal, clock: realClock, random: Math.random };
    void watch(transport(access, 30_000), { resource, project: counts }, sink, options);
  }

  /** How many there are. */
  get count(): number {
    return this.keys.size;
  }

  /** Milliseconds that `work` takes until so many more are there. */
  async timed(more: number, work: () => Promise<unknown>): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wish = { count: this.keys.size + more, resolve };
    this.waiting.add(wish);
    const start = performance.now();
    await Promise.all([promise, work()]);
    this.waiting.delete(wish);
    return performance.now() - start;
  }

  stop(): void {
    this.stopped.abort();
  }
}
