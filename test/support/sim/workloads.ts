import { formatAddress, ownerOfKey } from "../../../core/index.ts";
import { isDeleting, ownersOf, uidOf } from "../../../integrations/contract/object-metadata.ts";
import { isGated } from "../../../integrations/networks/gated-pod.ts";
import { workloadsInCluster } from "../../../integrations/workload/in-cluster.ts";
import { isStuck } from "../../../integrations/workload/pod-conflict.ts";
import { hasEnded, isFreed } from "../../../integrations/workload/pods.ts";
import { reconcilersInCluster } from "../../../pipeline/integrations.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { poolConflictsOf } from "../../../schema/pool-conflicts.ts";
import { pool } from "../objects/ipam-claims.ts";
import { detected } from "../objects/pod-detects.ts";
import { macvlanNetwork } from "../objects/vm-objects.ts";
import { elementsOf, ipsOf, singlePod, workload } from "../objects/workload-objects.ts";
import { isRunning, SimApps, type SimKind, type SimObject } from "./apps.ts";
import { type Odds, Play } from "./play.ts";

const owners = [
  ["StatefulSet", "db"],
  ["StatefulSet", "mq"],
  ["Deployment", "web"],
  ["Deployment", "api"],
] as const;
const watched = ["StatefulSet", "Deployment", "Pod", "ConfigMap", "NetworkAttachmentDefinition"];
const subnets: Readonly<Record<string, RegExp>> = { red: /^10\.0\.0\./, blue: /^10\.0\.2\./, eth: /^10\.0\.4\./ };
/** Those whose eth0 is of network `eth`. */
const withEth0: readonly string[] = ["mq", "api"];

/** Workloads come and go, are scaled and rolled; their pods fail, and are killed; nodes are stuck; watches are late; the record is lost. */
export class WorkloadsPlay extends Play {
  readonly seen = { conflicts: 0, running: 0, handed: 0, frozen: 0, lost: 0, freed: 0 };
  private readonly freed = new Set<string>();
  private readonly apps: SimApps;
  private readonly ran = new Set<string>();
  private readonly hands = new Map<string, string>();
  /** Addresses that others have, as the pools said last. */
  private foreign: ReadonlySet<string> = new Set();
  /** The address of each pod of a StatefulSet, for as long as that asks for it. */
  private readonly fixed = new Map<string, string>();

  constructor(seed: number, odds: Odds) {
    super(seed, odds, [workloadsInCluster]);
    this.apps = new SimApps(this.server, (what) => this.trace.push(what));
    // Fewer addresses than claims, now and then.
    this.apps.create(pool("lan", "10.0.0.0/24", "10.0.0.12"));
    this.apps.create(pool("lan2", "10.0.2.0/24", "10.0.2.12"));
    this.apps.create(pool("lan4", "10.0.4.0/24", "10.0.4.12"));
    this.apps.create(macvlanNetwork("eth", "lan4", "kube-system"));
    this.apps.create(macvlanNetwork("red", "lan"));
    this.apps.create(macvlanNetwork("blue", "lan2"));
  }

  /** Whoever starts a controller says which pods are freed: of two, each may be told otherwise. */
  protected override reconcilers() {
    const nodes = this.some(["never", "ready-nodes", "all-nodes", "all-nodes"] as const) ?? "never";
    this.trace.push(`a controller frees pods: ${nodes}`);
    return reconcilersInCluster({ workloadAddresses: true, freeTerminating: nodes, freeTerminatingAfter: 2000 });
  }

  protected goesOn() {
    const steps = this.apps.steps();
    return steps.length === 0 ? [] : [() => this.some(steps)?.()];
  }

  /** What people do, and what happens to nodes. */
  protected change(): void {
    const [kind, name] = this.some(owners) as (typeof owners)[number];
    const there = this.apps.find(kind, name);
    if (this.pick(8) === 0) this.makePod(`pod${this.pick(3)}`);
    else if (this.pick(3) === 0) this.changeAround();
    else if (there === undefined) this.make(kind, name);
    else this.changeWorkload(there);
  }

