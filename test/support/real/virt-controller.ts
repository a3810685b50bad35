import { IpamError } from "../../../core/index.ts";
import { isDeleting } from "../../../integrations/contract/object-metadata.ts";
import { podInterfaceOf } from "../../../integrations/ipamclaim/claim-name.ts";
import type { KubeObject, Objects } from "../../../kube/index.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { removeAnyhow } from "../controller/removal.ts";

/** virt-controller sets it on VMs and their instances, and takes it off a VM once its instance is gone. */
export const controllerFinalizer = "kubevirt.io/virtualMachineControllerFinalize";

/** What virt-controller makes of a VM: its instance, with the VM as its owner. */
export function instanceOf(vm: Bag): Bag & { readonly kind: string } {
  const { name, namespace, uid } = asBag(vm.metadata) ?? {};
  const owner = { apiVersion: "kubevirt.io/v1", kind: "VirtualMachine", name, uid, controller: true };
  return {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: {
      ...{ name, namespace },
      finalizers: [controllerFinalizer, "foregroundDeleteVirtualMachine"],
      ownerReferences: [{ ...owner, blockOwnerDeletion: true }],
    },
    spec: asBag(asBag(asBag(vm.spec)?.template)?.spec),
  };
}

/** A pod that it runs in: with the networks as virt-controller lists them, and as an admission policy gates it. */
export function launcherOf(
  instance: Bag,
  suffix: string,
  gates: readonly string[] = [],
): Bag & { readonly kind: string } {
  const { name, namespace, uid } = asBag(instance.metadata) ?? {};
  const networks = networksOfLauncher(instance);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `virt-launcher-${name}-${suffix}`,
      namespace,
      labels: { "kubevirt.io": "virt-launcher", "kubevirt.io/created-by": uid, "vm.kubevirt.io/name": name },
      annotations: { "kubevirt.io/domain": name, [networksKey]: JSON.stringify(networks) },
      ownerReferences: [
        {
          ...{ apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance", name, uid },
          ...{ controller: true, blockOwnerDeletion: true },
        },
      ],
    },
    spec: {
      containers: [{ name: "compute", image: "example.com/virt-launcher" }],
      ...(gates.length === 0 ? {} : { schedulingGates: gates.map((gate) => ({ name: gate })) }),
    },
  };
}

/** The networks of a pod of an instance, as virt-controller lists them for Multus. */
export function networksOfLauncher(instance: Bag) {
  const { namespace } = asBag(instance.metadata) ?? {};
  const { networks, domain } = asBag(instance.spec) ?? {};
  const interfaces = asList(asBag(asBag(domain)?.devices)?.interfaces).map((one) => asBag(one) ?? {});
  return asList(networks).flatMap((one) => {
    const { name: network, multus } = asBag(one) ?? {};
    const { state, macAddress } = interfaces.find(({ name }) => name === network) ?? {};
    const of = `${asBag(multus)?.networkName}`;
    if (asBag(multus) === undefined || state === "absent") return [];
    const [at, definition] = of.includes("/") ? of.split("/") : [namespace, of];
    const mac = macAddress === undefined ? {} : { mac: macAddress };
    return [{ name: definition, namespace: at, ...mac, interface: podInterfaceOf(`${network}`) }];
  });
}

/** What the real Multus reports of a pod that it has attached, but for the MAC addresses: what its networks say at that moment. */
export function reportOfMultus({ metadata }: Bag): Readonly<Record<string, string>> {
  const { annotations, namespace } = asBag(metadata) ?? {};
  const networks: Bag[] = JSON.parse(`${asBag(annotations)?.[networksKey] ?? "[]"}`);
  const attached = networks.map(({ name, namespace: of = namespace, interface: nic, ips }, i) => ({
    ...{ name: `${of}/${name}`, interface: nic ?? `net${i + 1}` },
    ...(ips === undefined ? {} : { ips: asList(ips).map((ip) => `${ip}`.replace(/\/.*/, "")) }),
    ...{ mac: playedMac, dns: {} },
  }));
  const first = { name: "cluster", interface: "eth0", ips: ["192.0.2.1"], mac: playedMac, default: true, dns: {} };
  return { "k8s.v1.cni.cncf.io/network-status": JSON.stringify([first, ...attached]) };
}

