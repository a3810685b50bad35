import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import type { LogEvent } from "../../../controller/dependencies.ts";
import { runController } from "../../../controller/run/start.ts";
import { formatAddress, type Snapshot } from "../../../core/index.ts";
import { findAccess, type KubeObject, type Objects, objectsOf, type Stored } from "../../../kube/index.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { kubernetes } from "../../../state/kubernetes/backend.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { nextRevision } from "../cluster/history.ts";
import { createNode, nodes, setReady } from "../cluster/nodes.ts";
import { Handler, type HandlerOptions } from "../real/handler.ts";
import { MemoryMachine } from "../real/handler-machine.ts";
import type { Flags } from "../sim/every-system.ts";
import { recordHistory } from "../state/record-history.ts";
import { sharedByPolicies } from "./history.ts";
import { hurried } from "./timing.ts";

/** When it has been calm for so long, all is as it should be. */
const debounce = 60_000;

const pools = { apiVersion: "nmstate.io/v1", plural: "nodeippools" };
const policies = { apiVersion: "nmstate.io/v1", plural: "nodenetworkconfigurationpolicies" };
const kinds = [
  policies,
  { apiVersion: "nmstate.io/v1beta1", plural: "nodenetworkconfigurationenactments" },
  { apiVersion: "nmstate.io/v1beta1", plural: "nodenetworkstates" },
  pools,
  nodes,
];

let count = 0;

/**
 * A play on a real API server: nodes, each with a machine and its handler, controllers, and what must hold all the time: no
 * address is on two machines, and no live line changes its address. At the end the same is asked of all that etcd ever
 * held: of the record, and of the policies of nodes.
 */
export class Stage {
  readonly machines = new Map<string, MemoryMachine>();
  readonly namespace = `stage-${++count}`;
  private readonly cluster: Cluster;
  private readonly kube: Objects;
  /** The first revision of etcd that is about this stage. */
  private since = 1;
  private readonly handlers = new Map<string, Handler>();
  private readonly running = new Set<string>();
  private readonly ends = new Set<() => Promise<void>>();
  private readonly broken: string[] = [];
  /** What the controllers have said. */
  private readonly logged: string[] = [];
  private given = new Map<string, string>();
  /** When that was asked for. */
  private asked = 0;

  private constructor(cluster: Cluster) {
    this.cluster = cluster;
    this.kube = objectsOf(findAccess({ kubeconfig: cluster.kubeconfig }));
  }

  static async open(cluster: Cluster): Promise<Stage> {
    const stage = new Stage(cluster);
    stage.since = await nextRevision(cluster);
    const namespaces = { apiVersion: "v1", plural: "namespaces" };
    const metadata = { name: stage.namespace };
    await stage.kube.create<KubeObject>(namespaces, { apiVersion: "v1", kind: "Namespace", metadata });
    return stage;
  }

  kubectl(args: string, input?: string): Promise<string> {
    return this.cluster.kubectl(args.split(" "), input);
  }

  /** Tries until the server does it: a policy may not be changed while it is being configured. */
  async insist(args: string, input?: string): Promise<void> {
    const tried = () =>
      this.kubectl(args, input).then(
        () => "done",
        (error) => `${error}`,
      );
    await this.until(tried, "done");
  }

