import { setTimeout as sleep } from "node:timers/promises";
import {
  type Access,
  type KubeObject,
  type Objects,
  objectsOf,
  Queue,
  realClock,
  refusalOf,
  type Stored,
  transport,
  watch,
} from "../../kube/index.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import {
  type EnactmentState,
  enactmentConditions,
  isTrue,
  policyConditions,
  unknownConditions,
} from "./handler-conditions.ts";
import type { Machine } from "./handler-machine.ts";

const nodes = { apiVersion: "v1", plural: "nodes" };
const policies = { apiVersion: "nmstate.io/v1", plural: "nodenetworkconfigurationpolicies" };
const enactments = { apiVersion: "nmstate.io/v1beta1", plural: "nodenetworkconfigurationenactments" };
const states = { apiVersion: "nmstate.io/v1beta1", plural: "nodenetworkstates" };

type Content = KubeObject & { readonly spec?: Bag; readonly status?: Bag };
type Found = Stored<Content>;

/** How fast a handler goes about it, in milliseconds: the real one retries after seconds and reports every minute. */
export interface Pace {
  readonly retry: number;
  readonly report: number;
}

export interface HandlerOptions {
  readonly access: Access;
  readonly node: string;
  readonly machine: Machine;
  /** The nodes that run a handler, all of them; shared. */
  readonly running: ReadonlySet<string>;
  readonly pace: Pace;
  /** It sees the policies of its node alone: the real one costs every node a few requests for each policy of any. */
  readonly isShort?: boolean;
}

const retries = 5;

/**
 * The handler of one node, as kubernetes-nmstate v0.86 runs it (controllers/handler), against an API server: policy by policy,
 * also those that are not for its node. Not here: the handlers' own maxUnavailable, which is about policies of several nodes.
 */
export class Handler {
  private readonly options: HandlerOptions;
  private readonly kube: Objects;
  private readonly stopped = new AbortController();
  private readonly queue: Queue;
  private readonly known = new Map<string, number | undefined>();
  private labels: string | undefined;
  private reported: string | undefined;
  private readonly watches: Promise<unknown>;

  constructor(options: HandlerOptions) {
    this.options = options;
    this.kube = objectsOf(options.access, { budget: 2_000 });
    this.queue = new Queue((key) => (key === "report" ? this.report() : this.reconcile(key.slice(1))), {
      parallel: 1,
      clock: realClock,
      random: Math.random,
      failed: () => {},
    });
    this.watches = this.watch();
    this.queue.add("report");
  }

  /** Ends it; what it has begun it ends. */
  async stop(): Promise<void> {
    this.stopped.abort();
    await Promise.all([this.watches, this.queue.close()]);
    this.kube.close();
  }

  /** Policies that are new, of another generation, or gone; all of them when the labels of the node change. */
  private async watch(): Promise<void> {
    const { access, node } = this.options;
    const source = transport(access, 30_000);
    const options = { signal: this.stopped.signal, clock: realClock, random: Math.random };
    const version = ({ metadata }: Stored) => (metadata as { readonly generation?: number }).generation;
    const own = this.options.isShort ? { labels: `nodeippool.nmstate.io/node=${node}` } : {};
    const labelsOf = ({ metadata }: Stored) => JSON.stringify(metadata.labels);
    await Promise.all([
      watch<number | undefined>(source, { resource: policies, project: version, ...own }, this.policySink(), options),
      watch<string>(
        source,
        { resource: nodes, fields: `metadata.name=${node}`, project: labelsOf },
        this.nodeSink(),
        options,
      ),
    ]);
    source.close();
  }

  private policySink() {
    const set = (name: string, generation: number | undefined) => {
      if (this.known.has(name) && this.known.get(name) === generation) return;
      this.known.set(name, generation);
      this.queue.add(`/${name}`);
    };
    const remove = (name: string) => {
      this.known.delete(name);
      this.queue.add(`/${name}`);
    };
    const replace = (all: Map<string, number | undefined>) => {
      for (const name of [...this.known.keys()]) if (!all.has(name)) remove(name);
      for (const [name, generation] of all) set(name, generation);
    };
    return { set, delete: remove, replace, state: () => {} };
  }

  private nodeSink() {
    const set = (_: string, labels: string) => {
      const isOther = this.labels !== undefined && this.labels !== labels;
      this.labels = labels;
      if (isOther) for (const name of this.known.keys()) this.queue.add(`/${name}`);
    };
    const replace = (all: Map<string, string>) => {
      for (const [name, labels] of all) set(name, labels);
    };
    return { set, replace, delete: () => {}, state: () => {} };
  }

  private async reconcile(name: string): Promise<number | undefined> {
    const policy = await this.kube.get<Content>(policies, name);
    if (policy === undefined) return this.forget(name);
    if (!isTrue(policy.status?.conditions, "Progressing")) await this.say(name, async () => unknownConditions());
    try {
      return await this.enact(policy);
    } finally {
      await this.say(name, (latest) => this.standing(latest));
    }
  }

  private async enact(policy: Found): Promise<number | undefined> {
    const { name, generation } = policy.metadata as Found["metadata"] & { generation: number };
    const node = await this.kube.get(nodes, this.options.node);
    if (node === undefined || !selects(policy, node)) return this.forget(name);
    const enactment = await this.enactmentOf(name, node);
    const anew = enactment.status?.policyGeneration === generation ? {} : { conditions: [] };
    const { capture = {}, desiredState } = policy.spec as { capture?: Record<string, string>; desiredState: unknown };
    let desired: unknown;
    try {
      desired = await this.options.machine.resolve(capture, desiredState);
    } catch (error) {
      await this.patch(enactment.metadata.name, { policyGeneration: generation, ...anew });
      const message = `failure generating desiredState and capturedStates: ${(error as Error).message}`;
      await this.notify(enactment.metadata.name, "failing", message);
      return;
    }
    const filled = await this.patch(enactment.metadata.name, {
      policyGeneration: generation,
      desiredState: desired,
      ...anew,
    });
    if ((await this.kube.get(policies, name)) === undefined) return this.forget(name);
    const tried = Number(asBag(filled.status?.retryCount)?.[generation] ?? 0);
    if (tried >= retries) return;
    await this.notify(enactment.metadata.name, "progressing", "Applying desired state");
    return this.apply(enactment.metadata.name, desired, generation, tried);
  }

