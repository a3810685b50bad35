import { podInterfaceOf } from "../../../integrations/ipamclaim/claim-name.ts";
import { isSettled } from "../../../integrations/ipamclaim/vm-view.ts";
import { isOver } from "../../../integrations/networks/gated-pod.ts";
import type { Stored } from "../../../kube/index.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { gate } from "../objects/vm-roles.ts";
import {
  controllerFinalizer,
  instanceOf,
  launcherOf,
  networksOfLauncher,
  reportOfMultus,
  rewrittenBy,
} from "../real/virt-controller.ts";
import type { SimServer } from "./server.ts";

/** What an instance is to be: its networks, and the interfaces to them. */
interface Machine {
  readonly networks: readonly { readonly name: string; readonly multus?: { readonly networkName: string } }[];
  readonly domain: { readonly devices: { readonly interfaces: readonly Interface[] } };
}

interface Interface {
  readonly name: string;
  /** `absent`: it is being unplugged. */
  readonly state?: string;
}

interface Metadata {
  readonly name: string;
  readonly uid: string;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly { readonly kind: string; readonly name: string; readonly uid: string }[];
}

interface SimKinds {
  readonly VirtualMachine: {
    readonly metadata: Metadata;
    readonly spec: { readonly template: { readonly metadata?: Pick<Metadata, "annotations">; readonly spec: Machine } };
  };
  readonly VirtualMachineInstance: { readonly metadata: Metadata; readonly spec: Machine; readonly status?: Bag };
  readonly Pod: SimPod;
  readonly IPAMClaim: {
    readonly metadata: Metadata;
    readonly spec: { readonly network: string };
    readonly status?: {
      readonly ips?: readonly string[];
      readonly conditions?: readonly { readonly status: string }[];
    };
  };
  readonly NetworkAttachmentDefinition: { readonly metadata: Metadata; readonly spec: Bag };
  readonly NodeIPPool: { readonly metadata: Metadata };
}
type Kind = keyof SimKinds;

export interface SimPod {
  readonly metadata: Metadata;
  readonly spec: { readonly schedulingGates?: readonly { readonly name: string }[] };
  readonly status?: { readonly phase?: string };
}

const kinds = {
  VirtualMachine: { apiVersion: "kubevirt.io/v1", plural: "virtualmachines" },
  VirtualMachineInstance: { apiVersion: "kubevirt.io/v1", plural: "virtualmachineinstances" },
  Pod: { apiVersion: "v1", plural: "pods" },
  IPAMClaim: { apiVersion: "k8s.cni.cncf.io/v1alpha1", plural: "ipamclaims" },
  NetworkAttachmentDefinition: { apiVersion: "k8s.cni.cncf.io/v1", plural: "network-attachment-definitions" },
  NodeIPPool: { apiVersion: "nmstate.io/v1", plural: "nodeippools" },
} as const;

const networksKey = "k8s.v1.cni.cncf.io/networks";
const reportKey = "k8s.v1.cni.cncf.io/network-status";

/** KubeVirt and the garbage collector on a server in memory, and what people do to VMs there. */
export class SimVirt {
  /** The VMs that are to run. */
  readonly wanted = new Set<string>();
  /** The VMs whose guests, or nodes, take their time: pods do not end, and no migration completes. */
  readonly stuck = new Set<string>();
  readonly server: SimServer;
  private readonly say: (what: string) => void;
  private pods = 0;

  constructor(server: SimServer, say: (what: string) => void) {
    this.server = server;
    this.say = say;
  }

  all<K extends Kind>(kind: K): SimKinds[K][] {
    return [...this.server.objects.values()].filter((one) => one.kind === kind) as unknown as SimKinds[K][];
  }

  find<K extends Kind>(kind: K, name: string): SimKinds[K] | undefined {
    return this.all(kind).find(({ metadata }) => metadata.name === name);
  }

  create(object: Bag & { readonly kind: string }): void {
    this.server.create(kinds[object.kind as Kind], object as never);
  }

  remove(kind: Kind, name: string): void {
    this.server.remove(kinds[kind], { metadata: { name, namespace: "default" } } as never);
  }

  change<K extends Kind>(kind: K, name: string, update: (object: SimKinds[K]) => object): void {
    this.server.change(kinds[kind], name, (object) => update(object as never) as Stored & Bag, "default");
  }

