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
} from "../../../kube/index.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import {
  countOf,
  type EnactmentState,
  enactmentConditions,
  isTrue,
  isUnknown,
  mostAtOnce,
  policyConditions,
  unknownConditions,
} from "../objects/handler-conditions.ts";
import { filledFrom } from "./captured-states.ts";
import type { Machine } from "./handler-machine.ts";

const nodes = { apiVersion: "v1", plural: "nodes" };
const pods = { apiVersion: "v1", plural: "pods" };
const policies = { apiVersion: "nmstate.io/v1", plural: "nodenetworkconfigurationpolicies" };
const enactments = { apiVersion: "nmstate.io/v1beta1", plural: "nodenetworkconfigurationenactments" };
const events = { apiVersion: "v1", plural: "events" };
const states = { apiVersion: "nmstate.io/v1beta1", plural: "nodenetworkstates" };

type Content = KubeObject & { readonly spec?: Bag; readonly status?: Bag };
type Found = Stored<Content>;

/** How fast a handler is, in milliseconds: the real one retries first after a second, and reports every minute. */
export interface Pace {
  /** The first pause; each one after it is twice as long, up to thirty times the first. */
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
const versions = { handlerNmstateVersion: "2.2.62", hostNetworkManagerVersion: "1.42.4" };

/**
 * The handler of one node, as kubernetes-nmstate v0.86 runs it (controllers/handler), against an API server: policy by policy,
 * also those that are not for its node. Policies and its node it knows from its watches, as the real one from its cache: for
 * a policy of another node both send six requests, and more where handlers meet.
 */
export class Handler {
  private readonly options: HandlerOptions;
  private readonly kube: Objects;
  private readonly stopped = new AbortController();
  private readonly queue: Queue;
  private readonly known = new Map<string, Found>();
  /** How often each policy was put off since it was last done with. */
  private readonly requeues = new Map<string, number>();
  private node: Found | undefined;
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
    const own = this.options.isShort ? { labels: `nodeippool.nmstate.io/node=${node}` } : {};
    const project = (object: KubeObject) => object as Found;
    const mine = { resource: nodes, fields: `metadata.name=${node}`, project };
    await Promise.all([
      watch<Found>(source, { resource: policies, project, ...own }, this.policySink(), options),
      watch<Found>(source, mine, this.nodeSink(), options),
    ]);
    source.close();
  }

  private policySink() {
    const set = (name: string, policy: Found) => {
      const before = this.known.get(name);
      this.known.set(name, policy);
      const isOther = before === undefined || generationOf(before) !== generationOf(policy);
      if (isOther && this.node !== undefined) this.queue.add(`/${name}`);
    };
    const remove = (name: string) => {
      this.known.delete(name);
      this.queue.add(`/${name}`);
    };
    const replace = (all: Map<string, Found>) => {
      for (const name of [...this.known.keys()]) if (!all.has(name)) remove(name);
      for (const [name, policy] of all) set(name, policy);
    };
    return { set, delete: remove, replace, state: () => {} };
  }

  private nodeSink() {
    const set = (_: string, node: Found) => {
      const isOther = JSON.stringify(this.node?.metadata.labels) !== JSON.stringify(node.metadata.labels);
      const isFirst = this.node === undefined;
      this.node = node;
      if (isFirst || isOther) for (const name of this.known.keys()) this.queue.add(`/${name}`);
    };
    const replace = (all: Map<string, Found>) => {
      for (const [name, node] of all) set(name, node);
    };
    return { set, replace, delete: () => {}, state: () => {} };
  }

  private async reconcile(name: string): Promise<number | undefined> {
    const policy = this.known.get(name);
    if (policy === undefined) return this.pauseOf(name, await this.forget(name));
    if (!isTrue(policy.status?.conditions, "Progressing")) {
      const unknown = async ({ status }: Found) => ({ conditions: unknownConditions(status?.conditions) });
      await this.change(name, unknown, false).catch(() => {});
    }
    try {
      return this.pauseOf(name, await this.enact(policy));
    } finally {
      await this.sayStanding(name);
    }
  }

  /** controller-runtime's exponential failure rate limiter, as the handler sets it up. */
  private pauseOf(policy: string, isRequeued: boolean): number | undefined {
    const before = this.requeues.get(policy) ?? 0;
    if (isRequeued) this.requeues.set(policy, before + 1);
    else this.requeues.delete(policy);
    return isRequeued ? this.options.pace.retry * Math.min(2 ** before, 30) : undefined;
  }

