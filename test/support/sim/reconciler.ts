import { Cache } from "../../../controller/cache/cache.ts";
import { kindsOfReconciler } from "../../../controller/cache/kinds.ts";
import type { LogEvent, Observer } from "../../../controller/dependencies.ts";
import { ReconcileLoop } from "../../../controller/reconcile/reconcile-loop.ts";
import { timing } from "../../../controller/timing.ts";
import { tellRefused } from "../../../controller/write/contest.ts";
import { limitWrites } from "../../../controller/write/write-limit.ts";
import { nameOfKind } from "../../../integrations/contract/object-key.ts";
import type { Reconciler } from "../../../integrations/contract/reconciler.ts";
import type { Bag } from "../../../schema/objects.ts";
import { SimServer } from "./server.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { tellCache } from "./watch.ts";

/** One reconciler on a cluster in memory, in virtual time. */
export class SimReconciler {
  readonly server: SimServer;
  readonly clock = new VirtualClock();
  readonly logged: LogEvent[] = [];
  readonly said: string[] = [];
  /** What the reconciler asked the server for, each by its verb and kind. */
  readonly requests: string[] = [];
  readonly reconciler: ReconcileLoop;
  readonly cache: Cache;
  /** The watches show nothing new. */
  isFrozen = false;
  /** How long a request to the server takes, by its verb, in milliseconds. */
  delay = (_verb: string) => 0;
  /** The same for its answer. */
  delayAfter = (_verb: string) => 0;
  private heard = 0;

  constructor(reconciler: Reconciler, server = new SimServer()) {
    this.server = server;
    this.cache = new Cache(kindsOfReconciler(reconciler));
    const wrong: Observer["wrong"] = (about, problem, message) =>
      void this.said.push(`${about} ${problem}: ${message}`);
    this.reconciler = new ReconcileLoop(
      {
        cache: this.cache,
        objects: limitWrites(
          this.server.client((verb, run) => this.request(verb, run)),
          this.clock,
          () => {},
          tellRefused(() => [this.reconciler.world], { wrong }),
        ),
        clock: this.clock,
        timing,
        random: () => 0.5,
        today: () => new Date(Date.UTC(2026, 0, 1) + this.clock.now()),
        log: (event) => void this.logged.push(event),
        observer: {
          ran: () => {},
          recorded: () => {},
          wrong,
        },
      },
      reconciler,
    );
    for (const kind of this.cache.allKinds()) this.cache.replace(nameOfKind(kind), []);
  }

  private async request<T>(verb: string, run: () => T): Promise<T> {
    this.requests.push(verb);
    const ms = this.delay(verb);
    if (ms > 0) await this.clock.sleep(ms);
    const answer = await run();
    const late = this.delayAfter(verb);
    if (late > 0) await this.clock.sleep(late);
    return answer;
  }

  create(object: Bag & { readonly kind: string }): Bag {
    return this.server.create(this.kindOf(object.kind), object as never) as unknown as Bag;
  }

  remove(kind: string, name: string, namespace = "default"): void {
    this.server.remove(this.kindOf(kind), { metadata: { name, namespace } } as never);
  }

  change(kind: string, name: string, update: (object: Bag) => Bag, namespace = "default"): void {
    this.server.change(this.kindOf(kind), name, update, namespace);
  }

  all(kind: string) {
    return [...this.server.objects.values()].filter((one) => one.kind === kind);
  }

  object(kind: string, name: string) {
    return this.all(kind).find(({ metadata }) => metadata.name === name);
  }

  /** The watches tell of all that there is, and time passes. */
  async pass(ms = 1000): Promise<void> {
    for (let left = ms; left > 0; left -= 100) {
      if (!this.isFrozen) this.tell();
      this.reconciler.open();
      await this.clock.pass(100);
    }
  }

  protected tell(): void {
    tellCache(this.cache, this.server.events.slice(this.heard));
    this.heard = this.server.events.length;
  }

  private kindOf(kind: string) {
    const found = this.cache.allKinds().find((one) => one.kind === kind);
    if (found === undefined) throw new Error(`nobody watches ${kind}`);
    return found;
  }
}
