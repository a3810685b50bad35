import { formatAddress, ownerOfKey } from "../../../core/index.ts";
import { ipamClaimsAndPods } from "../../../integrations/ipamclaim/claims-and-pods.ts";
import { virtualMachines } from "../../../integrations/ipamclaim/vm-in-cluster.ts";
import { poolAnnotation } from "../../../integrations/networks/bound-pools.ts";
import { isOver } from "../../../integrations/networks/gated-pod.ts";
import type { Bag } from "../../../schema/objects.ts";
import { claim, pool } from "../objects/ipam-claims.ts";
import { definition, macvlanNetwork, vm } from "../objects/vm-objects.ts";
import { type Odds, Play } from "./play.ts";
import { attachedTo, elementsOf, isRunning, ownerOf, SimVirt } from "./virt.ts";

const names = ["a", "b", "a.b", "c"];
const networks = ["one", "two", "red"];
/** What the addresses of a network begin with; `red` names one pool or the other. */
const subnets: Readonly<Record<string, RegExp>> = { red: /^10\.0\.[02]\./, green: /^10\.0\.2\./ };
/** What VMs ask for: some may be somebody's, or of the pool of another network, and one is of none. */
const wishes = ["10.0.0.3", "10.0.2.3", "10.77.0.3"];
const watched = ["VirtualMachine", "VirtualMachineInstance", "Pod", "IPAMClaim", "NetworkAttachmentDefinition"];
const made = "nodeippool.nmstate.io/vm";
const hold = "nmstate.io/used-by-vm";

/** All roles for VMs: VMs come and go, run, migrate, and are changed, and so are their claims and their networks. */
export class VmsPlay extends Play {
  readonly seen = { running: 0, handed: 0, frozen: 0 };
  private readonly virt: SimVirt;
  private readonly isMoving: boolean;
  private looked = 0;
  private readonly ran = new Set<string>();
  private readonly hands = new Map<string, string>();
  private readonly shown = new Map<string, string>();

  /** `isMoving`: networks name other pools, too, and VMs ask for addresses. */
  constructor(seed: number, odds: Odds, isMoving = false) {
    const roles = virtualMachines({ claims: true, addresses: true });
    super(seed, odds, [ipamClaimsAndPods], [roles]);
    this.isMoving = isMoving;
    this.virt = new SimVirt(this.server, (what) => this.trace.push(what));
    // Fewer addresses than claims, now and then.
    this.virt.create(pool("lan", "10.0.0.0/24", "10.0.0.6"));
    this.virt.create(pool("lan2", "10.0.2.0/24", "10.0.2.9"));
    this.virt.create(definition("plain", "default", { name: "plain", type: "bridge" }));
    this.virt.create(macvlanNetwork("red", "lan"));
    this.virt.create(macvlanNetwork("green", "lan2"));
  }

  protected goesOn() {
    const steps = this.virt.steps();
    return steps.length === 0 ? [] : [() => this.some(steps)?.()];
  }

  /** What people do. */
  protected change(): void {
    const name = this.some(names) as string;
    const there = this.virt.find("VirtualMachine", name);
    if (this.pick(3) === 0) this.changeAround();
    else if (there === undefined) this.make(name);
    else if (there.metadata.deletionTimestamp === undefined) this.changeVm(name);
  }

  /** What is not a VM. */
  private changeAround(): void {
    this.some([
      () => this.deleteClaim(),
      () => this.makeClaim(`${this.some(names)}.${this.some(networks)}`),
      () => this.define(this.some(["gone", "broken", "back", ...(this.isMoving ? ["lan", "lan2"] : [])]) as string),
      () => this.failPod(),
      () => this.stick(this.some(names) as string),
      () => this.virt.stuck.clear(),
      () => this.freezeSome(this.pick(2) === 0),
      () => this.freezeSome(this.pick(2) === 0),
      () => this.freezeSome(this.pick(2) === 0),
    ])?.();
  }

  private deleteClaim(): void {
    const name = this.some(this.virt.all("IPAMClaim"))?.metadata.name;
    this.trace.push(`delete claim ${name}`);
    if (name !== undefined) this.virt.remove("IPAMClaim", name);
  }