  /** Returns whether the policy is to be tried again. */
  private async enact(policy: Found): Promise<boolean> {
    const { name } = policy.metadata;
    const generation = generationOf(policy);
    const enactment = await this.enactmentOf(policy);
    if (enactment === undefined) return this.forget(name);
    const own = enactment.metadata.name;
    const anew = enactment.status?.policyGeneration === generation ? {} : { conditions: [] };
    const { capture = {}, desiredState } = policy.spec as { capture?: Record<string, string>; desiredState: unknown };
    const captured = enactment.status?.capturedStates;
    let desired: unknown;
    try {
      desired = await this.resolve(capture, desiredState, captured);
    } catch (error) {
      await this.patch(own, { policyGeneration: generation, ...anew });
      const message = `failure generating desiredState and capturedStates: ${(error as Error).message}`;
      await this.notify(own, "failing", message);
      return false;
    }
    const filled = await this.patch(own, { policyGeneration: generation, desiredState: desired, ...anew });
    if ((await this.kube.get(policies, name)) === undefined) return this.forget(name);
    const tried = Number(asBag(filled.status?.retryCount)?.[generation] ?? 0);
    if (tried >= retries) return false;
    // One that tries again has kept its slot, and knows the policy as it was before it began.
    const takesSlot = !isRetrying(enactment);
    if (takesSlot && !(await this.takeSlot(name, generation))) return this.waitOrAbort(policy, own);
    const seen = takesSlot ? this.known.get(name) : policy;
    await this.notify(own, "progressing", "Applying desired state");
    if (isUnknown(seen?.status?.conditions)) await this.sayStanding(name);
    return this.apply(policy, own, desired, tried + 1);
  }

  /** With captured states no capture is evaluated. */
  private async resolve(capture: Record<string, string>, desiredState: unknown, captured: unknown): Promise<unknown> {
    if (captured === undefined) return this.options.machine.resolve(capture, desiredState);
    const filled = filledFrom(captured, desiredState);
    if (filled === undefined) throw new Error("Failed to find what was captured");
    return filled;
  }

  private async apply(policy: Found, enactment: string, desired: unknown, attempt: number): Promise<boolean> {
    const generation = generationOf(policy);
    const { node, machine } = this.options;
    try {
      await machine.apply(desired);
    } catch (error) {
      await this.patch(enactment, { retryCount: { [generation]: attempt } });
      if (attempt < retries) {
        const again = `failed to reconcile NodeNetworkConfigurationPolicy on node ${node}. Retrying ${attempt + 1}/${retries}`;
        await this.notify(enactment, "retrying", again);
        return true;
      }
      const reason = `"", ${(error as Error).message}`;
      const message = `error reconciling NodeNetworkConfigurationPolicy on node ${node} at desired state apply: ${reason}`;
      await this.notify(enactment, "failing", message);
      await this.warn(policy, `reconciliation of enactment "${enactment}" has failed after ${retries} retries`);
      return false;
    }
    await this.notify(enactment, "available", "successfully reconciled");
    await this.leaveSlot(policy.metadata.name, generation);
    await this.refreshReport();
    return false;
  }

  /** Counts itself among the nodes that a policy makes unavailable; false where these are as many as may be, or too many try. */
  private async takeSlot(name: string, generation: number): Promise<boolean> {
    let isTaken = false;
    const take = async (policy: Found) => {
      const most = mostAtOnce(policy.spec?.maxUnavailable, (await this.enactments(name)).length);
      const taken = slotsOf(policy, generation);
      isTaken = taken < most;
      return isTaken ? { unavailableNodeCountMap: { [generation]: taken + 1 } } : undefined;
    };
    await this.change(name, take, false).catch(() => {
      isTaken = false;
    });
    return isTaken;
  }

  /** One that failed for good keeps its slot, as with the real one. */
  private leaveSlot(name: string, generation: number): Promise<void> {
    return this.say(name, async (policy) => {
      const taken = slotsOf(policy, generation);
      return taken > 0 ? { unavailableNodeCountMap: { [generation]: taken - 1 } } : undefined;
    });
  }

  private async waitOrAbort(policy: Found, enactment: string): Promise<boolean> {
    await this.notify(enactment, "pending", "Waiting for progressing nodes to finish");
    const all = await this.enactments(policy.metadata.name);
    const { givenUp } = countOf(all, generationOf(policy));
    if (givenUp < mostAtOnce(policy.spec?.maxUnavailable, all.length)) return true;
    const message = `reconciliation of enactment "${enactment}" has aborted`;
    await this.warn(policy, message);
    await this.notify(enactment, "aborted", message);
    return false;
  }

