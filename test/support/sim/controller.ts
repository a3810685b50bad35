import { Cache } from "../../../controller/cache/cache.ts";
import { kindsOf } from "../../../controller/cache/kinds.ts";
import type { WorldKind } from "../../../controller/cache/world-kind.ts";
import type { LogEvent, Observer } from "../../../controller/dependencies.ts";
import { Engine } from "../../../controller/run/engine.ts";
import { timing } from "../../../controller/timing.ts";
import { tellContest, tellRefused } from "../../../controller/write/contest.ts";
import { limitWrites } from "../../../controller/write/write-limit.ts";
import { emptySnapshot, formatBlock, type Snapshot } from "../../../core/index.ts";
import type { ClusterIntegration } from "../../../integrations/contract/cluster-integration.ts";
import { nameOfKind } from "../../../integrations/contract/object-key.ts";
import { nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { applyPlan } from "../../../state/apply.ts";
import type { StateBackend } from "../../../state/backend.ts";
import { type SimEvent, SimServer } from "./server.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { tellCache } from "./watch.ts";

/** One engine on a cluster in memory where nothing fails, in virtual time; several may share a server. */
export class SimController {
  readonly server: SimServer;
  readonly clock = new VirtualClock();
  readonly logged: LogEvent[] = [];
  readonly log = (event: LogEvent) => void this.logged.push(event);
  /** What is wrong, each as `ABOUT PROBLEM: MESSAGE`. */
  readonly said: string[] = [];
  /** What Events and the log call allocated, each as `ADDRESS CLAIM`. */
  readonly allocated: string[] = [];
  readonly engine: Engine;
  readonly cache: Cache;
  /** What the engine asked the server for, each by its verb and kind. */
  readonly requests: string[] = [];
  record: Snapshot = emptySnapshot;
  private readonly kinds: ReadonlyMap<string, WorldKind>;
  /** The watches show nothing new. */
  isFrozen = false;
  /** The kinds whose watches show nothing new. */
  readonly late = new Set<string>();
  private untold: SimEvent[] = [];
  private heard = 0;

  /** Kinds that are not `served` are not listed. */
  constructor(
    observer?: Observer,
    around: (state: StateBackend) => StateBackend = (state) => state,
    served?: readonly string[],
    integrations: readonly ClusterIntegration[] = [nmstateInCluster],
    server = new SimServer(),
  ) {
    this.server = server;
    this.kinds = new Map(kindsOf(integrations).map((kind) => [kind.kind, kind]));
    const state: StateBackend = {
      name: "memory",
      read: async () => this.record,
      commit: async (plan) => {
        this.record = applyPlan(this.record, plan) ?? this.record;
        return this.record;
      },
    };
    const client = this.server.client(async (verb, run) => {
      this.requests.push(verb);
      return run();
    });
    const wrong: Observer["wrong"] = (about, problem, message) => {
      this.said.push(`${about} ${problem}: ${message}`);
      observer?.wrong(about, problem, message);
    };
    this.cache = new Cache(kindsOf(integrations));
    this.engine = new Engine({
      cache: this.cache,
      objects: limitWrites(
        client,
        this.clock,
        tellContest(() => [this.engine.world], { wrong }),
        tellRefused(() => [this.engine.world], { wrong }),
      ),
      state: around(state),
      integrations,
      clock: this.clock,
      timing,
      random: () => 0.5,
      today: () => new Date(Date.UTC(2026, 0, 1) + this.clock.now()),
      log: this.log,
      observer: {
        ran: (...run) => observer?.ran(...run),
        recorded: (change) => {
          for (const line of change.allocated) this.allocated.push(`${formatBlock(line)} ${line.claim}`);
          observer?.recorded(change);
        },
        wrong,
      },
    });
    for (const kind of served ?? this.kinds.keys()) this.cache.replace(nameOfKind(this.resource(kind)), []);
  }

  /** Somebody makes an object. */
  create(object: Bag & { readonly kind: string }): void {
    this.server.create(this.resource(object.kind), object as never);
  }

  node(name: string, labels: Readonly<Record<string, string>> = { role: "worker" }): void {
    this.create({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { "kubernetes.io/hostname": name, ...labels } },
      status: { conditions: [{ type: "Ready", status: "True" }] },
    });
  }

  pool(name: string, cidr: string, end: string): void {
    const spec = { range: { cidr, end }, authority: "Cluster" };
    this.create({ apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: { name }, spec });
  }

  remove(kind: string, name: string, namespace?: string): void {
    const metadata = { name, ...(namespace && { namespace }) };
    this.server.remove(this.resource(kind), { metadata } as never);
    this.server.collect();
  }

  /** Somebody changes an object. */
  change(kind: string, name: string, update: (object: Bag) => Bag, namespace?: string): void {
    this.server.change(this.resource(kind), name, update, namespace);
  }

  private resource(kind: string): WorldKind {
    return this.kinds.get(kind) as WorldKind;
  }

  /** The handler of a node says that it cannot apply a policy, or that it has. */
  enact(policy: string, node: string, type: "Failing" | "Available"): void {
    const { generation } = asBag(this.object("NodeNetworkConfigurationPolicy", policy)?.metadata) ?? {};
    const conditions = [{ type, status: "True", lastTransitionTime: "2025-12-31T00:00:00Z" }];
    this.create({
      apiVersion: "nmstate.io/v1beta1",
      kind: "NodeNetworkConfigurationEnactment",
      metadata: { name: `${node}.${policy}`, labels: { "nmstate.io/node": node, "nmstate.io/policy": policy } },
      status: { policyGeneration: generation, conditions },
    });
  }

  /** A node reports an address, or a NIC without one. */
  shows(name: string, ip?: string): void {
    const ipv4 = ip === undefined ? { enabled: false } : { enabled: true, address: [{ ip, "prefix-length": 24 }] };
    const interfaces = [{ name: "eth1", type: "ethernet", state: "up", ipv4 }];
    this.create({
      apiVersion: "nmstate.io/v1beta1",
      kind: "NodeNetworkState",
      metadata: { name },
      status: { currentState: { interfaces } },
    });
  }

  all(kind: string) {
    return [...this.server.objects.values()].filter((one) => one.kind === kind);
  }

  object(kind: string, name: string) {
    return this.all(kind).find(({ metadata }) => metadata.name === name);
  }

  /** The record, as `ADDRESS CLAIM`, a line that is releasing with that word behind it. */
  lines(): string[] {
    const { allocations, releasing } = this.record;
    return [
      ...allocations.map((line) => `${formatBlock(line)} ${line.claim}`),
      ...releasing.map((line) => `${formatBlock(line)} ${line.claim} releasing`),
    ];
  }

  /** Each status that an object has had. */
  statuses(kind: string, name: string): (Bag | undefined)[] {
    return this.server.events
      .filter(({ object }) => object.kind === kind && object.metadata.name === name)
      .map(({ object }) => asBag(object.status));
  }

  /** The watches tell of all that there is, and time passes. */
  async pass(ms = 1000): Promise<void> {
    for (let left = ms; left > 0; left -= 100) {
      if (!this.isFrozen) this.tell();
      this.engine.open();
      await this.clock.pass(100);
    }
  }

  private tell(): void {
    const events = [...this.untold, ...this.server.events.slice(this.heard)];
    const isLate = ({ object }: SimEvent) => this.late.has(`${object.kind}`);
    this.untold = events.filter(isLate);
    this.heard = this.server.events.length;
    tellCache(
      this.cache,
      events.filter((event) => !isLate(event)),
    );
  }
}