  private makeClaim(name: string): void {
    if (this.virt.find("IPAMClaim", name) !== undefined) return;
    this.trace.push(`somebody makes claim ${name}`);
    this.virt.create(claim(name, {}, this.some(["red", "green"])));
  }

  private stick(name: string): void {
    this.trace.push(`${name} is stuck`);
    this.virt.stuck.add(name);
  }

  private failPod(): void {
    const name = this.some(this.virt.all("Pod").filter(isRunning))?.metadata.name;
    this.trace.push(`${name} fails`);
    if (name !== undefined) this.virt.change("Pod", name, (object) => ({ ...object, status: { phase: "Failed" } }));
  }

  /** Mostly of one of two controllers: what that one sees late, the other one has acted upon. */
  private freezeSome(is: boolean): void {
    if (is) this.seen.frozen++;
    this.freeze(this.some(watched) as string, is, this.some([this, ...this.running, ...this.running]));
  }

  private make(name: string): void {
    const chosen = this.choose();
    this.trace.push(`create ${name} ${JSON.stringify(chosen)}`);
    this.virt.create(vm(name, chosen, this.wish(chosen)));
    if (this.pick(5) > 0) this.virt.wanted.add(name);
  }

  private choose(): Record<string, string> {
    const chosen = networks.filter(() => this.pick(2) === 0);
    const of = () => this.some(["red", "red", "green", "plain"]) as string;
    return Object.fromEntries((chosen.length > 0 ? chosen : ["red"]).map((network) => [network, of()]));
  }

  private changeVm(name: string): void {
    this.some([
      () => this.toggle(name),
      () => this.stop(name, "restart"),
      () => this.delete(name),
      () => this.rewrite(name, this.choose()),
      () => this.changeRunning(name),
      () => this.changeRunning(name),
    ])?.();
  }

  private rewrite(name: string, chosen: Readonly<Record<string, string>>): void {
    const wanted = this.wish(chosen);
    this.trace.push(`change ${name} ${JSON.stringify({ chosen, ...wanted })}`);
    this.virt.change("VirtualMachine", name, (object) => ({ ...object, spec: vm(name, chosen, wanted).spec }));
  }

  /** Now and then it asks for an address. */
  private wish(chosen: Readonly<Record<string, string>>) {
    if (!this.isMoving) return {};
    const network = this.some(Object.keys(chosen)) as string;
    return this.pick(4) === 0 ? { wanted: { [network]: [this.some(wishes)] } } : {};
  }

  private toggle(name: string): void {
    if (this.virt.wanted.delete(name)) this.stop(name, "stop");
    else {
      this.trace.push(`start ${name}`);
      this.virt.wanted.add(name);
    }
  }

  private stop(name: string, how: string): void {
    this.trace.push(`${how} ${name}`);
    if (this.virt.find("VirtualMachineInstance", name)) this.virt.remove("VirtualMachineInstance", name);
  }

  private delete(name: string): void {
    const more = this.pick(2) === 0 ? ["foregroundDeletion"] : [];
    this.trace.push(`delete ${name} ${more}`);
    this.virt.wanted.delete(name);
    this.virt.change("VirtualMachine", name, (one) => ({
      ...one,
      metadata: { ...one.metadata, finalizers: [...(one.metadata.finalizers ?? []), ...more] },
    }));
    this.virt.remove("VirtualMachine", name);
  }

  /** It migrates, or a network of it is plugged in or unplugged; nothing while one is unplugged, or it migrates. */
  private changeRunning(name: string): void {
    const instance = this.virt.find("VirtualMachineInstance", name);
    if (instance === undefined || instance.metadata.deletionTimestamp !== undefined) return;
    const pods = this.virt.podsOf(instance);
    const isUnplugging = instance.spec.domain.devices.interfaces.some(({ state }) => state !== undefined);
    if (pods.length !== 1 || !pods.every(isRunning) || isUnplugging) return;
    const network = this.some(instance.spec.networks.filter(({ multus }) => multus !== undefined))?.name;
    // KubeVirt refuses two networks of one name, also where only the template has the other one.
    const template = this.virt.find("VirtualMachine", name)?.spec.template.spec.networks ?? [];
    const there = [...instance.spec.networks, ...template];
    const more = this.some(networks.filter((one) => there.every((other) => other.name !== one)));
    const choice = this.pick(3);
    if (choice === 0 && network !== undefined) {
      this.trace.push(`unplug ${name} ${network}`);
      this.virt.unplug(name, network);
    } else if (choice === 1 && more !== undefined) {
      this.trace.push(`plug ${name} ${more}`);
      this.virt.plugIn(name, more, this.some(["red", "green"]) as string);
    } else {
      this.trace.push(`migrate ${name}`);
      this.virt.launch(instance);
    }
  }