  /** An Event of the policy, in the namespace where those of cluster-scoped objects are. */
  private async warn({ apiVersion, kind, metadata }: Found, message: string): Promise<void> {
    const now = new Date().toISOString().replace(/\.\d+Z$/, "Z");
    const { name, uid, resourceVersion } = metadata;
    await this.kube.create<KubeObject>(events, {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: `${name}.${process.hrtime.bigint().toString(16)}`, namespace: "default" },
      involvedObject: { apiVersion, kind, name, uid, resourceVersion },
      ...{ type: "Warning", reason: "ReconcileFailed", message },
      ...{ source: { component: "nmstate-handler" }, firstTimestamp: now, lastTimestamp: now, count: 1 },
    } as KubeObject);
  }

  /** Made where there is none; undefined where the policy is not for this node. */
  private async enactmentOf(policy: Found): Promise<Found | undefined> {
    if (this.node === undefined || !selects(policy, this.node)) return undefined;
    const name = `${this.options.node}.${policy.metadata.name}`;
    const there = await this.kube.get<Content>(enactments, name);
    if (there !== undefined) return there;
    const fresh = await this.kube.get<Content>(policies, policy.metadata.name);
    const node = await this.kube.get(nodes, this.options.node);
    if (fresh === undefined || node === undefined || !selects(fresh, node)) return undefined;
    const labels = { "nmstate.io/policy": policy.metadata.name, "nmstate.io/node": node.metadata.name };
    await this.kube.create<Content>(enactments, {
      apiVersion: enactments.apiVersion,
      kind: "NodeNetworkConfigurationEnactment",
      metadata: { name, labels, ownerReferences: [ownerOf(node)] } as Content["metadata"],
    });
    return this.patch(name, { desiredStateMetaInfo: {} });
  }

  private enactments(policy: string): Promise<Found[]> {
    return this.kube.list<Content>(enactments, { labels: `nmstate.io/policy=${policy}` });
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

  private async forget(policy: string): Promise<false> {
    const there = await this.kube.get(enactments, `${this.options.node}.${policy}`);
    if (there !== undefined) await again(() => this.kube.delete(enactments, there));
    return false;
  }

  private sayStanding(name: string): Promise<void> {
    return this.say(name, (latest) => this.standing(latest));
  }

  /** Writes the status of a policy; after ten times in vain the real one lets it be, too. */
  private async say(name: string, status: (policy: Found) => Promise<Bag | undefined>): Promise<void> {
    await this.change(name, status, false)
      .catch(() => this.change(name, status, true))
      .catch(() => {});
  }

  /** Five tries, on the policy as it is known here, or as the server has it. */
  private async change(
    name: string,
    status: (policy: Found) => Promise<Bag | undefined>,
    isAsked: boolean,
  ): Promise<void> {
    await again(async () => {
      const policy = isAsked ? await this.kube.get<Content>(policies, name) : this.known.get(name);
      const now = policy && (await status(policy));
      if (policy !== undefined && now !== undefined) await this.write(policies, policy, now);
    });
  }

  private async standing(policy: Found): Promise<Bag> {
    const count = countOf(await this.enactments(policy.metadata.name), generationOf(policy));
    const selector = Object.entries(asBag(policy.spec?.nodeSelector) ?? {}).map(([key, value]) => `${key}=${value}`);
    const selected = await this.kube.list<Content>(nodes, { labels: selector.join() });
    // The real one finds the nodes that run a handler by their pods; there are none here.
    await this.kube.list(pods, { labels: "component=kubernetes-nmstate-handler" });
    const matching = selected.filter(({ metadata }) => this.options.running.has(metadata.name));
    const ready = matching.filter(({ status }) => isTrue(status?.conditions, "Ready")).length;
    const conditions = policyConditions({ ...count, matching: matching.length, ready }, policy.status?.conditions);
    return { conditions, ...(isTrue(conditions, "Available") && { unavailableNodeCountMap: null }) };
  }

  /** Asks for a report by a label, as the real one does after each change of the node. */
  private async refreshReport(): Promise<void> {
    const labels = { "nmstate.io/force-nns-refresh": `${Date.now()}000000` };
    await this.kube
      .patch(states, this.options.node, undefined, { metadata: { labels } }, { type: "merge" })
      .catch(() => {});
    this.queue.add("report");
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
    await this.write(states, made, { currentState, lastSuccessfulUpdateTime, ...versions });
    this.reported = text;
    return pace.report;
  }

  private write(resource: { apiVersion: string; plural: string }, { metadata }: Stored, status: Bag): Promise<Found> {
    const body = { metadata: { resourceVersion: metadata.resourceVersion }, status };
    return this.kube.patch<Content>(resource, metadata.name, undefined, body, { type: "merge", subresource: "status" });
  }
}

function generationOf({ metadata }: Stored): number {
  return (metadata as { readonly generation?: number }).generation ?? 0;
}

function slotsOf({ status }: Found, generation: number): number {
  return Number(asBag(status?.unavailableNodeCountMap)?.[generation] ?? 0);
}

function isRetrying({ status }: Found): boolean {
  return isTrue(status?.conditions, "Failing") && isTrue(status?.conditions, "Progressing");
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
      await sleep(10 + Math.random());
    }
}
