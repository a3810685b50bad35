import { setImmediate } from "node:timers/promises";
import { Cache } from "../../../controller/cache/cache.ts";
import { kindsOf, kindsOfReconciler } from "../../../controller/cache/kinds.ts";
import type { LogEvent, Observer } from "../../../controller/dependencies.ts";
import { ReconcileLoop } from "../../../controller/reconcile/reconcile-loop.ts";
import { Engine } from "../../../controller/run/engine.ts";
import { timing } from "../../../controller/timing.ts";
import { limitWrites } from "../../../controller/write/write-limit.ts";
import { emptySnapshot, IpamError, type Snapshot } from "../../../core/index.ts";
import type { ClusterIntegration } from "../../../integrations/contract/cluster-integration.ts";
import { nameOfKind } from "../../../integrations/contract/object-key.ts";
import type { Reconciler } from "../../../integrations/contract/reconciler.ts";
import { applyPlan } from "../../../state/apply.ts";
import type { StateBackend } from "../../../state/backend.ts";
import { seeded } from "../seeded.ts";
import { type Around, type SimEvent, SimServer } from "./server.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { tellCache } from "./watch.ts";

/** How often what happens, of a hundred steps. */
export interface Odds {
  readonly fault: number;
  readonly kill: number;
  readonly change: number;
}

/** A controller that runs, and whether somebody has killed it. */
interface Running {
  readonly cache: Cache;
  /** How many events of the server have come to its watches. */
  heard: number;
  /** What has come to watches that are frozen. */
  readonly late: SimEvent[];
  /** Kinds of which its watches show nothing new. */
  readonly frozen: Set<string>;
  isDead: boolean;
}

/**
 * The whole engine, and reconcilers beside it, against a cluster in memory. Every request, every event of a watch and every nap is a step that one random
 * generator chooses, so a seed is a history; after every step the invariants are looked at.
 */
export abstract class Play {
  readonly server = new SimServer();
  readonly time = new VirtualClock();
  record: Snapshot = emptySnapshot;
  readonly trace: string[] = [];
  /** What the record and Events said, in order. With the events of the server, that is all that a controller does. */
  readonly golden: string[] = [];
  steps = 0;
  faults = 0;
  kills = 0;
  protected isCalm = false;
  protected wereTwo = false;
  private readonly random: () => number;
  private readonly odds: Odds;
  private readonly integrations: readonly ClusterIntegration[];
  private readonly always: readonly Reconciler[];
  private readonly open: (() => void)[] = [];
  protected readonly running: Running[] = [];
  /** Kinds of which no watch shows anything new. */
  readonly frozen = new Set<string>();

  constructor(
    seed: number,
    odds: Odds,
    integrations: readonly ClusterIntegration[],
    reconcilers: readonly Reconciler[] = [],
  ) {
    this.random = seeded(seed);
    this.odds = odds;
    this.integrations = integrations;
    this.always = reconcilers;
  }

  /** What a controller allocates for, as it is started. */
  protected served(): readonly ClusterIntegration[] {
    return this.integrations;
  }

  /** What a controller sees to besides, as it is started. */
  protected reconcilers(): readonly Reconciler[] {
    return this.always;
  }

  /** What people and machines do now and then. */
  protected abstract change(): void;

  /** What goes on all the time, beside the controllers: one of these each time. */
  protected abstract goesOn(): (() => void)[];

  /** What must be so at every moment. */
  protected abstract check(): void;

  readonly today = () => new Date(Date.UTC(2026, 0, 1) + this.time.now());

  pick(below: number): number {
    return Math.floor(this.random() * below);
  }

  private chance(percent: number): boolean {
    return !this.isCalm && this.random() * 100 < percent;
  }

  /** A step that waits for its turn, and may fail before it is done, or after. */
  private readonly around =
    (owner: () => Running | undefined): Around =>
    (verb, run) =>
      new Promise((resolve, reject) => {
        const sent = this.time.now();
        this.open.push(() => {
          if (owner()?.isDead) return;
          if (this.time.now() - sent > timing.request) {
            reject(new IpamError("unknown-outcome", "given up"));
            return;
          }
          const isWrite = !/^(get|list|read)/.test(verb);
          if (this.chance(this.odds.fault)) {
            this.faults++;
            this.trace.push(`fault before ${verb}`);
            return reject(new IpamError("unavailable", "a fault of the simulator"));
          }
          try {
            const result = run();
            if (isWrite) this.trace.push(verb);
            if (isWrite && this.chance(this.odds.fault)) {
              this.faults++;
              this.trace.push(`fault after ${verb}`);
              return reject(new IpamError("unknown-outcome", "a fault of the simulator"));
            }
            resolve(result);
          } catch (error) {
            reject(error);
          }
        });
      });