  /** The definition of network `red`. */
  private define(how: string): void {
    const isThere = this.virt.find("NetworkAttachmentDefinition", "red") !== undefined;
    const good = macvlanNetwork("red", "lan");
    const spec = how === "broken" ? { config: "{" } : good.spec;
    this.trace.push(`definition of red: ${how}`);
    if (how === "back" && !isThere) this.virt.create(good);
    else if (isThere && how.startsWith("lan"))
      this.virt.change("NetworkAttachmentDefinition", "red", (one) => ({
        ...one,
        metadata: { ...one.metadata, annotations: { [poolAnnotation]: how } },
      }));
    else if (isThere && how === "gone") this.virt.remove("NetworkAttachmentDefinition", "red");
    else if (isThere) this.virt.change("NetworkAttachmentDefinition", "red", (one) => ({ ...one, spec }));
  }

  protected check(): void {
    for (; this.looked < this.server.events.length; this.looked++) this.checkClaim(this.looked);
    this.checkHands();
    this.checkPods();
  }

  /** What a claim shows, it shows for as long as it is there. */
  private checkClaim(event: number): void {
    const { object } = this.server.events[event] ?? {};
    if (object?.kind !== "IPAMClaim") return;
    const { ips = [] } = (object.status ?? {}) as { readonly ips?: readonly string[] };
    const before = this.shown.get(`${object.metadata.uid}`);
    if (before !== undefined && before !== `${ips}`)
      throw this.broken(`claim ${object.metadata.name} had ${before}, and shows ${ips}`);
    if (ips.length > 0) this.shown.set(`${object.metadata.uid}`, `${ips}`);
  }

  private checkHands(): void {
    for (const { address, claim: key } of this.record.allocations) {
      const ip = formatAddress(address);
      if ((this.hands.get(ip) ?? key) !== key) this.seen.handed++;
      this.hands.set(ip, key);
    }
  }

  /** Who runs with an address has it on record, and no other one runs with it. */
  private checkPods(): void {
    const lines = [...this.record.allocations, ...this.record.releasing];
    const ownerOfIp = new Map(lines.map(({ address, claim: key }) => [formatAddress(address), ownerOfKey(key)]));
    const had = new Map<string, string>();
    for (const pod of this.virt.all("Pod").filter(isRunning)) {
      const { name } = pod.metadata;
      const owner = `${ownerOf(pod)?.name}`;
      if (!this.ran.has(name)) this.seen.running++;
      this.ran.add(name);
      // Others rewrite what Multus is told: what is attached stays as it is.
      for (const { name: definition, interface: nic, ips = [] } of attachedTo(pod) ?? elementsOf(pod)) {
        const network = definition.replace("default/", "");
        const subnet = subnets[network];
        if (subnet === undefined) continue;
        if (ips.length !== 1) throw this.broken(`${name} runs with [${ips}] on ${network}`);
        const ip = `${ips}`.replace("/24", "");
        if (!subnet.test(ip)) throw this.broken(`${name} has ${ip} on ${network}`);
        const me = `${owner} ${nic}`;
        if ((had.get(ip) ?? me) !== me) throw this.broken(`${ip} is on ${me} and ${had.get(ip)}`);
        had.set(ip, me);
        if (!`${ownerOfIp.get(ip)}`.startsWith(`IPAMClaim/default:${owner}.`))
          throw this.broken(`${name} runs with ${ip}; on record it is ${ownerOfIp.get(ip)}'s`);
      }
    }
  }

  /** Nobody is killed or frozen, nothing changes; the network is defined, and has room. */
  async calm(): Promise<void> {
    for (const one of [this, ...this.running]) for (const kind of watched) this.freeze(kind, false, one);
    this.virt.stuck.clear();
    this.define("back");
    await this.rest(() => this.server.events.length);
  }