  /** The pods of an instance that have not come to their end. */
  podsOf({ metadata }: SimKinds["VirtualMachineInstance"]): SimPod[] {
    return this.all("Pod").filter((pod) => ownerOf(pod)?.uid === metadata.uid && !isOver({ ...pod }));
  }

  /** The networks that a VM is on, and does not lose: those of its instance, else what its template says. */
  networksOf(name: string): { readonly name: string; readonly definition: string }[] {
    const { spec } = this.find("VirtualMachineInstance", name) ?? {};
    const machine = spec ?? this.find("VirtualMachine", name)?.spec.template.spec;
    const gone = new Set(machine?.domain.devices.interfaces.filter(isAbsent).map((one) => one.name));
    return (machine?.networks ?? []).flatMap(({ name: network, multus }) =>
      multus === undefined || gone.has(network) ? [] : [{ name: network, definition: multus.networkName }],
    );
  }

  /** One more pod of an instance: at its start, and as the target of a migration. */
  launch(instance: SimKinds["VirtualMachineInstance"]): void {
    this.create(launcherOf(instance as unknown as Bag, `${++this.pods}`, [gate]));
  }

  /** Interfaces of a VM and its instance are to be unplugged. */
  unplug(name: string, network: string): void {
    const absent = (one: Interface) => (one.name === network ? { ...one, state: "absent" } : one);
    this.edit(name, ({ networks, domain }) => ({
      networks,
      domain: { devices: { interfaces: domain.devices.interfaces.map(absent) } },
    }));
  }

  /** A VM and its instance have one more network. */
  plugIn(name: string, network: string, networkName: string): void {
    this.edit(name, ({ networks, domain }) => ({
      networks: [...networks, { name: network, multus: { networkName } }],
      domain: { devices: { interfaces: [...domain.devices.interfaces, { name: network, bridge: {} }] } },
    }));
  }

  /** Steps that somebody may take next, each a small one. */
  steps(): (() => void)[] {
    return [
      ...this.all("VirtualMachine").flatMap((vm) => this.stepsOfVm(vm)),
      ...this.all("VirtualMachineInstance").flatMap((one) => this.stepsOfInstance(one)),
      ...this.all("Pod").flatMap((pod) => this.stepsOfPod(pod)),
    ];
  }

  private stepsOfVm({ metadata, spec }: SimKinds["VirtualMachine"]): (() => void)[] {
    const { name, deletionTimestamp, finalizers = [] } = metadata;
    if (deletionTimestamp !== undefined) return this.stepsOfDeleted(metadata);
    if (!finalizers.includes(controllerFinalizer))
      return [() => this.setFinalizers(name, [...finalizers, controllerFinalizer])];
    if (!this.wanted.has(name) || this.find("VirtualMachineInstance", name) !== undefined) return [];
    return [
      () => {
        this.say(`virt: instance ${name}`);
        if (spec.template.spec.domain.devices.interfaces.some(isAbsent)) this.edit(name, cut);
        else this.create(instanceOf(this.find("VirtualMachine", name) as never));
      },
    ];
  }

  /**
   * virt-controller deletes the instance of a VM that is deleted, and lets the VM go after that; the garbage collector lets one that
   * is deleted in the foreground go once all that it owns is gone.
   */
  private stepsOfDeleted({ name, uid, finalizers = [] }: Metadata): (() => void)[] {
    const isForeground = finalizers.includes("foregroundDeletion");
    const owned = (["VirtualMachineInstance", "IPAMClaim"] as const).flatMap((kind) =>
      this.all(kind).flatMap(({ metadata }) =>
        metadata.ownerReferences?.some((one) => one.uid === uid) ? { kind, metadata } : [],
      ),
    );
    const ending = owned.filter(({ kind }) => isForeground || kind === "VirtualMachineInstance");
    const letGo = (finalizer: string, isDone: boolean) =>
      isDone && finalizers.includes(finalizer)
        ? [
            () =>
              this.setFinalizers(
                name,
                finalizers.filter((one) => one !== finalizer),
              ),
          ]
        : [];
    return [
      ...ending.flatMap(({ kind, metadata }) =>
        metadata.deletionTimestamp === undefined ? [() => this.remove(kind, metadata.name)] : [],
      ),
      ...letGo("foregroundDeletion", owned.length === 0),
      ...letGo(controllerFinalizer, !owned.some(({ kind }) => kind === "VirtualMachineInstance")),
    ];
  }

