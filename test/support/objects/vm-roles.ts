import { partition } from "../../../core/partition.ts";
import { ipamClaimsAndPods } from "../../../integrations/ipamclaim/claims-and-pods.ts";
import { type ServesVms, virtualMachines } from "../../../integrations/ipamclaim/vm-in-cluster.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { instanceOf, launcherOf, reportOfMultus, rewrittenBy, statusOf } from "../real/virt-controller.ts";
import { SimController } from "../sim/controller.ts";
import { SimReconciler } from "../sim/reconciler.ts";
import type { SimEvent } from "../sim/server.ts";
import { tellCache } from "../sim/watch.ts";
import { pool } from "./ipam-claims.ts";
import { macvlanNetwork, ovnNetwork, vm } from "./vm-objects.ts";

export const gate = "nodeippool.nmstate.io/addresses";

/** All roles for VMs, on one server in memory. */
export class VmRoles {
  readonly engine = new SimController(undefined, undefined, undefined, [ipamClaimsAndPods]);
  readonly server = this.engine.server;
  reconciler: SimReconciler;

  constructor(roles: ServesVms = { claims: true, addresses: true }) {
    this.reconciler = new SimReconciler(virtualMachines(roles), this.server);
    this.engine.create(pool("lan", "10.0.0.0/24", "10.0.0.9"));
    this.engine.create(pool("lan2", "10.0.2.0/24", "10.0.2.9"));
    this.engine.create(macvlanNetwork("red", "lan"));
    this.engine.create(macvlanNetwork("green", "lan2"));
    this.engine.create(ovnNetwork("blue", { subnets: "192.168.10.0/24" }));
  }

  vm(name: string, networks: Readonly<Record<string, string>> = { red: "red" }, more: Parameters<typeof vm>[2] = {}) {
    return this.reconciler.create(vm(name, networks, more) as never);
  }

  /** The VM is to have these networks from now on. */
  edit(name: string, networks: Readonly<Record<string, string>>, kind = "VirtualMachine"): void {
    const { spec } = kind === "VirtualMachine" ? vm(name, networks) : instanceOf(vm(name, networks));
    this.reconciler.change(kind, name, (object) => ({ ...object, spec }));
  }

  pod(name: string, suffix: string): void {
    const instance = this.reconciler.object("VirtualMachineInstance", name);
    this.reconciler.create(launcherOf(instance as never, suffix, [gate]));
  }

  start(name: string, suffix = "x"): void {
    this.reconciler.create(instanceOf(this.reconciler.object("VirtualMachine", name) as never));
    this.pod(name, suffix);
  }

  /** A pod runs: Multus has attached it, virt-controller has written its networks anew, and its instance shows the interfaces. */
  runs(name: string, suffix = "x"): void {
    const instance = () => this.reconciler.object("VirtualMachineInstance", name) as Bag;
    this.annotate(name, suffix, reportOfMultus(this.podOf(name, suffix) ?? {}));
    this.annotate(name, suffix, rewrittenBy(instance()));
    this.reconciler.change("VirtualMachineInstance", name, (one) => ({ ...one, status: statusOf(instance()) }));
  }

  annotate(name: string, suffix: string, annotations: Readonly<Record<string, string>>): void {
    this.reconciler.change("Pod", `virt-launcher-${name}-${suffix}`, ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...asBag(metadata), annotations: { ...asBag(asBag(metadata)?.annotations), ...annotations } },
    }));
  }

  end(name: string): void {
    for (const { metadata } of this.reconciler.all("Pod"))
      if (metadata.name.startsWith(`virt-launcher-${name}-`)) this.reconciler.remove("Pod", metadata.name);
  }

  stop(name: string): void {
    this.end(name);
    this.reconciler.change("VirtualMachineInstance", name, ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...asBag(metadata), finalizers: [] },
    }));
    if (this.reconciler.object("VirtualMachineInstance", name)) this.reconciler.remove("VirtualMachineInstance", name);
  }

  isGated(name: string, suffix = "x"): boolean {
    const pod = this.podOf(name, suffix);
    return asList(asBag(pod?.spec)?.schedulingGates).some((one) => asBag(one)?.name === gate);
  }

  /** What the first network of a pod is told. */
  ips(name: string, suffix = "x"): unknown {
    const { annotations } = this.podOf(name, suffix)?.metadata ?? {};
    return JSON.parse(annotations?.["k8s.v1.cni.cncf.io/networks"] ?? "[{}]")[0].ips;
  }

  private podOf(name: string, suffix: string) {
    return this.reconciler.object("Pod", `virt-launcher-${name}-${suffix}`);
  }

  claims(): string[] {
    return this.reconciler.all("IPAMClaim").map(({ metadata, ...object }) => {
      const ips = asList(asBag((object as Bag).status)?.ips);
      const isEnding = (metadata as Bag).deletionTimestamp !== undefined;
      return [metadata.name, ...ips, ...(isEnding ? ["ending"] : [])].join(" ");
    });
  }

  async pass(ms = 1000, ...more: readonly SimReconciler[]): Promise<void> {
    for (let left = ms; left > 0; left -= 100) {
      await this.engine.pass(100);
      for (const one of [this.reconciler, ...more]) await one.pass(100);
    }
  }
}

/** A reconciler whose watches of some kinds show nothing new. */
export class BlindReconciler extends SimReconciler {
  blindTo: readonly string[] = [];
  private held: readonly SimEvent[] = [];
  private shown = 0;

  protected override tell(): void {
    const all = [...this.held, ...this.server.events.slice(this.shown)];
    this.shown = this.server.events.length;
    const [held, told] = partition(all, ({ object }) => this.blindTo.includes(`${object.kind}`));
    this.held = held;
    tellCache(this.cache, told);
  }
}