  /** At rest each VM has its claims, and those that are to run do, if their claims can have addresses. */
  checkRest(): void {
    this.checkReleasing();
    for (const pod of this.virt.all("Pod").filter((one) => !isOver({ ...one })))
      if (!isRunning(pod) && !this.mayWait(`${ownerOf(pod)?.name}`)) throw this.broken(`${pod.metadata.name} waits`);
    const vms = new Set(this.virt.all("VirtualMachine").map(({ metadata }) => metadata.name));
    for (const { metadata } of this.virt.all("IPAMClaim"))
      if (metadata.deletionTimestamp !== undefined && !vms.has(metadata.name.replace(/\.[^.]+$/, "")))
        throw this.broken(`claim ${metadata.name} never ends`);
    for (const vm of vms)
      for (const { name, definition: of } of this.virt.networksOf(vm))
        if (of !== "plain" && this.virt.find("IPAMClaim", `${vm}.${name}`) === undefined && !this.asksAmiss(vm))
          throw this.broken(`no claim for ${name} of ${vm}`);
  }

  /** Does a VM still ask for addresses of a network that was unplugged? No claim is made for it until it says otherwise. */
  private asksAmiss(vm: string): boolean {
    const { annotations } = this.virt.find("VirtualMachine", vm)?.spec.template.metadata ?? {};
    const asked = Object.keys(JSON.parse(annotations?.["network.kubevirt.io/addresses"] ?? "{}"));
    const names = this.virt.networksOf(vm).map(({ name }) => name);
    return asked.some((name) => !names.includes(name));
  }

  /** Nothing is held back for a claim that is there, and neither shows nor may have shown it, nor was made with it. */
  private checkReleasing(): void {
    for (const { address, claim: key } of this.record.releasing) {
      const claim = this.virt.find("IPAMClaim", ownerOfKey(key).replace("IPAMClaim/default:", ""));
      const isEnding = claim?.metadata.deletionTimestamp !== undefined;
      const { ips = [] } = (claim?.status ?? {}) as { readonly ips?: readonly string[] };
      const { annotations } = (claim?.metadata ?? {}) as { readonly annotations?: Bag };
      // A claim that was made with an address may be that of a pod that runs.
      const planned = `${annotations?.["nodeippool.nmstate.io/addresses"]}`.split(",");
      const shown = [...ips.map((ip) => ip.replace(/\/.*/, "")), ...planned];
      // One that had addresses, and shows none, may have shown this one.
      const isUnknown = ips.length === 0 && claim?.metadata.finalizers?.includes("nmstate.io/release-addresses");
      if (!isEnding && !isUnknown && !shown.includes(formatAddress(address)))
        throw this.broken(`${formatAddress(address)} of ${key} is never free`);
    }
  }

  /** Is one of its claims without an address, for want of one, or somebody's for another network? */
  private mayWait(vm: string): boolean {
    return this.virt.networksOf(vm).some(({ name, definition: of }) => {
      const { metadata, spec, status } = this.virt.find("IPAMClaim", `${vm}.${name}`) ?? {};
      const isOurs = metadata?.annotations?.[made] !== undefined;
      return status?.conditions?.[0]?.status === "False" || (!isOurs && spec?.network !== of);
    });
  }

  /** All VMs are deleted. */
  async end(): Promise<void> {
    for (const { metadata } of this.virt.all("VirtualMachine")) this.delete(metadata.name);
    // What is held back begins anew where time leaps.
    for (let i = 0; i === 0 || (i < 5 && this.record.releasing.length > 0); i++)
      await this.rest(() => this.server.events.length);
  }

  /** Nothing that is ours is left, but the claims that people made. */
  checkEnd(): void {
    const left = this.virt.all("IPAMClaim");
    const ours = left.filter(({ metadata }) => metadata.annotations?.[made] !== undefined);
    const held = left.filter(({ metadata }) => metadata.finalizers?.includes(hold));
    for (const { metadata } of [...ours, ...held]) throw this.broken(`claim ${metadata.name} is left`);
    const keys = new Set(left.map(({ metadata }) => `IPAMClaim/default:${metadata.name}`));
    for (const { claim: key } of [...this.record.allocations, ...this.record.releasing])
      if (!keys.has(ownerOfKey(key))) throw this.broken(`${key} is on record`);
  }

  private some<T>(all: readonly T[]): T | undefined {
    return all[this.pick(all.length)];
  }
}