  private stepsOfInstance(instance: SimKinds["VirtualMachineInstance"]): (() => void)[] {
    const { name, deletionTimestamp } = instance.metadata;
    if (deletionTimestamp !== undefined) return this.stepsOfEnding(instance);
    const [first, second] = this.podsOf(instance);
    if (first === undefined) return [() => this.begin(instance)];
    const shown = asList(instance.status?.interfaces).map((one) => asBag(one)?.name);
    const absent = instance.spec.domain.devices.interfaces.filter((one) => isAbsent(one) && !shown.includes(one.name));
    return [
      ...(second !== undefined && isRunning(second) && !this.stuck.has(name) ? [() => this.migrated(first)] : []),
      ...(absent.length > 0 ? [() => this.edit(name, cut)] : []),
    ];
  }

  /** All its pods are marked; it goes once they are gone. */
  private stepsOfEnding({ metadata: { name, uid } }: SimKinds["VirtualMachineInstance"]): (() => void)[] {
    const pods = this.all("Pod").filter((pod) => ownerOf(pod)?.uid === uid);
    if (pods.length === 0) return [() => this.unfinalize("VirtualMachineInstance", name)];
    const left = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return left.map(({ metadata }) => () => {
      this.say(`virt: end ${metadata.name}`);
      this.remove("Pod", metadata.name);
    });
  }

  /** The source of a migration has ended; it stays until its instance ends. */
  private migrated({ metadata: { name } }: SimPod): void {
    this.say(`virt: ${name} has migrated`);
    this.change("Pod", name, ({ metadata, ...one }) => ({
      ...one,
      metadata: { ...metadata, finalizers: [] },
      status: { phase: "Succeeded" },
    }));
  }

  /** Its first pod; if it had one that failed, it is at its end. */
  private begin(instance: SimKinds["VirtualMachineInstance"]): void {
    const { name, uid } = instance.metadata;
    const isOver = this.all("Pod").some((pod) => ownerOf(pod)?.uid === uid);
    this.say(`virt: ${isOver ? "ends" : "pod of"} ${name}`);
    if (isOver) this.remove("VirtualMachineInstance", name);
    else this.launch(instance);
  }

  /**
   * Multus attaches a pod that begins, and virt-controller writes its networks; one that failed is cleared away. The kubelet ends one
   * that is deleted: what keeps it until then is a finalizer here.
   */
  private stepsOfPod(pod: SimPod): (() => void)[] {
    const { name, deletionTimestamp } = pod.metadata;
    const owner = ownerOf(pod);
    const instance = this.find("VirtualMachineInstance", `${owner?.name}`);
    if (deletionTimestamp !== undefined)
      return this.stuck.has(`${owner?.name}`) ? [] : [() => this.unfinalize("Pod", name)];
    if (instance === undefined || instance.metadata.uid !== owner?.uid || pod.status?.phase === "Failed")
      return [() => this.remove("Pod", name)];
    if (!isRunning(pod)) return [];
    return attachedTo(pod) === undefined ? [() => this.attach(pod)] : this.stepsOfNetworks(pod, instance);
  }

  private attach(pod: SimPod): void {
    const { name } = pod.metadata;
    this.annotate(name, "is attached", reportOfMultus({ ...pod }));
    this.change("Pod", name, (one) => ({ ...one, metadata: { ...one.metadata, finalizers: ["sim/kubelet"] } }));
  }