  private changeAround(): void {
    this.some([
      () => this.killPod(),
      () => this.failPod(),
      () => this.deleteMap(),
      () => this.stick(this.pick(2) === 0),
      () => this.hangPod(),
      () => this.hangPod(),
      () => this.turn(this.some(["n1", "n2"]) as string),
      () => this.loseRecord(),
      () => this.conflict(),
      () => this.conflict(),
      () => this.forgetConflicts(),
      () => this.define(this.some(["gone", "broken", "back"]) as string),
      () => this.freezeSome(this.pick(2) === 0),
      () => this.freezeSome(this.pick(2) === 0),
      () => this.freezeSome(this.pick(2) === 0),
    ])?.();
  }

  private stick(is: boolean): void {
    this.trace.push(`nodes are ${is ? "stuck" : "well"}`);
    this.apps.areNodesStuck = is;
  }

  /** A node is Ready, or not, or is not there; the next pods run there. */
  private turn(name: string): void {
    const how = this.some(["ready", "unknown", "gone"] as const);
    this.trace.push(`node ${name} is ${how}`);
    this.apps.node = name;
    const there = this.apps.find("Node", name);
    if (how !== "gone") this.apps.says(name, how === "ready");
    else if (there !== undefined) this.apps.remove(there);
  }

  private killPod(): void {
    const pod = this.some(this.apps.all("Pod"));
    this.trace.push(`kill ${pod?.metadata.name}`);
    if (pod !== undefined) this.apps.remove(pod);
  }

  /** It is deleted, and its node cannot end it: until another one is. */
  private hangPod(): void {
    const pod = this.some(this.apps.all("Pod").filter((one) => isRunning(one) && !isDeleting(one)));
    if (pod === undefined) return;
    this.trace.push(`${pod.metadata.name} is deleted, and hangs`);
    if (this.apps.hanging.size > 1) this.apps.hanging.clear();
    this.apps.hanging.add(uidOf(pod));
    this.apps.remove(pod);
  }

  private failPod(): void {
    const pod = this.some(this.apps.all("Pod").filter(isRunning));
    this.trace.push(`${pod?.metadata.name} fails`);
    if (pod !== undefined) this.apps.change(pod, (one) => ({ ...one, status: { phase: "Failed" } }));
  }

  /** A pod that was told its addresses finds that another host has one; it does not start. */
  private conflict(): void {
    const told = this.apps.all("Pod").filter((pod) => !isGated(pod) && !hasEnded(pod) && !isDeleting(pod));
    const pod = this.some(told);
    const [element] = pod === undefined ? [] : elementsOf(pod);
    if (pod === undefined || element === undefined) return;
    const line = `conflict ${`${element.ips}`.replace("/24", "")} ${element.interface} 02:00:00:00:00:02`;
    this.trace.push(`${pod.metadata.name}: ${line}`);
    this.seen.conflicts++;
    this.apps.change(pod, (one) => ({ ...one, status: detected(4, line) }));
  }

  /** Somebody takes out of the pools what others have of them. */
  private forgetConflicts(): void {
    this.trace.push("pools have no conflicts");
    for (const one of this.apps.all("NodeIPPool"))
      this.apps.change(one, ({ metadata, ...rest }) => ({
        ...rest,
        metadata: { ...asBag(metadata), annotations: {} },
      }));
  }

  /** The other hosts are gone, and what did not start does. */
  private heal(): void {
    for (const pod of this.apps.all("Pod").filter(isStuck))
      this.apps.change(pod, (one) => ({ ...one, status: { phase: "Running" } }));
    this.forgetConflicts();
  }

  private deleteMap(): void {
    const map = this.some(this.apps.all("ConfigMap"));
    this.trace.push(`delete ${map?.metadata.name}`);
    if (map !== undefined) this.apps.remove(map);
  }