  start(): void {
    let me: Running | undefined;
    const around = this.around(() => me);
    const reconcilers = this.reconcilers();
    const integrations = this.served();
    const cache = new Cache([...kindsOf(integrations), ...reconcilers.flatMap(kindsOfReconciler)]);
    const deps = {
      cache,
      objects: limitWrites(this.server.client(around), this.time, () => {}),
      clock: this.time,
      timing,
      random: this.random,
      today: this.today,
      log: ({ message, key, error }: LogEvent) => this.trace.push(`log: ${message} ${key ?? ""} ${error ?? ""}`),
    };
    const state: StateBackend = {
      name: "memory",
      read: () => around("read record", () => this.record),
      commit: (plan) =>
        around("commit", () => {
          this.record = applyPlan(this.record, plan) ?? this.record;
          return this.record;
        }),
    };
    const observer: Observer = {
      ran: () => {},
      recorded: (change) => this.golden.push(`record ${textOf(change)}`),
      wrong: (...event) => this.golden.push(`event ${event.join(" ")}`),
    };
    const engine = new Engine({ ...deps, state, integrations, observer });
    const looking = [engine, ...reconcilers.map((one) => new ReconcileLoop(deps, one))];
    me = {
      cache,
      heard: this.server.events.length,
      late: [],
      frozen: new Set(),
      isDead: false,
    };
    this.running.push(me);
    for (const kind of cache.allKinds()) cache.replace(nameOfKind(kind), []);
    tellCache(
      cache,
      [...this.server.objects.values()].map((object) => ({ type: "set", object })),
    );
    for (const one of looking) one.open();
  }

  /** One step of anybody. */
  async step(): Promise<void> {
    this.steps++;
    const alive = this.running.filter(({ isDead }) => !isDead);
    const behind = alive.filter(({ heard }) => heard < this.server.events.length);
    const choices: (() => void)[] = [
      ...(this.open.length > 0 ? [() => this.answer(), () => this.answer(), () => this.answer()] : []),
      ...(behind.length > 0 ? [() => this.tell(behind[this.pick(behind.length)] as Running)] : []),
      ...this.goesOn(),
      // Where nothing fails, nobody waits so long for an answer that it is given up.
      ...(this.isCalm && this.open.length > 0 ? [] : [() => this.time.step(1000)]),
    ];
    if (this.chance(this.odds.kill)) this.kill();
    else if (this.chance(this.odds.change)) this.change();
    else (choices[this.pick(choices.length)] as () => void)();
    if (this.pick(20) === 0) this.server.collect();
    await setImmediate();
    this.check();
  }

  private answer(): void {
    const [run] = this.open.splice(this.pick(this.open.length), 1);
    run?.();
  }

  private tell(one: Running): void {
    const event = this.server.events[one.heard++];
    if (event === undefined) return;
    this.show(one, event);
  }

  /** From now on the watches of a kind, of all controllers or of one, show nothing new, or all that came meanwhile. */
  protected freeze(kind: string, is: boolean, { frozen }: Pick<Running, "frozen"> = this): void {
    this.trace.push(`the watch of ${kind} ${is ? "is frozen" : "goes on"}`);
    if (is) frozen.add(kind);
    else frozen.delete(kind);
    for (const one of this.running) for (const event of one.late.splice(0)) this.show(one, event);
  }

  private show(one: Running, event: SimEvent): void {
    const isFrozen = [this, one].some(({ frozen }) => frozen.has(`${event.object.kind}`));
    if (isFrozen) one.late.push(event);
    else tellCache(one.cache, [event]);
  }

  /** All controllers end where they are, and are started anew: one, or two. */
  protected kill(): void {
    this.kills++;
    this.trace.push("kill");
    for (const one of this.running) one.isDead = true;
    this.running.length = 0;
    this.start();
    if (this.pick(3) > 0) return;
    this.start();
    this.wereTwo = true;
  }

  /** Nothing changes from now on, and nothing fails. Resolves when nothing was `written` for a while, nor in the record. */
  protected async rest(written: () => number): Promise<void> {
    this.isCalm = true;
    const limit = this.steps + 100_000;
    let [before, record, since] = [-1, this.record, this.time.now()];
    while (this.time.now() < since + 3 * timing.hold) {
      for (let i = 0; i < 50; i++) await this.step();
      if (written() !== before || this.record !== record) since = this.time.now();
      [before, record] = [written(), this.record];
      if (this.steps > limit) throw this.broken("it does not become calm");
    }
  }

  broken(what: string): Error {
    return new Error(`${what}\n${this.trace.slice(-Number(process.env.TRACE ?? 60)).join("\n")}`);
  }
}

/** BigInts and all. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, one) => (typeof one === "bigint" ? `${one}` : one));
}