  /**
   * Multus attaches what has addresses, and detaches what the networks no longer have. virt-controller writes these anew for as long as
   * an interface is to be unplugged, or is not in the status of the instance; that shows what Multus reports.
   */
  private stepsOfNetworks(pod: SimPod, instance: SimKinds["VirtualMachineInstance"]): (() => void)[] {
    const { name, annotations } = pod.metadata;
    const bag = { ...instance };
    const attached = attachedTo(pod) ?? [];
    const isAttached = (nic: string) => attached.some((one) => one.interface === nic);
    const nics = new Set(networksOfLauncher(bag).map((one) => one.interface));
    const report: readonly Element[] = JSON.parse(`${reportOfMultus({ ...pod })[reportKey]}`);
    const offered = report.filter((one) => one.interface !== "eth0" && one.ips && !isAttached(one.interface));
    const left = attached.filter((one) => nics.has(one.interface));
    const rewritten = rewrittenBy(bag);
    const isWritten = annotations?.[networksKey] === rewritten[networksKey];
    const isEnding = instance.metadata.deletionTimestamp !== undefined;
    const networks = instance.spec.networks.filter(
      (one) => one.multus === undefined || isAttached(podInterfaceOf(one.name)),
    );
    const shown = networks.map((one) => ({ name: one.name }));
    const isObserved = JSON.stringify(instance.status?.interfaces) === JSON.stringify(shown);
    return [
      ...(offered.length === 0
        ? []
        : [
            () =>
              this.annotate(name, "has one more network", { [reportKey]: JSON.stringify([...attached, ...offered]) }),
          ]),
      ...(isSettled(bag) || isWritten || isEnding ? [] : [() => this.annotate(name, "is written anew", rewritten)]),
      ...(left.length === attached.length || !isWritten
        ? []
        : [() => this.annotate(name, "loses a network", { [reportKey]: JSON.stringify(left) })]),
      ...(isObserved || isEnding ? [] : [() => this.show(instance.metadata.name, shown)]),
    ];
  }

  private annotate(name: string, what: string, added: Readonly<Record<string, string>>): void {
    this.say(`virt: ${name} ${what}`);
    this.change("Pod", name, ({ metadata, ...one }) => ({
      ...one,
      metadata: { ...metadata, annotations: { ...metadata.annotations, ...added } },
    }));
  }

  private show(name: string, interfaces: readonly Bag[]): void {
    this.change("VirtualMachineInstance", name, (one) => ({ ...one, status: { interfaces } }));
  }

  /** Changes a VM and its instance alike. */
  private edit(name: string, update: (machine: Machine) => Machine): void {
    if (this.find("VirtualMachine", name) !== undefined)
      this.change("VirtualMachine", name, (vm) => ({
        ...vm,
        spec: { ...vm.spec, template: { ...vm.spec.template, spec: update(vm.spec.template.spec) } },
      }));
    if (this.find("VirtualMachineInstance", name) !== undefined)
      this.change("VirtualMachineInstance", name, (one) => ({ ...one, spec: update(one.spec) }));
  }

  private setFinalizers(vm: string, finalizers: readonly string[]): void {
    this.say(`virt: VM ${vm} has finalizers ${finalizers}`);
    this.change("VirtualMachine", vm, (one) => ({ ...one, metadata: { ...one.metadata, finalizers } }));
  }

  private unfinalize(kind: "VirtualMachineInstance" | "Pod", name: string): void {
    this.say(`virt: ${kind} ${name} is gone`);
    this.change<Kind>(kind, name, (one) => ({ ...one, metadata: { ...one.metadata, finalizers: [] } }));
  }
}

/** What of a network a pod is told. */
export interface Element {
  readonly name: string;
  readonly interface: string;
  readonly ips?: readonly string[];
}

export function elementsOf({ metadata }: SimPod): readonly Element[] {
  return JSON.parse(metadata.annotations?.[networksKey] ?? "[]");
}

/** The secondary networks that a pod is attached to, as Multus reports them; undefined before it does. */
export function attachedTo({ metadata }: SimPod): readonly Element[] | undefined {
  const text = metadata.annotations?.[reportKey];
  if (text === undefined) return undefined;
  const all: readonly Element[] = JSON.parse(text);
  return all.filter((one) => one.interface !== "eth0");
}

export function ownerOf({ metadata }: SimPod) {
  return metadata.ownerReferences?.[0];
}

export function isRunning(pod: SimPod): boolean {
  return asList(pod.spec.schedulingGates).length === 0 && !isOver({ ...pod });
}

function isAbsent({ state }: Interface): boolean {
  return state === "absent";
}

/** Without what is being unplugged. */
function cut({ networks, domain }: Machine): Machine {
  const gone = new Set(domain.devices.interfaces.filter(isAbsent).map(({ name }) => name));
  return {
    networks: networks.filter(({ name }) => !gone.has(name)),
    domain: { devices: { interfaces: domain.devices.interfaces.filter(({ name }) => !gone.has(name)) } },
  };
}