  /**
   * The controllers are started anew: what one still writes by the record that is lost, the next record knows nothing of. The network
   * is well: what nobody can ask for is not put on record again, and a pod that ends then takes its address with it.
   */
  private loseRecord(): void {
    // Before that, more is known.
    if (this.steps < 1000) return;
    this.trace.push("the record is lost");
    this.seen.lost++;
    this.melt();
    this.mend();
    this.kill();
    this.record = { ...this.record, allocations: [], releasing: [], pools: [], base: new Map() };
    this.fixed.clear();
  }

  private melt(): void {
    for (const one of [this, ...this.running]) for (const kind of watched) this.freeze(kind, false, one);
  }

  private define(how: string): void {
    const there = this.apps.find("NetworkAttachmentDefinition", "red");
    this.trace.push(`definition of red: ${how}`);
    const good = macvlanNetwork("red", "lan");
    if (how === "back" && there === undefined) this.apps.create(good);
    else if (there !== undefined && how === "gone") this.apps.remove(there);
    else if (there !== undefined)
      this.apps.change(there, (one) => ({ ...one, spec: how === "broken" ? { config: "{" } : good.spec }));
  }

  private mend(): void {
    this.define("back");
    this.define("good");
  }

  /** Mostly of one of two controllers: what that one sees late, the other one has acted upon. */
  private freezeSome(is: boolean): void {
    if (is) this.seen.frozen++;
    this.freeze(this.some(watched) as string, is, this.some([this, ...this.running, ...this.running]));
  }

  private networks(): string {
    return this.some(["red", "red", "red, blue", "blue"]) as string;
  }

  /** One that nobody makes again: it is killed as others are. */
  private makePod(name: string): void {
    if (this.apps.find("Pod", name) !== undefined) return;
    this.trace.push(`create pod ${name}`);
    this.apps.create(singlePod(name, this.networks()));
  }

  private make(kind: SimKind, name: string): void {
    const spec = { replicas: this.pick(4), strategy: { rollingUpdate: { maxSurge: this.pick(3) } } };
    this.trace.push(`create ${kind} ${name} ${JSON.stringify(spec)}`);
    const eth0 = withEth0.includes(name) ? "eth" : undefined;
    this.apps.create(workload(kind, name, spec, this.networks(), undefined, eth0));
  }

  private changeWorkload(there: SimObject): void {
    const { kind, metadata } = there as SimObject & { kind: SimKind };
    const replicas = this.pick(5);
    this.some([
      () => this.scale(kind, metadata.name, replicas),
      () => this.scale(kind, metadata.name, replicas),
      () => this.roll(kind, metadata.name),
      () => this.roll(kind, metadata.name),
      () => this.roll(kind, metadata.name, { "k8s.v1.cni.cncf.io/networks": this.networks() }),
      () => this.end(there),
    ])?.();
  }

  private scale(kind: SimKind, name: string, replicas: number): void {
    this.trace.push(`scale ${name} ${replicas}`);
    this.apps.edit(kind, name, { replicas });
  }

  private roll(kind: SimKind, name: string, annotations?: Bag): void {
    this.trace.push(`roll ${name} ${JSON.stringify(annotations)}`);
    this.apps.roll(kind, name, annotations);
  }

  private end(there: SimObject): void {
    this.trace.push(`delete ${there.metadata.name}`);
    this.apps.remove(there);
  }