  private async apply(
    enactment: string,
    desired: unknown,
    generation: number,
    tried: number,
  ): Promise<number | undefined> {
    try {
      await this.options.machine.apply(desired);
    } catch (error) {
      await this.patch(enactment, { retryCount: { [generation]: tried + 1 } });
      const isLast = tried + 1 >= retries;
      await this.notify(enactment, isLast ? "failing" : "retrying", (error as Error).message);
      return isLast ? undefined : this.options.pace.retry;
    }
    await this.notify(enactment, "available", "successfully reconciled");
    this.queue.add("report");
    return;
  }

  private async enactmentOf(policy: string, node: Stored): Promise<Found> {
    const name = `${node.metadata.name}.${policy}`;
    const there = await this.kube.get<Content>(enactments, name);
    if (there !== undefined) return there;
    const labels = { "nmstate.io/policy": policy, "nmstate.io/node": node.metadata.name };
    return this.kube.create<Content>(enactments, {
      apiVersion: enactments.apiVersion,
      kind: "NodeNetworkConfigurationEnactment",
      metadata: { name, labels, ownerReferences: [ownerOf(node)] } as Content["metadata"],
    });
  }

  private notify(enactment: string, state: EnactmentState, message: string): Promise<unknown> {
    return this.patch(enactment, (there) => ({
      conditions: enactmentConditions(state, message, there.status?.conditions),
    }));
  }

  private patch(enactment: string, status: Bag | ((there: Found) => Bag)): Promise<Found> {
    return again(async () => {
      const there = await this.kube.get<Content>(enactments, enactment);
      if (there === undefined) throw new Error(`${enactment} is gone`);
      return this.write(enactments, there, typeof status === "function" ? status(there) : status);
    });
  }

  private async forget(policy: string): Promise<undefined> {
    const there = await this.kube.get(enactments, `${this.options.node}.${policy}`);
    if (there !== undefined) await again(() => this.kube.delete(enactments, there));
  }

  /** Writes conditions of a policy; after five times in vain the real one lets it be, too. */
  private async say(name: string, conditions: (policy: Found) => Promise<Bag[]>): Promise<void> {
    const write = async () => {
      const policy = await this.kube.get<Content>(policies, name);
      if (policy !== undefined) await this.write(policies, policy, { conditions: await conditions(policy) });
    };
    await again(write).catch(() => {});
  }

  private async standing(policy: Found): Promise<Bag[]> {
    const { name, generation } = policy.metadata as Found["metadata"] & { generation: number };
    const all = await this.kube.list<Content>(enactments, { labels: `nmstate.io/policy=${name}` });
    const own = all
      .filter(({ status }) => status?.policyGeneration === generation)
      .map(({ status }) => status?.conditions);
    const matching = (await this.kube.list<Content>(nodes)).filter(
      (node) => this.options.running.has(node.metadata.name) && selects(policy, node),
    );
    const count = {
      matching: matching.length,
      ready: matching.filter(({ status }) => isTrue(status?.conditions, "Ready")).length,
      available: own.filter((one) => isTrue(one, "Available")).length,
      failed: own.filter((one) => isTrue(one, "Failing") && !isTrue(one, "Progressing")).length,
    };
    return policyConditions(count, policy.status?.conditions);
  }

  /** The node's state, where it is another one than was reported. */
  private async report(): Promise<number> {
    const { node, machine, pace } = this.options;
    const currentState = await machine.show();
    const text = JSON.stringify(currentState);
    const there = await this.kube.get<Content>(states, node);
    const owner = await this.kube.get(nodes, node);
    if (owner === undefined || (there !== undefined && this.reported === text)) return pace.report;
    const made =
      there ??
      (await this.kube.create<Content>(states, {
        apiVersion: states.apiVersion,
        kind: "NodeNetworkState",
        metadata: { name: node, ownerReferences: [ownerOf(owner)] } as Content["metadata"],
      }));
    const lastSuccessfulUpdateTime = new Date().toISOString().replace(/\.\d+Z$/, "Z");
    await this.write(states, made, { currentState, lastSuccessfulUpdateTime });
    this.reported = text;
    return pace.report;
  }

  private write(resource: { apiVersion: string; plural: string }, { metadata }: Stored, status: Bag): Promise<Found> {
    const body = { metadata: { resourceVersion: metadata.resourceVersion }, status };
    return this.kube.patch<Content>(resource, metadata.name, undefined, body, { type: "merge", subresource: "status" });
  }
}

function selects({ spec }: Found, { metadata }: KubeObject): boolean {
  return Object.entries(asBag(spec?.nodeSelector) ?? {}).every(([key, value]) => metadata.labels?.[key] === value);
}

function ownerOf({ metadata }: Stored): Bag {
  return { apiVersion: "v1", kind: "Node", name: metadata.name, uid: metadata.uid };
}

/** As the real one on a conflict: five times. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await work();
    } catch (error) {
      if (tries === 5 || refusalOf(error)?.status === 404) throw error;
      await sleep(10 * tries);
    }
}