/** The MAC address of each interface in a played report. */
export const playedMac = "02:00:00:00:00:01";

/** What virt-controller writes into a pod that is ready, or that is to have other networks: its networks as it made them. */
export function rewrittenBy(instance: Bag): Readonly<Record<string, string>> {
  return { [networksKey]: JSON.stringify(networksOfLauncher(instance)) };
}

/** The interfaces that the status of an instance shows: those that Multus reports. */
export function statusOf(instance: Bag): Bag {
  const { networks } = asBag(instance.spec) ?? {};
  return { interfaces: asList(networks).map((one) => ({ name: asBag(one)?.name })) };
}

const networksKey = "k8s.v1.cni.cncf.io/networks";

/** A stand-in for virt-controller: it makes and deletes what that does, when it is told to. */
export class VirtController {
  private readonly kube: Objects;
  private number = 0;

  constructor(kube: Objects) {
    this.kube = kube;
  }

  /** The VM runs: its instance, and the pod of that. Returns the name of the pod. */
  async start(name: string): Promise<string> {
    const vm = await this.setFinalizers(name, (all) => [...new Set([...all, controllerFinalizer])]);
    await this.kube.create(resources.instances, instanceOf(vm ?? {}) as never);
    return this.launch(name);
  }

  /** One more pod of the instance: at the start, and as the target of a migration. */
  async launch(name: string): Promise<string> {
    const instance = await this.kube.get<KubeObject & Bag>(resources.instances, name, "default");
    const pod = launcherOf(instance ?? {}, `${++this.number}`);
    await this.kube.create(resources.pods, pod as never);
    return `${asBag(pod.metadata)?.name}`;
  }

  end(pod: string): Promise<void> {
    return removeAnyhow(this.kube, resources.pods, pod, "default");
  }

  /** What runs of it ends: its instance is marked, its pods end, and the instance goes; then the VM goes, too, if it is deleted. */
  async stop(name: string): Promise<void> {
    await removeAnyhow(this.kube, resources.instances, name, "default");
    const pods = await this.kube.list(resources.pods, { namespace: "default" });
    for (const { metadata } of pods)
      if (metadata.name.startsWith(`virt-launcher-${name}-`)) await this.end(metadata.name);
    const body = { metadata: { finalizers: [] } };
    if ((await this.kube.get(resources.instances, name, "default")) !== undefined)
      await this.kube.patch(resources.instances, name, "default", body, { type: "merge" });
    const vm = await this.kube.get<KubeObject & Bag>(resources.vms, name, "default");
    if (vm !== undefined && isDeleting(vm))
      await this.setFinalizers(name, (all) => all.filter((one) => one !== controllerFinalizer));
  }

  private async setFinalizers(vm: string, change: (finalizers: string[]) => string[]): Promise<Bag | undefined> {
    const there = await this.kube.get<KubeObject & Bag>(resources.vms, vm, "default");
    if (there === undefined) return undefined;
    const { finalizers, resourceVersion } = asBag(there.metadata) ?? {};
    const body = { metadata: { finalizers: change(asList(finalizers).map(String)), resourceVersion } };
    const isChanged = (error: unknown) => error instanceof IpamError && error.code === "conflict";
    return this.kube
      .patch<KubeObject & Bag>(resources.vms, vm, "default", body, { type: "merge" })
      .catch((error) => (isChanged(error) ? this.setFinalizers(vm, change) : Promise.reject(error)));
  }
}

const resources = {
  vms: { apiVersion: "kubevirt.io/v1", plural: "virtualmachines" },
  instances: { apiVersion: "kubevirt.io/v1", plural: "virtualmachineinstances" },
  pods: { apiVersion: "v1", plural: "pods" },
};