  protected check(): void {
    this.checkHands();
    const pods = this.apps.all("Pod");
    this.forgetUnasked();
    const had = new Map<string, string>();
    const lines = [...this.record.allocations, ...this.record.releasing];
    const ownerOfIp = new Map(lines.map(({ address, claim }) => [formatAddress(address), ownerOfKey(claim)]));
    for (const pod of pods.filter((one) => isFreed(one) && !this.freed.has(uidOf(one)))) {
      this.freed.add(uidOf(pod));
      this.seen.freed++;
    }
    for (const pod of pods.filter((one) => !isGated(one) && !hasEnded(one))) {
      const { name } = pod.metadata;
      if (!this.ran.has(name)) this.seen.running++;
      this.ran.add(name);
      for (const { name: network, interface: nic, ips = [] } of elementsOf(pod)) {
        const ip = `${ips}`.replace("/24", "");
        if (ips.length !== 1 || !subnets[network]?.test(ip)) throw this.broken(`${name} has [${ips}] on ${network}`);
        if (had.has(ip)) throw this.broken(`${ip} is in ${name} and ${had.get(ip)}`);
        had.set(ip, name);
        const owner = ownerOfIp.get(ip);
        // A pod that bears what nobody asks for now is not put on record again, once that was lost.
        const isUnknown = owner === undefined && this.seen.lost > 0;
        if (!isUnknown && owner !== ownerOfPod(pod)) throw this.broken(`${name} has ${ip}; on record it is ${owner}'s`);
        if (!isUnknown && this.isOfSet(pod)) this.checkFixed(`${name} ${network} ${nic}`, ip);
      }
    }
  }

  /** Is there still the StatefulSet that made it? One that was made again under its name has the same addresses only if they are known. */
  private isOfSet(pod: SimObject): boolean {
    const [owner] = ownersOf(pod);
    return owner?.kind === "StatefulSet" && this.apps.all("StatefulSet").some((one) => uidOf(one) === owner.uid);
  }

  /** What a StatefulSet asks for without a break stays the same. */
  private checkFixed(which: string, ip: string): void {
    const before = this.fixed.get(which) ?? ip;
    if (before !== ip) throw this.broken(`${which} had ${before}, and has ${ip}`);
    this.fixed.set(which, ip);
  }

  private forgetUnasked(): void {
    for (const which of this.fixed.keys()) {
      const [, set = "", ordinal, network, nic] = /^(\w+)-(\d+) (\w+) (?:net|eth)(\d)$/.exec(which) ?? [];
      const { replicas = 0, template } = (this.apps.find("StatefulSet", set)?.spec ?? {}) as {
        replicas?: number;
        template?: { metadata: { annotations: Record<string, string> } };
      };
      const named = template?.metadata.annotations["k8s.v1.cni.cncf.io/networks"]?.split(", ") ?? [];
      const isAsked = replicas > Number(ordinal) && (nic === "0" || named[Number(nic) - 1] === network);
      if (!isAsked) this.fixed.delete(which);
    }
  }

  private checkHands(): void {
    const now = this.apps.all("NodeIPPool").flatMap((one) => [...poolConflictsOf(one).keys()].map(formatAddress));
    const known = new Set(now.filter((ip) => this.foreign.has(ip)));
    this.foreign = new Set(now);
    for (const { address, claim } of this.record.allocations) {
      const ip = formatAddress(address);
      const before = this.hands.get(ip) ?? claim;
      if (before !== claim) this.seen.handed++;
      if (before !== claim && known.has(ip))
        throw this.broken(`others have ${ip}; it was ${before}'s, and is ${claim}'s`);
      this.hands.set(ip, claim);
    }
  }

  /** Nobody is killed or frozen, nothing changes; the network is defined, and nodes are well. */
  async calm(): Promise<void> {
    this.melt();
    this.stick(false);
    this.apps.hanging.clear();
    this.mend();
    this.heal();
    await this.rest(() => this.server.events.length);
    // What a controller found before it saw that pods are well.
    this.forgetConflicts();
    await this.rest(() => this.server.events.length);
  }

