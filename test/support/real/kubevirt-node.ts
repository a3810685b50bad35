import { setTimeout as sleep } from "node:timers/promises";
import { isDeleting, ownersOf } from "../../../integrations/contract/object-metadata.ts";
import { isGated, isOver } from "../../../integrations/networks/gated-pod.ts";
import type { KubeObject, Objects, Resource, Stored } from "../../../kube/index.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { replay } from "../cluster/history.ts";
import { vmNodes } from "./kubevirt.ts";
import { reportOfMultus } from "./virt-controller.ts";

type Any = Stored & Bag;
type Kind = keyof typeof vmResources;

export const vmResources = {
  vms: { apiVersion: "kubevirt.io/v1", plural: "virtualmachines" },
  instances: { apiVersion: "kubevirt.io/v1", plural: "virtualmachineinstances" },
  migrations: { apiVersion: "kubevirt.io/v1", plural: "virtualmachineinstancemigrations" },
  pods: { apiVersion: "v1", plural: "pods" },
  claims: { apiVersion: "k8s.cni.cncf.io/v1alpha1", plural: "ipamclaims" },
} satisfies Record<string, Resource>;

/**
 * What runs on the nodes beside the real virt-controller: the scheduler, kubelet, Multus and virt-handler. Pods have no containers:
 * these write what the real ones would report.
 */
export class KubevirtNodes {
  private readonly cluster: Cluster;
  private readonly kube: Objects;
  private readonly stopped = new AbortController();
  private readonly running: Promise<void>;
  /** VMs, by their names, whose pods never end. */
  readonly hanging = new Set<string>();

  constructor(cluster: Cluster, kube: Objects) {
    this.cluster = cluster;
    this.kube = kube;
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.running;
  }

  all(kind: Kind): Promise<Any[]> {
    return this.kube.list<KubeObject & Bag>(vmResources[kind], { namespace: "default" });
  }

  patch(kind: Kind, name: string, body: Bag, subresource?: "status"): Promise<unknown> {
    const options = { type: "merge", ...(subresource && { subresource }) } as const;
    return this.kube.patch(vmResources[kind], name, "default", { ...body }, options);
  }