  async apply(...objects: readonly object[]): Promise<void> {
    await this.kubectl("apply -f -", JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  }

  /** Nodes that join, each with its handler. */
  async join(...names: readonly string[]): Promise<void> {
    await this.joinAs("worker", ...names);
  }

  async joinAs(role: string, ...names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => this.joinOne(name, role)));
  }

  private async joinOne(name: string, role: string): Promise<void> {
    await createNode(this.kube, name, { role });
    this.boot(name);
    await this.ready(name, true);
  }

  /** A machine, with its handler. */
  boot(name: string, more: Partial<HandlerOptions> = {}): void {
    this.machines.set(name, new MemoryMachine(["eth1", "eth2", "eth3", "eth4"], () => this.look()));
    this.startHandler(name, more);
  }

  /** The machine goes. */
  async halt(name: string): Promise<void> {
    await this.stopHandler(name);
    this.machines.delete(name);
  }

  startHandler(name: string, more: Partial<HandlerOptions> = {}): void {
    this.running.add(name);
    const access = findAccess({ kubeconfig: this.cluster.kubeconfig });
    const machine = this.machines.get(name) as MemoryMachine;
    const pace = { retry: 100, report: 500 };
    this.handlers.set(name, new Handler({ access, node: name, machine, running: this.running, pace, ...more }));
  }

  async stopHandler(name: string): Promise<void> {
    this.running.delete(name);
    await this.handlers.get(name)?.stop();
    this.handlers.delete(name);
  }

  ready(name: string, is: boolean): Promise<void> {
    return setReady(this.kube, name, is);
  }

  /** The machine goes, and then its Node. */
  async leave(...names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => this.halt(name)));
    await this.kubectl(`delete node ${names.join(" ")}`);
  }

  /** Starts a controller in this process, perhaps by another way to the server; returns what stops it. */
  controller({
    kubeconfig = this.cluster.kubeconfig,
    timing = hurried,
    log = (_: LogEvent) => {},
    flags = {} as Flags,
  } = {}): () => Promise<void> {
    const stop = new AbortController();
    const access = findAccess({ kubeconfig });
    const heard = (event: LogEvent) => {
      if (event.level !== "debug") this.logged.push(`${new Date().toISOString()} ${inspect(event, { depth: 0 })}`);
      log(event);
    };
    const options = { access, namespace: this.namespace, timing, signal: stop.signal, log: heard };
    const running = runController({ ...options, ...flags });
    return this.ending(async () => {
      stop.abort();
      await running;
    });
  }

  /** Starts a controller as a process of its own. */
  controllerProcess(): { readonly signal: (name: NodeJS.Signals) => void; readonly stop: () => Promise<void> } {
    const program = join(import.meta.dirname, "child.ts");
    const args = [program, this.cluster.kubeconfig, this.namespace];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "ignore", "inherit"] });
    const ended = once(child, "exit");
    const stop = this.ending(async () => {
      child.kill("SIGKILL");
      await ended;
    });
    return { signal: (name) => void child.kill(name), stop };
  }

  private ending(end: () => Promise<void>): () => Promise<void> {
    const once = async () => {
      if (this.ends.delete(once)) await end();
    };
    this.ends.add(once);
    return once;
  }

  /** The record, as `CLAIM ADDRESS`, sorted; lines that are releasing end with a word. */
  async lines(): Promise<string[]> {
    const asked = Date.now();
    const { allocations, releasing } = await this.record();
    const text = ({ claim, address }: Snapshot["allocations"][number]) =>
      `${claim.replace(/^Node\//, "").replace(/\/address.*$/, "")} ${formatAddress(address)}`;
    const live = new Map(allocations.map((line) => [`${line.pool} ${line.claim}`, formatAddress(line.address)]));
    // In a longer time a claim may have gone, been free, and come back; the history of etcd tells that apart in the end.
    const isSoon = Date.now() - this.asked < hurried.hold;
    for (const [claim, address] of isSoon ? live : []) {
      const before = this.given.get(claim);
      if (before !== undefined && before !== address) this.broken.push(`${claim} moved from ${before} to ${address}`);
    }
    this.given = live;
    this.asked = asked;
    return [...allocations.map(text), ...releasing.map((line) => `${text(line)} releasing`)].sort();
  }

  private record(): Promise<Snapshot> {
    return kubernetes(this.kube, this.namespace).read();
  }

  /** `NODE ADDRESS`, sorted, of every address on a machine. */
  onMachines(): string[] {
    return [...this.machines].flatMap(([name, machine]) => machine.addresses().map((ip) => `${name} ${ip}`)).sort();
  }

  private look(): void {
    const all = [...this.machines].flatMap(([name, machine]) => machine.addresses().map((ip) => [ip, name] as const));
    for (const [ip, holders] of Map.groupBy(all, ([ip]) => ip))
      if (holders.length > 1) this.broken.push(`${ip} is on ${holders.map(([, name]) => name).join(" and ")}`);
  }

  /** Waits until something is so, looking at the record meanwhile. Throws what it is instead. */
  async until(what: () => unknown | Promise<unknown>, expected: unknown, within = debounce): Promise<void> {
    const wanted = JSON.stringify(expected);
    const end = Date.now() + within;
    for (;;) {
      const asked = Date.now();
      const found = JSON.stringify(await what());
      if (found === wanted) break;
      if (Date.now() > end)
        throw new Error(`not within ${within} ms:\n${found}\nbut expected:\n${wanted}\n${await this.state()}`);
      // Asking, above all by kubectl, is not to be most of the work that is done.
      await sleep(Math.max(100, 2 * (Date.now() - asked)));
    }
    this.check();
  }

  /** Waits until the record is this, and the machines have just that, and `besides`. */
  async settles(lines: readonly string[], besides: readonly string[] = []): Promise<void> {
    const bare = [...lines.map((line) => line.replace(/\/\S+/, "")), ...besides].sort();
    await this.until(() => this.lines(), [...lines].sort());
    await this.until(() => this.onMachines(), bare);
  }

  /** The same for whom the addresses are, whichever these are. */
  async serves(owners: readonly string[]): Promise<void> {
    const found = async () => (await this.lines()).map((line) => line.replace(/ [0-9a-f.:]+/, ""));
    await this.until(found, [...owners].sort());
    await this.settles(await this.lines());
  }

  /** For so long nothing changes in the record or on the machines. */
  async stays(lines: readonly string[], ms: number): Promise<void> {
    for (const end = Date.now() + ms; Date.now() < end; await sleep(200)) {
      const found = JSON.stringify(await this.lines());
      if (found !== JSON.stringify([...lines].sort())) throw new Error(`it changed: ${found}`);
    }
    this.check();
  }

  /** What is true of an object, as kubectl prints it. */
  async says(object: string, path: string): Promise<string> {
    return this.cluster.kubectl(["get", ...object.split(" "), "-o", `jsonpath=${path}`]);
  }

  /** Why a pool is as it is, and what is true of a policy. */
  async reason(pool: string): Promise<unknown> {
    return (await this.conditions(pools, pool))[0]?.reason;
  }

  async message(policy: string): Promise<unknown> {
    return (await this.conditions(policies, policy)).find(({ status }) => status === "True")?.message;
  }

  private async conditions(kind: typeof pools, name: string): Promise<Bag[]> {
    const found = await this.kube.get<KubeObject & { readonly status?: Bag }>(kind, name);
    return asList(found?.status?.conditions).map((one) => asBag(one) ?? {});
  }

  /** What helps to see why something is not so. */
  private async state(): Promise<string> {
    const there = await this.kubectl("get nncp,nnce,nodeippools,nodes --no-headers").catch((error) => `${error}`);
    return [new Date().toISOString(), there, ...this.logged.slice(-30)].join("\n");
  }

  private check(): void {
    if (this.broken.length > 0) throw new Error(this.broken.join("\n"));
  }

  /** Looks at all that etcd held so far. */
  async checkHistory(): Promise<number> {
    const { wrong, given } = await recordHistory(this.cluster, this.namespace, { since: this.since, mayReturn: true });
    this.broken.push(...wrong, ...(await sharedByPolicies(this.cluster, this.since)));
    this.check();
    return given;
  }

  /** Puts the servers back to a backup. The nodes stay as they are. */
  async restore(backup: string): Promise<void> {
    await this.checkHistory();
    await this.cluster.restore(backup);
    this.since = await nextRevision(this.cluster);
  }

  /** Ends all, and takes all objects away. */
  async close(): Promise<void> {
    await Promise.all([...this.ends].map((end) => end()));
    await Promise.all([...this.handlers.keys()].map((name) => this.stopHandler(name)));
    await this.checkHistory();
    await this.until(() => this.clear(), 0);
    this.kube.close();
  }

  /** Takes away what is there; how many objects that were. */
  private async clear(): Promise<number> {
    const all = kinds.map(async (kind) => {
      const found = await this.kube.list(kind);
      for (const object of found) await this.remove(kind, object).catch(() => {});
      return found.length;
    });
    return (await Promise.all(all)).reduce((sum, length) => sum + length, 0);
  }

  private async remove(kind: typeof pools, object: Stored): Promise<void> {
    const body = { metadata: { finalizers: null } };
    const patched =
      kind === pools && (await this.kube.patch(kind, object.metadata.name, undefined, body, { type: "merge" }));
    await this.kube.delete(kind, patched || object);
  }
}