  /** At rest all pods have their addresses, but where there are too few; what is on record is asked for, borne, or awaited by a pod. */
  checkRest(): void {
    const borne = new Set(
      this.apps
        .all("Pod")
        .filter((pod) => !hasEnded(pod))
        .flatMap(ipsOf),
    );
    const awaiting = this.apps.all("Pod").filter(isGated).map(ownerOfPod);
    for (const { address, claim } of this.record.releasing)
      if (!awaiting.includes(ownerOfKey(claim)) && !borne.has(`${formatAddress(address)}/24`))
        throw this.broken(`${formatAddress(address)} of ${claim} is never free`);
    const isFull = (name: string) => {
      const count = this.apps.all("ConfigMap").find(({ metadata }) => metadata.name.endsWith(name));
      return count === undefined || this.lacks(name);
    };
    for (const [kind, name] of owners) {
      const there = this.apps.find(kind, name);
      const waiting =
        there === undefined
          ? []
          : this.apps.all("Pod").filter((pod) => isGated(pod) && ownerOfPod(pod).endsWith(`:${name}`));
      if (waiting.length > 0 && !isFull(name)) throw this.broken(`${waiting[0]?.metadata.name} waits`);
    }
    // What a pod by itself bears is not put on record again, once that was lost.
    const recorded = this.record.allocations.map(({ address }) => `${formatAddress(address)}/24`);
    const used = [...new Set([...borne, ...recorded])];
    const isAnyFull = ["10.0.0.", "10.0.2."].some((ip) => used.filter((one) => one.startsWith(ip)).length === 12);
    for (const pod of this.apps.all("Pod")) {
      if (isDeleting(pod)) throw this.broken(`${pod.metadata.name} never ends`);
      if (isGated(pod) && isAlone(pod) && !isAnyFull) throw this.broken(`${pod.metadata.name} waits`);
    }
  }

  /** Has a workload fewer addresses than it asks for? */
  private lacks(name: string): boolean {
    const [kind] = owners.find(([, one]) => one === name) ?? [];
    const spec = this.apps.find(kind as SimKind, name)?.spec as {
      replicas: number;
      strategy: { rollingUpdate: { maxSurge: number } };
      template: { metadata: { annotations: Record<string, string> } };
    };
    const indexes = spec.replicas + (kind === "Deployment" ? spec.strategy.rollingUpdate.maxSurge : 0);
    const networks =
      `${spec.template.metadata.annotations["k8s.v1.cni.cncf.io/networks"]}`.split(", ").length +
      (withEth0.includes(name) ? 1 : 0);
    const live = this.record.allocations.filter(({ claim }) => ownerOfKey(claim).endsWith(`:${name}`));
    return live.length < indexes * networks;
  }

  /** All workloads are deleted. */
  async finish(): Promise<void> {
    for (const kind of ["StatefulSet", "Deployment"] as const) for (const one of this.apps.all(kind)) this.end(one);
    for (const pod of this.apps.all("Pod").filter(isAlone)) this.end(pod);
    // What is held back begins anew where time leaps.
    for (let i = 0; i === 0 || (i < 5 && this.record.releasing.length > 0); i++)
      await this.rest(() => this.server.events.length);
  }

  checkEnd(): void {
    const left = [...this.apps.all("Pod"), ...this.apps.all("ConfigMap")].map(({ metadata }) => metadata.name);
    const lines = [...this.record.allocations, ...this.record.releasing].map(({ claim }) => claim);
    if (left.length + lines.length > 0) throw this.broken(`left: ${[...left, ...lines]}`);
  }

  private some<T>(all: readonly T[]): T | undefined {
    return all[this.pick(all.length)];
  }
}

/** Its owner by the workload that made it, as the record has it. */
function ownerOfPod(pod: SimObject): string {
  const [owner] = ownersOf(pod);
  const { labels } = (pod.metadata ?? {}) as { labels?: Bag };
  const hash = `-${asBag(labels)?.["pod-template-hash"]}`;
  if (owner?.kind === "StatefulSet") return `StatefulSet/default:${owner.name}`;
  if (owner === undefined) return `Pod/default:${pod.metadata.name}`;
  return `Deployment/default:${`${owner.name}`.slice(0, -hash.length)}`;
}

/** Has nobody made it? */
function isAlone(pod: SimObject): boolean {
  return ownersOf(pod).length === 0;
}