  private async run(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      const [pods, instances] = await Promise.all([this.all("pods"), this.all("instances")]);
      // Whoever was faster: it is looked at again.
      await Promise.all(pods.map((pod) => this.playPod(pod, pods).catch(() => {})));
      await Promise.all(instances.map((one) => this.playHandler(one, pods).catch(() => {})));
      await sleep(50);
    }
  }

  private async playPod(pod: Any, all: readonly Any[]): Promise<void> {
    const { name, annotations } = pod.metadata as Any["metadata"] & { readonly annotations?: Bag };
    if (isGated(pod)) return;
    if (isDeleting(pod) || isOver(pod)) return this.endPod(pod);
    const node = asBag(pod.spec)?.nodeName;
    if (node === undefined) return this.bind(pod, all);
    const report = reportOfMultus(pod);
    const isReported = Object.keys(report).every((key) => annotations?.[key] !== undefined);
    if (!isReported) await this.patch("pods", name, { metadata: { annotations: report } });
    if (isReported) await this.plug(pod);
    if (asBag(pod.status)?.phase === "Pending") await this.patch("pods", name, { status: running }, "status");
  }

  /**
   * Multus attaches and detaches what the networks of a pod that runs say otherwise. As the controller that has it do so, it sees each
   * change of a pod; static attaches nothing without an address.
   */
  private async plug(pod: Any): Promise<void> {
    const { annotations } = asBag(pod.metadata) ?? {};
    for (const [key, text] of Object.entries(reportOfMultus(pod))) {
      const attached: Bag[] = JSON.parse(`${asBag(annotations)?.[key]}`);
      const wanted: Bag[] = JSON.parse(text);
      const isAttached = ({ interface: nic }: Bag) => attached.some((one) => one.interface === nic);
      const missing = wanted.filter((one) => !isAttached(one));
      const offered = missing.length === 0 ? [] : await this.offeredTo(pod.metadata.name, missing);
      const left = attached.filter(({ interface: nic }) => wanted.some((one) => one.interface === nic));
      if (offered.length > 0 || left.length < attached.length)
        await this.patch("pods", pod.metadata.name, {
          metadata: { annotations: { [key]: JSON.stringify([...left, ...offered]) } },
        });
    }
  }

  /** The interfaces of a pod for which one of its versions had addresses. */
  private async offeredTo(name: string, interfaces: readonly Bag[]): Promise<Bag[]> {
    const offered = new Map<unknown, Bag>();
    await replay(this.cluster, "pods", ({ key, object }) => {
      if (!key.endsWith(`/${name}`) || object === undefined) return;
      const reports = Object.values(reportOfMultus(object as Bag)).flatMap((text): Bag[] => JSON.parse(text));
      for (const one of reports) if (asList(one.ips).length > 0) offered.set(one.interface, one);
    });
    return interfaces.flatMap((one): Bag[] => {
      const found = offered.get(one.interface);
      return found === undefined ? [] : [found];
    });
  }

  /** The target of a migration has an anti-affinity to its source. */
  private async bind(pod: Any, all: readonly Any[]): Promise<void> {
    const [instance] = ownersOf(pod).map(({ uid }) => uid);
    const beside = all.filter((one) => ownersOf(one)[0]?.uid === instance && !isOver(one));
    const taken = beside.map(({ spec }) => asBag(spec)?.nodeName);
    const binding = {
      ...{ apiVersion: "v1", kind: "Binding", metadata: { name: pod.metadata.name, namespace: "default" } },
      target: { kind: "Node", name: vmNodes.find((node) => !taken.includes(node)) ?? vmNodes[0] },
    };
    await this.kube.create({ apiVersion: "v1", plural: "bindings" }, binding as never);
  }

  private async endPod(pod: Any): Promise<void> {
    const { name } = pod.metadata;
    if ([...this.hanging].some((vm) => name.startsWith(`virt-launcher-${vm}-`))) return;
    if (!isOver(pod)) await this.patch("pods", name, { status: { phase: "Succeeded" } }, "status");
    if (isDeleting(pod))
      await this.cluster.kubectl(["delete", "pod", name, "--force", "--grace-period=0", "--wait=false"]);
  }

  private async playHandler(instance: Any, pods: readonly Any[]): Promise<void> {
    const { name } = instance.metadata;
    const { phase, migrationState } = asBag(instance.status) ?? {};
    if (phase === "Scheduled" && !isDeleting(instance)) return void (await this.status(name, handled));
    if (this.hanging.has(name)) return;
    if (isDeleting(instance) && phase !== "Succeeded") return void (await this.status(name, { phase: "Succeeded" }));
    const state = asBag(migrationState);
    if (phase === "Running") await this.unplug(instance);
    if (phase !== "Running" || state === undefined) return;
    const source = pods.find((pod) => pod.metadata.name === state.sourcePod);
    if (state.completed === true) return source === undefined ? undefined : this.endPod(source);
    const target = pods.find((pod) => pod.metadata.name === state.targetPod);
    const node = asBag(target?.spec)?.nodeName;
    if (node === undefined || state.targetNode !== node) return;
    await this.migrate(name, state, `${node}`);
  }

  /** The status of an instance shows an interface that is to be unplugged until Multus has detached it. */
  private async unplug({ metadata, spec, status }: Any): Promise<void> {
    const devices = asList(asBag(asBag(asBag(spec)?.domain)?.devices)?.interfaces).map((one) => asBag(one) ?? {});
    const absent = devices.filter(({ state }) => state === "absent").map(({ name }) => name);
    const shown = asList(asBag(status)?.interfaces).map((one) => asBag(one) ?? {});
    const isGone = ({ name, infoSource }: Bag) => absent.includes(name) && !`${infoSource}`.includes("multus-status");
    if (shown.some(isGone)) await this.status(metadata.name, { interfaces: shown.filter((one) => !isGone(one)) });
  }

  /** One step after the other of a migration. */
  private async migrate(name: string, state: Bag, node: string): Promise<void> {
    const now = new Date().toISOString().replace(/\.\d+/, "");
    if (state.targetNodeAddress === undefined)
      return void (await this.status(name, { migrationState: { targetNodeAddress: "192.0.2.9" } }));
    if (state.startTimestamp === undefined)
      return void (await this.status(name, { migrationState: { startTimestamp: now } }));
    const done = {
      targetNodeDomainDetected: true,
      targetNodeDomainReadyTimestamp: now,
      endTimestamp: now,
      completed: true,
    };
    await this.patch("instances", name, {
      metadata: { labels: { "kubevirt.io/nodeName": node } },
      status: { nodeName: node, migrationState: done },
    });
  }

  private status(name: string, status: Bag): Promise<unknown> {
    return this.patch("instances", name, { status });
  }
}

const conditions = ["Ready", "ContainersReady"].map((type) => ({ type, status: "True" }));
const containerStatuses = [
  {
    ...{ name: "compute", image: "virt-launcher", imageID: "virt-launcher", ready: true, restartCount: 0 },
    state: { running: { startedAt: "2026-01-01T00:00:00Z" } },
  },
];
const running = { phase: "Running", podIP: "192.0.2.1", podIPs: [{ ip: "192.0.2.1" }], conditions, containerStatuses };
/** What virt-handler says of an instance that runs. */
const handled = {
  phase: "Running",
  selinuxContext: "none",
  conditions: ["Ready", "LiveMigratable"].map((type) => ({ type, status: "True" })),
};
