import { timeOf } from "../../../controller/dependencies.ts";
import { type Allocation, formatAddress, identityOf } from "../../../core/index.ts";
import type { Reconciler } from "../../../integrations/contract/reconciler.ts";
import { nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";
import { resetAnnotation } from "../../../schema/node-ip-pool.ts";
import { asBag, asList, type Bag, conditionOf } from "../../../schema/objects.ts";
import { policy } from "../objects/controller-objects.ts";
import {
  countOf,
  type EnactmentState,
  enactmentConditions,
  isTrue,
  policyConditions,
} from "../objects/handler-conditions.ts";
import { type Odds, Play } from "./play.ts";
import { timestampWebhook } from "./webhook.ts";

export const kinds = {
  Node: { apiVersion: "v1", plural: "nodes" },
  NodeIPPool: { apiVersion: "nmstate.io/v1", plural: "nodeippools" },
  NodeNetworkConfigurationPolicy: { apiVersion: "nmstate.io/v1", plural: "nodenetworkconfigurationpolicies" },
  NodeNetworkConfigurationEnactment: { apiVersion: "nmstate.io/v1beta1", plural: "nodenetworkconfigurationenactments" },
  NodeNetworkState: { apiVersion: "nmstate.io/v1beta1", plural: "nodenetworkstates" },
} as const;
export type Kind = keyof typeof kinds;

/** kubernetes-nmstate 0.86 applies a policy five times at most, and tries ten times to write its status. */
const mostApplied = 5;
const mostWrites = 10;

/** A machine: what is on its NICs, and what its handler is about to do. */
export interface Machine {
  readonly name: string;
  /** By NetworkManager's profiles: a NIC that is pulled has it again when it comes back. */
  readonly nics: Map<string, Set<string>>;
  readonly pulled: Set<string>;
  /** What the handler has read and not yet applied. */
  readonly work: Bag[];
  /** What it has begun to apply: its enactment says so. */
  begun: Bag | undefined;
  /** How often each policy failed in its version, and when it is applied again. */
  readonly failures: Map<string, { readonly version: string; readonly count: number; readonly again: number }>;
  /** The policy whose status it writes next, as it read it, and how many tries met a conflict. */
  status: { readonly policy: Bag; readonly conflicts: number } | undefined;
  /** Which version of each policy it has enacted. */
  readonly enacted: Map<string, string>;
  /** Which policy was applied last on each NIC. */
  readonly lastOn: Map<string, string>;
  /** Its handler fails to apply anything. */
  isBroken: boolean;
}

/** Nodes with pools and policies of addresses, and the handlers of their machines. */
export class Game extends Play {
  readonly machines = new Map<string, Machine>();
  private readonly given = new Map<string, string>();
  private readonly poolSpecs = new Map<string, Bag>();
  private renamed = "a";
  private count = 0;
  private readonly pullsNics: boolean;

  constructor(
    seed: number,
    odds: Odds,
    pullsNics = false,
    integration = nmstateInCluster,
    reconcilers: readonly Reconciler[] = [],
  ) {
    super(seed, odds, [integration], reconcilers);
    this.pullsNics = pullsNics;
    this.server.webhook = timestampWebhook(this.server);
  }

  protected goesOn() {
    const busy = [...this.machines.values()];
    return busy.length > 0 ? [() => this.handle(busy[this.pick(busy.length)] as Machine)] : [];
  }

  /** What people and machines do. */
  protected change(): void {
    if (this.missingPools().length > 0 && this.pick(2) === 0) this.changePool();
    if (this.record.releasing.length > 0 && this.pick(this.pullsNics ? 30 : 3) === 0) this.reset();
    const nodes = this.all("Node");
    const node = nodes[this.pick(nodes.length)];
    if (node && this.pullsNics && this.pick(3) === 0) {
      this.togglePulled(node.metadata.name);
      return;
    }
    switch (this.pick(11)) {
      case 0:
      case 1:
        if (nodes.length < 12) this.addNode(`n${++this.count}`);
        return;
      case 2:
        if (node) this.removeNode(node.metadata.name);
        return;
      case 3:
        if (node) this.label(node.metadata.name, this.pick(2) === 0 ? { role: "worker" } : {});
        return;
      case 4:
        if (node) this.ready(node.metadata.name, this.pick(3) > 0);
        return;
      case 5:
        this.toggleRenamed("a", "c", "eth1", "p");
        return;
      case 6:
        this.togglePolicy("b", "eth2", "q");
        return;
      case 7:
        this.changePool();
        return;
      case 8:
        if (node) this.toggleFailing(node.metadata.name);
        return;
      case 9:
        this.emptyOffsets();
        return;
      default:
        if (node) this.removeNode(node.metadata.name);
        if (node) this.addNode(node.metadata.name);
        return;
    }
  }

  addNode(name: string): void {
    this.trace.push(`add ${name}`);
    const labels = { "kubernetes.io/hostname": name, role: "worker" };
    const status = { conditions: [{ type: "Ready", status: "True" }] };
    this.server.create(kinds.Node, { apiVersion: "v1", kind: "Node", metadata: { name, labels }, status } as never);
    this.machines.set(name, {
      name,
      nics: new Map(),
      pulled: new Set(),
      work: [],
      begun: undefined,
      failures: new Map(),
      status: undefined,
      enacted: new Map(),
      lastOn: new Map(),
      isBroken: false,
    });
  }

  /** A machine that has an address since before there were pools, and says so. */
  addOldNode(name: string, nic: string, ip: string): void {
    this.addNode(name);
    const machine = this.machines.get(name) as Machine;
    machine.nics.set(nic, new Set([ip]));
    this.reportState(machine);
  }

  /** The machine goes, and so do its Node and its report. */
  removeNode(name: string): void {
    this.trace.push(`remove ${name}`);
    this.server.remove(kinds.Node, { metadata: { name } } as never);
    this.machines.delete(name);
    this.server.remove(kinds.NodeNetworkState, { metadata: { name } } as never);
    this.server.collect();
  }

  label(name: string, labels: Record<string, string>): void {
    this.trace.push(`label ${name} ${JSON.stringify(labels)}`);
    this.server.change(kinds.Node, name, (node) => ({
      ...node,
      metadata: { ...node.metadata, labels: { "kubernetes.io/hostname": name, ...labels } },
    }));
  }

  ready(name: string, is: boolean): void {
    this.trace.push(`ready ${name} ${is}`);
    const status = { conditions: [{ type: "Ready", status: is ? "True" : "False" }] };
    this.server.change(kinds.Node, name, (node) => ({ ...node, status }));
  }

  togglePolicy(name: string, nic: string, pool: string): void {
    const there = this.all("NodeNetworkConfigurationPolicy").some(({ metadata }) => metadata.name === name);
    this.trace.push(`${there ? "delete" : "create"} policy ${name}`);
    const resource = kinds.NodeNetworkConfigurationPolicy;
    if (there) this.server.remove(resource, { metadata: { name } } as never);
    else this.server.create(resource, policy(name, pool, nic) as never);
  }

  /** The same for a policy that comes back by its other name: what is on the NIC then replaces what it had. */
  private toggleRenamed(name: string, other: string, nic: string, pool: string): void {
    const last = [name, other].find((one) =>
      this.server.objects.has(`${kinds.NodeNetworkConfigurationPolicy.plural}/${one}`),
    );
    this.renamed = last === undefined && this.renamed === name ? other : (last ?? name);
    this.togglePolicy(this.renamed, nic, pool);
  }

  addPool(name: string, cidr: string, end: string, more: Bag = {}): void {
    const spec = { range: { cidr, end }, network: name, ...more };
    this.poolSpecs.set(name, spec);
    this.createPool(name, spec);
  }

  private createPool(name: string, spec: Bag): void {
    const status = { observedGeneration: -1 };
    const object = { apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: { name }, spec, status };
    this.server.create(kinds.NodeIPPool, object as never);
  }

  private pool(name: string) {
    return this.all("NodeIPPool").find(({ metadata }) => metadata.name === name);
  }

  /** Somebody deletes a pool; who finds one gone, or on its way, makes it anew, larger or smaller than it was. */
  private changePool(): void {
    const missing = this.missingPools();
    const [name, { range, ...spec }] = (missing[0] ?? [...this.poolSpecs][this.pick(2)]) as [string, Bag];
    if (missing.length === 0) {
      this.trace.push(`delete pool ${name}`);
      this.server.remove(kinds.NodeIPPool, { metadata: { name } } as never);
      return;
    }
    const end = `${asBag(range)?.end}`.replace(/\d+$/, `${4 + this.pick(20)}`);
    this.recreatePool(name, { ...spec, range: { ...asBag(range), end } });
  }

  /** The pools that are gone, or about to go, and how they were. */
  private missingPools(): [name: string, spec: Bag][] {
    return [...this.poolSpecs].filter(
      ([name]) => asBag(this.pool(name)?.metadata ?? { deletionTimestamp: "" })?.deletionTimestamp !== undefined,
    );
  }

  private recreatePool(name: string, spec: Bag): void {
    this.trace.push(`recreate pool ${name} ${JSON.stringify(spec.range)}`);
    if (this.pool(name) !== undefined)
      this.server.change(kinds.NodeIPPool, name, (one) => ({
        ...one,
        metadata: { ...one.metadata, finalizers: [], deletionTimestamp: "2026-01-01T00:00:00Z" },
      }));
    this.createPool(name, spec);
  }

  private toggleFailing(name: string): void {
    const machine = this.machines.get(name) as Machine;
    machine.isBroken = !machine.isBroken;
    this.trace.push(`${name} ${machine.isBroken ? "fails" : "is mended"}`);
    // What failed is tried again once it is mended.
    if (!machine.isBroken) this.tryAgain(machine);
  }

  /** A NIC is pulled, or comes back. Not during a reset: that is a person's word that none comes back with an address. */
  private togglePulled(name: string): void {
    const machine = this.machines.get(name) as Machine;
    const nic = ["eth1", "eth2"][this.pick(2)] as string;
    if (machine.pulled.has(nic)) this.plug(machine, nic);
    else if (![...this.server.objects.values()].some(asksReset)) {
      this.trace.push(`${nic} of ${name} is pulled`);
      machine.pulled.add(nic);
    }
  }

  private plug(machine: Machine, nic: string): void {
    this.trace.push(`${nic} of ${machine.name} comes back`);
    machine.pulled.delete(nic);
    // Somebody deletes the policies that failed, so that they are tried again.
    this.tryAgain(machine);
  }

  protected tryAgain({ enacted, failures }: Machine): void {
    enacted.clear();
    failures.clear();
  }

  /** Whoever asks for a reset sees to it that all nodes have done what they know of, and have reported it. */
  private settle(): void {
    for (const machine of this.machines.values()) {
      // The NICs that are pulled never come back with what they had.
      for (const nic of machine.pulled) machine.nics.delete(nic);
      while (this.goOn(machine));
      this.reportState(machine);
    }
  }

  private reset(): void {
    this.settle();
    const some = (["NodeIPPool", "NodeNetworkConfigurationPolicy", "NodeNetworkConfigurationEnactment"] as const)[
      this.pick(3)
    ];
    const all = this.all(some as Kind);
    const object = all[this.pick(all.length)];
    if (object === undefined) return;
    const { name } = object.metadata;
    this.trace.push(`reset by ${object.kind} ${name}`);
    const value = ["p", "q", "r"][this.pick(3)] as string;
    this.server.change(kinds[some as Kind], name, (one) => ({
      ...one,
      metadata: {
        ...one.metadata,
        annotations: { ...((one.metadata as Bag).annotations as Bag), [resetAnnotation]: value },
      },
    }));
  }

  /** It asks for a reset, too. */
  private emptyOffsets(): void {
    const name = this.pick(2) === 0 ? "p" : "q";
    if (this.pool(name) === undefined) return;
    this.settle();
    this.trace.push(`empty the offsets of ${name}`);
    this.server.change(kinds.NodeIPPool, name, (one) => ({
      ...one,
      status: { ...asBag(one.status), "allocated-offsets": [] },
    }));
  }

  all(kind: Kind) {
    return [...this.server.objects.values()].filter((one) => one.kind === kind);
  }

  /** A step of a machine's handler: it goes on with what it does, or reads the policies of its node, or reports. */
  protected handle(machine: Machine): void {
    if (this.goOn(machine)) return;
    const { name, work } = machine;
    const policies = this.all("NodeNetworkConfigurationPolicy").filter((policy) => {
      const selector = Object.entries(asBag(asBag(policy.spec)?.nodeSelector) ?? {});
      return selector.every(([key, value]) => key === "kubernetes.io/hostname" && value === name);
    });
    for (const enactment of this.all("NodeNetworkConfigurationEnactment")) {
      const labels = enactment.metadata.labels ?? {};
      if (labels["nmstate.io/node"] !== name) continue;
      if (!policies.some(({ metadata }) => metadata.name === labels["nmstate.io/policy"]))
        this.server.remove(kinds.NodeNetworkConfigurationEnactment, enactment);
    }
    for (const policy of policies) if (this.isDue(machine, policy)) work.push(structuredClone(policy));
    if (work.length === 0) this.reportState(machine);
  }

  /** A version that is new, or that failed and whose pause is over. */
  protected isDue({ enacted, failures }: Machine, policy: Bag): boolean {
    const { name } = policy.metadata as { name: string };
    if (enacted.get(name) !== versionOf(policy)) return true;
    const { count, again } = failures.get(name) ?? { count: mostApplied, again: 0 };
    return count < mostApplied && again <= this.time.now();
  }

  /** Returns false if there was nothing to go on with. */
  protected goOn(machine: Machine): boolean {
    const { status, begun, work } = machine;
    const next = status === undefined && begun === undefined ? work.shift() : undefined;
    if (status !== undefined) this.writeStatus(machine, status);
    else if (begun !== undefined) this.enact(machine, begun);
    else if (next !== undefined) this.begin(machine, next);
    return (status ?? begun ?? next) !== undefined;
  }

  protected begin(machine: Machine, policy: Bag): void {
    machine.begun = policy;
    machine.enacted.set((policy.metadata as { name: string }).name, versionOf(policy));
    this.enactment(machine, policy, "progressing", "Applying desired state");
  }

  private enact(machine: Machine, policy: Bag): void {
    const { name, generation } = policy.metadata as { name: string; generation: number };
    this.trace.push(`${machine.name} enacts ${name} ${generation}`);
    machine.begun = undefined;
    machine.status = { policy, conflicts: 0 };
    const interfaces = asList(asBag(asBag(policy.spec)?.desiredState)?.interfaces);
    // As nmstate: a policy that names a NIC which is not there is refused as a whole.
    const pulled = interfaces.map((nic) => `${asBag(nic)?.name}`).find((nic) => machine.pulled.has(nic));
    if (machine.isBroken || pulled !== undefined) {
      const what = `unknown type interface ${pulled} in current state`;
      this.fail(machine, policy, pulled === undefined ? "" : `NmstateError: InvalidArgument: Failed to find ${what}`);
      return;
    }
    machine.failures.delete(name);
    for (const item of interfaces) {
      const nic = asBag(item) ?? {};
      const ipv4 = asBag(nic.ipv4);
      if (ipv4 === undefined) continue;
      const ips = ipv4.enabled === false ? [] : asList(ipv4.address).map((one) => `${asBag(one)?.ip}`);
      machine.nics.set(`${nic.name}`, new Set(ips));
      machine.lastOn.set(`${nic.name}`, name);
    }
    this.enactment(machine, policy, "available", "successfully reconciled");
  }

  /** The handler tries again after 1, 2, 4 and 8 seconds, and then gives up. */
  private fail(machine: Machine, policy: Bag, error: string): void {
    const { name } = policy.metadata as { name: string };
    const version = versionOf(policy);
    const before = machine.failures.get(name);
    const count = 1 + (before?.version === version ? before.count : 0);
    machine.failures.set(name, { version, count, again: this.time.now() + 1000 * 2 ** (count - 1) });
    const what = `NodeNetworkConfigurationPolicy on node ${machine.name}`;
    const message =
      count < mostApplied
        ? `failed to reconcile ${what}. Retrying ${count + 1}/${mostApplied}`
        : `error reconciling ${what} at desired state apply: "", ${error}`;
    this.enactment(machine, policy, count < mostApplied ? "retrying" : "failing", message);
  }

  protected enactment(machine: Machine, policy: Bag, state: EnactmentState, message: string): void {
    const { name, generation: policyGeneration } = policy.metadata as { name: string; generation: number };
    const key = `${machine.name}.${name}`;
    const resource = kinds.NodeNetworkConfigurationEnactment;
    const isThere = this.server.objects.has(`${resource.plural}/${key}`);
    const there = asBag(this.server.objects.get(`${resource.plural}/${key}`)?.status);
    const before = there?.policyGeneration === policyGeneration ? there.conditions : [];
    const conditions = enactmentConditions(state, message, before, timeOf(this));
    const status = { ...there, policyGeneration, conditions };
    if (isThere) this.server.change(resource, key, (one) => ({ ...one, status }));
    else
      this.server.create(resource, {
        ...{ apiVersion: resource.apiVersion, kind: "NodeNetworkConfigurationEnactment" },
        metadata: {
          name: key,
          labels: { "nmstate.io/node": machine.name, "nmstate.io/policy": name },
          ownerReferences: this.ownerOf(machine),
        },
        status,
      } as never);
  }

  /** Writes the status of a policy as the handler read it in an earlier step. If the policy has changed, the handler reads it anew. */
  private writeStatus(machine: Machine, { policy, conflicts }: NonNullable<Machine["status"]>): void {
    const { name, resourceVersion } = policy.metadata as { name: string; resourceVersion: string };
    const there = this.server.objects.get(`${kinds.NodeNetworkConfigurationPolicy.plural}/${name}`);
    machine.status = undefined;
    if (there === undefined) return;
    if (there.metadata.resourceVersion !== resourceVersion) {
      if (conflicts + 1 < mostWrites) machine.status = { policy: structuredClone(there), conflicts: conflicts + 1 };
      else this.trace.push(`${machine.name} writes no status of ${name}: ${mostWrites} conflicts`);
      return;
    }
    const conditions = policyConditions(this.countFor(machine, there), asBag(there.status)?.conditions, timeOf(this));
    this.server.change(kinds.NodeNetworkConfigurationPolicy, name, (one) => ({
      ...one,
      status: { ...asBag(one.status), conditions, lastUnavailableNodeCountUpdate: `${timeOf(this)} ${this.steps}` },
    }));
  }

  private countFor({ name }: Machine, policy: Bag) {
    const { name: called, generation } = policy.metadata as { name: string; generation: number };
    const enactments = this.all("NodeNetworkConfigurationEnactment").filter(
      ({ metadata }) => metadata.labels?.["nmstate.io/policy"] === called,
    );
    const node = this.server.objects.get(`nodes/${name}`);
    const ready = isTrue(asBag(node?.status)?.conditions, "Ready") ? 1 : 0;
    return { ...countOf(enactments as never, generation), matching: node === undefined ? 0 : 1, ready };
  }

  private ownerOf({ name }: Machine) {
    const node = this.server.objects.get(`nodes/${name}`);
    return node === undefined ? [] : [{ kind: "Node", name, uid: node.metadata.uid }];
  }

  protected reportState({ name, nics, pulled }: Machine): void {
    const shown = [...new Set(["eth1", "eth2", ...nics.keys()])].filter((nic) => !pulled.has(nic));
    const interfaces = shown.map((nic) => ({
      name: nic,
      type: "ethernet",
      state: "up",
      ipv4: { enabled: true, address: [...(nics.get(nic) ?? [])].map((ip) => ({ ip, "prefix-length": 24 })) },
    }));
    const status = { currentState: { interfaces }, lastSuccessfulUpdateTime: timeOf(this) };
    const resource = kinds.NodeNetworkState;
    const there = this.server.objects.get(`${resource.plural}/${name}`);
    // As the real handler: what it reported is not reported again, and its time stays.
    if (JSON.stringify(asBag(there?.status)?.currentState) === JSON.stringify(status.currentState)) return;
    if (there !== undefined) this.server.change(resource, name, (one) => ({ ...one, status }));
    else
      this.server.create(resource, {
        apiVersion: resource.apiVersion,
        kind: "NodeNetworkState",
        metadata: { name },
        status,
      } as never);
  }

  /**
   * At rest: every node that a policy selects has its address on its NIC, nobody has another one, and nothing is left over. Where
   * a pool is missing, what nodes have of it stays.
   */
  checkRest(): void {
    const missing = new Set(this.missingPools().map(([name]) => name));
    const { allocations, releasing } = this.record;
    const isThere = ({ claim }: Allocation) => this.machines.has(nodeOf(claim));
    const isFrozen = (line: Allocation) =>
      missing.has(line.pool) && (isThere(line) || this.pool(line.pool) === undefined);
    const isRetained = (line: Allocation) =>
      this.poolSpecs.get(line.pool)?.reclaimPolicy === "Retain" && !isThere(line);
    const wanted = new Set(this.wantedClaims(missing));
    const strange = allocations.filter((line) => !wanted.has(line.claim) && !isRetained(line) && !isFrozen(line));
    this.expectNone("lines of nobody", strange);
    this.expectNone(
      "never freed",
      releasing.filter((line) => !isFrozen(line)),
    );
    const isOn = ({ claim, interface: nic, address }: Allocation) =>
      this.machines.get(nodeOf(claim))?.nics.get(`${nic}`)?.has(formatAddress(address));
    this.expectNone(
      "not on its node",
      allocations.filter((line) => wanted.has(line.claim) && !isOn(line) && !this.wasTakenOff(line)),
    );
    const given = new Set(allocations.map(({ claim }) => claim));
    const isFull = this.all("NodeIPPool").some(({ status }) => JSON.stringify(status).includes("ExhaustedIPPool"));
    const without = isFull ? [] : [...wanted].filter((claim) => !given.has(claim));
    this.expectNone(
      "no address",
      without.map((claim) => ({ claim })),
    );
    const children = this.all("NodeNetworkConfigurationPolicy").filter(
      ({ spec }) => asBag(spec)?.capture === undefined,
    );
    // A handler whose ten tries all meet a conflict never writes the status: a policy that is written all the time stays as it was.
    const unfinished = children.filter(
      ({ spec, status }) => this.machines.has(nodeIn(spec)) && !isTrue(asBag(status)?.conditions, "Available"),
    );
    if (unfinished.length > 0) throw this.broken(`not Available: ${unfinished.map(({ metadata }) => metadata.name)}`);
    const names = new Set([...wanted].filter((claim) => given.has(claim)).map(childOf));
    const leftOver = children.map(({ metadata }) => metadata.name).filter((name) => !names.has(name));
    if (missing.size === 0 && leftOver.length > 0) throw this.broken(`children: ${leftOver}`);
    for (const { metadata, status } of this.all("NodeIPPool"))
      if (conditionOf(asBag(status)?.conditions, "Available")?.reason === "ReconcilingPool")
        throw this.broken(`the reset of ${metadata.name} does not end`);
  }

  /** Of two controllers, one may take an address off while the other one gives it to another policy: docs/limits.md. */
  private wasTakenOff({ claim, interface: nic }: Allocation): boolean {
    const last = this.machines.get(nodeOf(claim))?.lastOn.get(`${nic}`);
    const isGone = !this.all("NodeNetworkConfigurationPolicy").some(({ metadata }) => metadata.name === last);
    return this.wereTwo && isGone;
  }

  /** What policies ask of the pools that are there. */
  private wantedClaims(missing: ReadonlySet<string>): string[] {
    const policies = this.all("NodeNetworkConfigurationPolicy").filter(({ metadata, spec }) => {
      const pool = { a: "p", c: "p", b: "q" }[metadata.name];
      return asBag(spec)?.capture !== undefined && pool !== undefined && !missing.has(pool);
    });
    const nodes = this.all("Node").filter(({ metadata }) => metadata.labels?.role === "worker");
    return policies.flatMap((policy) =>
      nodes.map((node) => `Node/${node.metadata.name}/${policy.metadata.name}/address`),
    );
  }

  private expectNone(what: string, lines: readonly { readonly claim: string }[]): void {
    if (lines.length > 0) throw this.broken(`${what}: ${lines.map(({ claim }) => claim)}`);
  }

  /** At every moment: no address on two machines, and no owner's address moves while the record has it. */
  protected check(): void {
    const holders = new Map<string, string>();
    for (const { name, nics } of this.machines.values())
      for (const ips of nics.values())
        for (const ip of ips) {
          const other = holders.get(ip);
          if (other !== undefined && other !== name) throw this.broken(`${ip} is on ${other} and on ${name}`);
          holders.set(ip, name);
        }
    const lines = new Map(this.record.allocations.map((line) => [identityOf(line), formatAddress(line.address)]));
    for (const [claim, address] of lines) {
      const before = this.given.get(claim);
      if (before !== undefined && before !== address) throw this.broken(`${claim} moved from ${before} to ${address}`);
    }
    this.given.clear();
    for (const [claim, address] of lines) this.given.set(claim, address);
  }

  /** Nothing changes from now on, and nothing fails; every node becomes Ready. Resolves when nothing is left to do. */
  async calm(): Promise<void> {
    for (const node of this.all("Node")) this.ready(node.metadata.name, true);
    for (const machine of this.machines.values()) {
      if (machine.isBroken) this.toggleFailing(machine.name);
      for (const nic of machine.pulled) this.plug(machine, nic);
    }
    if (this.pick(3) > 0) for (const [name, spec] of this.missingPools()) this.recreatePool(name, spec);
    // Handlers report for ever.
    await this.rest(() => this.server.events.filter(({ object }) => object.kind !== "NodeNetworkState").length);
  }
}

/** Has somebody asked for a reset, which goes on? */
function asksReset({ metadata, status }: Bag): boolean {
  const { allocated, "allocated-offsets": offsets } = asBag(status) ?? {};
  const isEmptied = Array.isArray(offsets) && offsets.length === 0 && allocated !== 0;
  return isEmptied || asBag(asBag(metadata)?.annotations)?.[resetAnnotation] !== undefined;
}

function nodeOf(claim: string): string {
  return claim.split("/")[1] ?? "";
}

/** The node that a policy selects. */
function nodeIn(spec: unknown): string {
  return `${asBag(asBag(spec)?.nodeSelector)?.["kubernetes.io/hostname"]}`;
}

function childOf(claim: string): string {
  const [, node, policy] = claim.split("/");
  return `${policy}--${node}`;
}

export function versionOf({ metadata }: Bag): string {
  const { uid, generation } = metadata as { uid: string; generation: number };
  return `${uid} ${generation}`;
}
