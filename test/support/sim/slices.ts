import { address } from "../../../core/address.ts";
import {
  type Allocation,
  type Block,
  blocksOverlap,
  formatAddress,
  formatBlock,
  nodeNameOf,
  ownerOfKey,
  parseBlock,
  parsePrefix,
  unwrap,
} from "../../../core/index.ts";
import { nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";
import { slicesInCluster } from "../../../integrations/whereabouts/in-cluster.ts";
import type { Bag } from "../../../schema/objects.ts";
import { ipPoolOf, listIn, problemsOfList } from "../objects/slice-list.ts";
import { attachment, selecting, slicePool } from "../objects/whereabouts-objects.ts";
import { type Odds, Play } from "./play.ts";

const namespace = "kube-system";
const kinds = {
  Node: { apiVersion: "v1", plural: "nodes" },
  NetworkAttachmentDefinition: { apiVersion: "k8s.cni.cncf.io/v1", plural: "network-attachment-definitions" },
  NodeSlicePool: { apiVersion: "whereabouts.cni.cncf.io/v1alpha1", plural: "nodeslicepools" },
  IPPool: { apiVersion: "whereabouts.cni.cncf.io/v1alpha1", plural: "ippools" },
} as const;
type Kind = keyof typeof kinds;

/** Networks: one in the space of all, one with more nodes than slices in a space of its own, one of IPv6 for some nodes only. */
const networks: Readonly<Record<string, Bag>> = {
  net: { range: "10.5.0.0/24", node_slice_size: "/27" },
  red: { range: "10.5.0.0/24", node_slice_size: "/26", gateway: "10.5.0.1", network_name: "red" },
  six: { range: "fd00:5::/60", node_slice_size: "/64" },
};
const names = Object.keys(networks);
const selectors: Readonly<Record<string, string>> = { six: "!infra" };
const mostNodes = 9;
/** A plugin is given up after so long. */
const plugin = 10_000;

/** An address that a pod has, or is about to have, of a slice. */
interface Pod {
  readonly network: string;
  readonly node: string;
  readonly slice: Block;
  /** When its plugin read which slice its node has. */
  readonly since: number;
  /** Which address of the slice it has; none yet while its plugin runs. */
  index?: number;
}

/** Networks with node slices, nodes that come and go, and what whereabouts does on them. */
export class SlicesPlay extends Play {
  /** What pods have in IPPools, also those of nodes that are gone. */
  private readonly pods = new Set<Pod>();
  /** Plugins that run. */
  private readonly starting: Pod[] = [];
  private given: readonly Allocation[] = [];
  private looked = 0;
  private count = 0;
  private version = 0;
  /** Slices that pods got addresses of, and slices that changed hands. */
  readonly seen = { pods: 0, handed: 0, frozen: 0, revisions: 0 };
  private readonly hands = new Map<string, string>();

  constructor(seed: number, odds: Odds) {
    super(seed, odds, [nmstateInCluster, slicesInCluster(namespace)]);
  }

  /** What whereabouts' own controller has left: a slice of a node that is there, and one of a node whose pods are dead. */
  addStock(): void {
    const range = `${networks.net?.range}`;
    this.create(slicePool("net", range, "/27", { n1: "10.5.0.64/27", old: "10.5.0.96/27" }, ["10.5.0.0/27"]));
    this.finish({ network: "net", node: "old", slice: unwrap(parseBlock("10.5.0.96/27")), since: 0 });
  }

  /** Pods of nodes that are gone, in IPPools of which no list has the slice: one is of another size. */
  addLeftovers(): void {
    for (const [network, slice] of [
      ["net", "10.5.0.32/27"],
      ["red", "10.5.0.64/27"],
    ] as const)
      this.finish({ network, node: "left", slice: unwrap(parseBlock(slice)), since: 0 });
  }

  protected change(): void {
    const nodes = this.all("Node").map(({ metadata }) => metadata.name);
    const node = this.some(nodes);
    switch (this.pick(12)) {
      case 0:
      case 1:
        if (nodes.length < mostNodes) this.addNode(`n${++this.count}`);
        return;
      case 2:
      case 3:
        if (node) this.removeNode(node);
        return;
      case 4:
        if (node && this.pick(2) === 0) this.label(node);
        else if (node) this.ready(node, this.pick(3) > 0);
        return;
      case 5:
        if (node) this.removeNode(node);
        if (node) this.addNode(node);
        return;
      case 6:
        this.toggleDefinition(this.some(names) as string);
        return;
      case 7:
        this.changeDefinition();
        return;
      case 8:
        this.resize(this.some(names) as string);
        return;
      case 9:
        this.spoilList();
        return;
      default: {
        const kind = this.some(Object.keys(kinds)) as string;
        const is = this.pick(2) === 0;
        if (is) this.seen.frozen++;
        this.freeze(kind, is);
      }
    }
  }

  protected goesOn() {
    return this.isCalm ? [] : [() => this.startPod(), () => this.goOn(), () => this.endPod()];
  }

  addNode(name: string): void {
    this.trace.push(`add ${name}`);
    const status = { conditions: [{ type: "Ready", status: "True" }] };
    this.create({ apiVersion: "v1", kind: "Node", metadata: { name }, status });
  }

  /** Its machine is off: no plugin runs there any more. What its pods had stays in the IPPools. */
  private removeNode(name: string): void {
    this.trace.push(`remove ${name}`);
    this.server.remove(kinds.Node, { metadata: { name } } as never);
    for (const pod of this.starting.splice(0)) if (pod.node !== name) this.starting.push(pod);
  }

  private ready(name: string, is: boolean): void {
    this.trace.push(`ready ${name} ${is}`);
    const status = { conditions: [{ type: "Ready", status: is ? "True" : "False" }] };
    this.server.change(kinds.Node, name, (node) => ({ ...node, status }));
  }

  /** A node is for infrastructure from now on, or is not any more. */
  private label(name: string): void {
    const labels = this.isInfra(name) ? {} : { infra: "" };
    this.trace.push(`label ${name} ${JSON.stringify(labels)}`);
    this.server.change(kinds.Node, name, (node) => ({ ...node, metadata: { ...node.metadata, labels } }));
  }

  private isInfra(name: string): boolean {
    const node = this.all("Node").find(({ metadata }) => metadata.name === name);
    return "infra" in (node?.metadata.labels ?? {});
  }

  toggleDefinition(network: string, suffix = this.some(["a", "b"]) as string): void {
    const at = suffix === "a" ? "default" : "apps";
    const name = `${network}-${suffix}`;
    const there = this.definitions(network).find(({ metadata }) => metadata.name === name);
    this.trace.push(`${there ? "delete" : "create"} definition ${name}`);
    if (there) this.server.remove(kinds.NetworkAttachmentDefinition, there);
    else this.create(selecting(selectors[network], attachment(name, this.ipam(network), at, { name: network })));
  }

  /** One definition says something else: another size or range, nothing that can be read, or what it should. */
  private changeDefinition(): void {
    const one = this.some(this.all("NetworkAttachmentDefinition"));
    if (one === undefined) return;
    const network = one.metadata.name.replace(/-.$/, "");
    const ipam = this.ipam(network);
    const other = this.some([
      ipam,
      { ...ipam, node_slice_size: this.sizes(network)[1] },
      { ...ipam, range: "10.9.0.0/24" },
      { ...ipam, exclude: ["10.5.0.40"] },
      { ...ipam, node_slice_size: undefined },
      undefined,
    ]);
    this.define(one.metadata.name, network, other);
  }

  private define(name: string, network: string, ipam: Bag | undefined): void {
    this.trace.push(`definition ${name} says ${JSON.stringify(ipam)}`);
    const at = name.endsWith("a") ? "default" : "apps";
    const { spec } = attachment(name, ipam ?? {}, at, { name: network });
    const said = ipam === undefined ? { config: '{ "node_slice_size": ' } : spec;
    this.server.change(kinds.NetworkAttachmentDefinition, name, (one) => ({ ...one, spec: said }), at);
  }

  /** All definitions of a network have slices of another size. */
  private resize(network: string): void {
    this.version++;
    for (const { metadata } of this.definitions(network)) this.define(metadata.name, network, this.ipam(network));
  }

  private sizes(network: string): [now: string, other: string] {
    const usual = `${networks[network]?.node_slice_size}`;
    const smaller = `/${Number(usual.slice(1)) + 1}`;
    return this.version % 2 === 0 ? [usual, smaller] : [smaller, usual];
  }

  private ipam(network: string): Bag {
    return { ...networks[network], node_slice_size: this.sizes(network)[0] };
  }

  private definitions(network: string) {
    return this.all("NetworkAttachmentDefinition").filter(({ metadata }) => metadata.name.startsWith(`${network}-`));
  }

  /** Somebody empties the list of a network, or takes it away. */
  private spoilList(): void {
    const one = this.some(this.all("NodeSlicePool"));
    if (one === undefined) return;
    this.trace.push(`spoil the list of ${one.metadata.name}`);
    const emptied = { allocations: [] };
    if (this.pick(3) === 0) this.server.remove(kinds.NodeSlicePool, one);
    else this.server.change(kinds.NodeSlicePool, one.metadata.name, (was) => ({ ...was, status: emptied }), namespace);
  }

  /** A plugin begins: it reads which slice its node has. */
  private startPod(): void {
    const node = this.some(this.all("Node"))?.metadata.name;
    const network = this.some(names) as string;
    if (node === undefined || this.definitions(network).length === 0) return;
    const slice = this.listed(network).get(node);
    if (slice !== undefined)
      this.starting.push({ network, node, slice: unwrap(parseBlock(slice)), since: this.time.now() });
  }

  /** A plugin goes on: it takes the first free address of the slice. */
  private goOn(): void {
    const [pod] = this.starting.splice(this.pick(this.starting.length), 1);
    if (pod !== undefined && this.time.now() - pod.since <= plugin) this.finish(pod);
  }

  private finish(pod: Pod): void {
    const taken = [...this.pods].filter((one) => one.network === pod.network && isSame(one, pod));
    let index = 1;
    while (taken.some((one) => one.index === index)) index++;
    pod.index = index;
    this.pods.add(pod);
    this.seen.pods++;
    this.trace.push(`a pod of ${pod.node} has ${index} of ${formatBlock(pod.slice)} of ${pod.network}`);
    this.writeIPPool(pod);
  }

  /** A pod ends; or, which takes its time, the reconciler finds that one is dead. */
  private endPod(): void {
    const pod = this.some([...this.pods]);
    if (pod === undefined) return;
    const isAlive = this.server.objects.has(`nodes/${pod.node}`);
    if (this.pick(isAlive ? 4 : 60) === 0) this.end(pod);
  }

  private end(pod: Pod): void {
    this.pods.delete(pod);
    this.trace.push(`a pod of ${pod.node} leaves ${formatBlock(pod.slice)} of ${pod.network}`);
    this.writeIPPool(pod);
  }

  private writeIPPool({ network, node, slice }: Pod): void {
    const inIt = [...this.pods].filter((pod) => pod.network === network && isSame(pod, { node, slice }));
    const indexes = inIt.flatMap(({ index }) => index ?? []);
    const scope = networks[network]?.network_name === undefined ? undefined : network;
    const pool = ipPoolOf(scope, node, formatBlock(slice), indexes);
    const { name } = pool.metadata;
    const there = this.all("IPPool").find(({ metadata }) => metadata.name === name);
    if (there === undefined) this.create({ ...pool });
    else if (inIt.length === 0 && this.pick(2) === 0) this.server.remove(kinds.IPPool, there);
    else this.server.change(kinds.IPPool, name, (one) => ({ ...one, spec: pool.spec }), namespace);
  }

  /** The slices that a network lists, by node. */
  private listed(network: string): Map<string, string> {
    return listIn(this.all("NodeSlicePool").find(({ metadata }) => metadata.name === network));
  }

  /** Nobody is killed or frozen, nothing changes; what definitions say can be read, and the pods end. */
  async calm(): Promise<void> {
    for (const kind of Object.keys(kinds)) this.freeze(kind, false);
    for (const network of names)
      for (const { metadata } of this.definitions(network)) this.define(metadata.name, network, this.ipam(network));
    this.starting.splice(0);
    for (const pod of this.pods) this.end(pod);
    for (const { metadata } of this.all("Node")) this.ready(metadata.name, true);
    await this.rest(() => this.server.events.length);
  }

  /** At rest every node has a slice of every network that selects it and has one left, and what is listed is what is on record. */
  checkRest(): void {
    const { allocations, releasing } = this.record;
    if (releasing.length > 0) throw this.broken(`never freed: ${releasing.map(({ claim }) => claim)}`);
    const all = this.all("Node").map(({ metadata }) => metadata.name);
    for (const network of names) {
      const nodes = all.filter((node) => selectors[network] === undefined || !this.isInfra(node));
      const own = allocations.filter(({ pool }) => pool === network);
      const lines = own.map((line) => `${nodeOf(line)} ${formatBlock(line)}`);
      const isThere = this.definitions(network).length > 0;
      const without = nodes.filter((node) => !own.some((line) => nodeOf(line) === node));
      if (isThere && without.length > 0 && this.hasRoom(network, own)) throw this.broken(`no ${network}: ${without}`);
      const strange = own.filter((line) => !isThere || !nodes.includes(nodeOf(line)));
      if (strange.length > 0) throw this.broken(`lines of nobody: ${strange.map(({ claim }) => claim)}`);
      const pool = this.all("NodeSlicePool").find(({ metadata }) => metadata.name === network);
      if ((pool !== undefined) !== isThere)
        throw this.broken(`the list of ${network} is ${isThere ? "not " : ""}there`);
      const listed = [...listIn(pool)].map((entry) => entry.join(" "));
      if (`${listed}` !== `${lines}`) throw this.broken(`${network} lists ${listed}; on record ${lines}`);
    }
  }

  /** Is there a slice of a network that nobody has, and that may be given? */
  private hasRoom(network: string, lines: readonly Block[]): boolean {
    const { range, gateway, node_slice_size: size } = this.ipam(network);
    const { first, last } = unwrap(parsePrefix(range));
    const [length, bits] = [Number(`${size}`.slice(1)), formatAddress(first).includes(":") ? 128 : 32];
    const taken = [...lines, ...(gateway === undefined ? [] : [{ address: address(`${gateway}`) }])];
    for (let at = first; at <= last; at = (at + 2n ** BigInt(bits - length)) as typeof at)
      if (!taken.some((one) => blocksOverlap(one, { address: at, length }))) return true;
    return false;
  }

  protected check(): void {
    for (; this.looked < this.server.events.length; this.looked++) this.checkList(this.looked);
    if (this.given !== this.record.allocations) this.checkRecord();
    this.checkPods();
  }

  /** Every revision of a list: each node once; slices are aligned, in the range, and never overlap. */
  private checkList(event: number): void {
    const { type, object } = this.server.events[event] ?? {};
    if (type !== "set" || object?.kind !== "NodeSlicePool") return;
    this.seen.revisions++;
    for (const problem of problemsOfList(object)) throw this.broken(problem);
  }

  /** What happens to the record: nobody moves, and nothing in use is free, or somebody else's. */
  private checkRecord(): void {
    const { allocations, releasing } = this.record;
    const lines = [...allocations, ...releasing];
    for (const [i, line] of lines.entries())
      for (const other of lines.slice(i + 1))
        if (line.pool === other.pool && blocksOverlap(line, other))
          throw this.broken(`${line.claim} and ${other.claim} have ${formatBlock(line)}`);
    const before = new Map(this.given.map((line) => [line.claim, line]));
    for (const line of allocations) {
      const was = before.get(line.claim);
      if (was !== undefined && formatBlock(was) !== formatBlock(line))
        throw this.broken(`${line.claim} moved from ${formatBlock(was)} to ${formatBlock(line)}`);
      const place = `${line.pool} ${formatBlock(line)}`;
      if ((this.hands.get(place) ?? line.claim) !== line.claim) this.seen.handed++;
      this.hands.set(place, line.claim);
    }
    this.given = allocations;
  }

  /** Of a slice that a pod has an address of, its node is on record, and nobody else. */
  private checkPods(): void {
    const { allocations, releasing } = this.record;
    for (const { network, node, slice } of this.pods)
      for (const line of [...allocations, ...releasing])
        if (line.pool === network && nodeOf(line) !== node && blocksOverlap(line, slice))
          throw this.broken(`${line.claim} has ${formatBlock(line)}, of which a pod of ${node} has an address`);
  }

  private create(object: Bag): void {
    this.server.create(kinds[object.kind as Kind], object as never);
  }

  private all(kind: Kind) {
    return [...this.server.objects.values()].filter((one) => one.kind === kind);
  }

  private some<T>(all: readonly T[]): T | undefined {
    return all[this.pick(all.length)];
  }
}

function isSame(a: Pick<Pod, "node" | "slice">, b: Pick<Pod, "node" | "slice">): boolean {
  return a.node === b.node && formatBlock(a.slice) === formatBlock(b.slice);
}

function nodeOf({ claim }: Allocation): string {
  return nodeNameOf(ownerOfKey(claim)) ?? "";
}
