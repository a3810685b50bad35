import type { KubeObject, Objects, Resource } from "../../../kube/index.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { createNode, setReady } from "../cluster/nodes.ts";
import { removeAnyhow } from "../controller/removal.ts";
import { policy, pool } from "../objects/controller-objects.ts";
import { claim, showing } from "../objects/ipam-claims.ts";
import { macvlanNetwork, vm } from "../objects/vm-objects.ts";
import { attachment } from "../objects/whereabouts-objects.ts";
import { ipsOf, singlePod, workload } from "../objects/workload-objects.ts";
import { VirtController } from "../real/virt-controller.ts";

type Any = KubeObject & Bag;

/** What the controller serves with every flag. */
export const everyFlag = {
  fleet: true,
  clusterApi: "v1beta2",
  metal3: "metal3",
  nodeSlices: "kube-system",
  ipamClaims: true,
  vmClaims: true,
  vmAddresses: true,
  workloadAddresses: true,
} as const;

export type Flag = keyof typeof everyFlag;
export type Flags = { readonly [F in Flag]?: (typeof everyFlag)[F] };

/** Each kind of object by which the API server names it. */
export const resources = {
  Node: { apiVersion: "v1", plural: "nodes" },
  NodeIPPool: { apiVersion: "nmstate.io/v1", plural: "nodeippools" },
  NodeNetworkConfigurationPolicy: { apiVersion: "nmstate.io/v1", plural: "nodenetworkconfigurationpolicies" },
  NetworkAttachmentDefinition: { apiVersion: "k8s.cni.cncf.io/v1", plural: "network-attachment-definitions" },
  IPAddressClaim: { apiVersion: "ipam.cluster.x-k8s.io/v1beta2", plural: "ipaddressclaims" },
  IPAddress: { apiVersion: "ipam.cluster.x-k8s.io/v1beta2", plural: "ipaddresses" },
  ConfigMap: { apiVersion: "v1", plural: "configmaps" },
  Secret: { apiVersion: "v1", plural: "secrets" },
  Pod: { apiVersion: "v1", plural: "pods" },
  StatefulSet: { apiVersion: "apps/v1", plural: "statefulsets" },
  Deployment: { apiVersion: "apps/v1", plural: "deployments" },
  NodeSlicePool: { apiVersion: "whereabouts.cni.cncf.io/v1alpha1", plural: "nodeslicepools" },
  IPAMClaim: { apiVersion: "k8s.cni.cncf.io/v1alpha1", plural: "ipamclaims" },
  VirtualMachine: { apiVersion: "kubevirt.io/v1", plural: "virtualmachines" },
  VirtualMachineInstance: { apiVersion: "kubevirt.io/v1", plural: "virtualmachineinstances" },
  BareMetalHost: { apiVersion: "metal3.io/v1alpha1", plural: "baremetalhosts" },
  NodeNetworkState: { apiVersion: "nmstate.io/v1beta1", plural: "nodenetworkstates" },
  NodeNetworkConfigurationEnactment: { apiVersion: "nmstate.io/v1beta1", plural: "nodenetworkconfigurationenactments" },
  IPPool: { apiVersion: "whereabouts.cni.cncf.io/v1alpha1", plural: "ippools" },
} as const satisfies Record<string, Resource>;

/** Objects that somebody makes, the VM among them that runs, and what somebody writes into an object that is there. */
interface Thrown {
  readonly objects: readonly Bag[];
  readonly starts?: string | undefined;
  readonly edit?: Edit | undefined;
}

/** A part of an object that is there. */
export interface Edit {
  readonly kind: keyof typeof resources;
  readonly name: string;
  readonly namespace?: string;
  readonly body: Bag;
  /** As it was, if nothing else puts it back. */
  readonly back?: Bag;
}

/** All systems on one server. Each call of `ask` makes one more owner of each system that is switched on. */
export class EverySystem {
  private readonly kube: Objects;
  private readonly virt: VirtController;
  private number = 0;

  constructor(kube: Objects) {
    this.kube = kube;
    this.virt = new VirtController(kube);
  }

  /** A node, pools, networks, and the policy and hosts that later owners come to. */
  async begin(): Promise<void> {
    await this.join("n1");
    for (const [i, name] of ["nodes", "machines"].entries()) await this.create(pool(name, i + 1, 200));
    // Several owners of each call of `ask` have an address of it.
    const range = { cidr: "10.3.0.0/20", end: "10.3.14.250" };
    await this.create({ apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: { name: "lan" }, spec: { range } });
    await this.create(macvlanNetwork("red", "lan"));
    await this.create({
      ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "nodeippool-infra", namespace: "metal3" } },
      data: { "infra.yaml": infra([]) },
    });
  }

  /** Makes owners for these flags. Returns what is to be true of each in the end: what has an address, and that it has one. */
  async ask(flags: Flags): Promise<Record<string, () => Promise<boolean>>> {
    const i = ++this.number;
    const asked: Record<string, () => Promise<boolean>> = { [`policy a${i}`]: await this.askNode(i, flags) };
    if (flags.clusterApi) asked[`IPAddressClaim m${i}`] = await this.askMachine(i);
    if (flags.metal3) asked[`host h${i}`] = await this.askHost(i);
    if (flags.nodeSlices) asked[`network s${i}`] = await this.askSlice(i);
    if (flags.ipamClaims) asked[`IPAMClaim c${i}.red`] = await this.askClaim(i);
    if (flags.vmClaims) asked[`VM v${i}`] = await this.askVm(i);
    if (flags.vmAddresses) asked[`pod of VM p${i}`] = await this.askLauncher(i, flags);
    if (flags.workloadAddresses) {
      asked[`StatefulSet w${i}`] = await this.askWorkload(i, "StatefulSet");
      asked[`Deployment d${i}`] = await this.askWorkload(i, "Deployment");
      asked[`pod x${i}`] = await this.askPod(i);
    }
    return asked;
  }

  /** A node joins: it is to have an address of each policy that was asked for so far. */
  async join(name: string): Promise<() => Promise<boolean>> {
    await createNode(this.kube, name, { role: "worker" });
    await setReady(this.kube, name, true);
    const policies = Array.from({ length: this.number }, (_, k) => `a${k + 1}`);
    return async () => {
      const has = policies.map(async (one) => (await this.hasPolicy(one, name)) || (await this.isSelected(one, name)));
      return (await Promise.all(has)).every((is) => is);
    };
  }

  private async askNode(i: number, { fleet }: Flags) {
    await this.create(policy(`a${i}`, "nodes", `eth${i}`, { maxUnavailable: "100%" }));
    return () => (fleet ? this.isSelected(`a${i}`, "n1") : this.hasPolicy(`a${i}`, "n1"));
  }

  /** Returns whether a node has a policy of its own, with its addresses. */
  private hasPolicy(policy: string, node: string): Promise<boolean> {
    return this.isThere("NodeNetworkConfigurationPolicy", `${policy}--${node}`);
  }

  /** Returns whether the fleet form of a policy selects a node: its enactment has its addresses. */
  private async isSelected(policy: string, node: string): Promise<boolean> {
    const labels = (await this.kube.get<Any>(resources.Node, node))?.metadata.labels;
    return labels?.[`gate.nodeippool.nmstate.io/${policy}`] === "open";
  }

  private async askMachine(i: number) {
    const spec = { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "machines" } };
    const metadata = { name: `m${i}`, namespace: "default" };
    await this.create({ apiVersion: resources.IPAddressClaim.apiVersion, kind: "IPAddressClaim", metadata, spec });
    return () => this.isThere("IPAddress", `m${i}`, "default");
  }

  private async askHost(i: number) {
    const hosts = Array.from({ length: i }, (_, k) => `h${k + 1}`);
    const body = { data: { "infra.yaml": infra(hosts) } };
    await this.kube.patch(resources.ConfigMap, "nodeippool-infra", "metal3", body, { type: "merge" });
    return () => this.isThere("Secret", `pool-h${i}`, "metal3");
  }

  private async askSlice(i: number) {
    await this.create(attachment(`s${i}`, { range: `10.${100 + i}.0.0/24`, node_slice_size: "/26" }));
    return async () => {
      const found = await this.get("NodeSlicePool", `s${i}`, "kube-system");
      return asList(asBag(found?.status)?.allocations).some((one) => asBag(one)?.nodeName === "n1");
    };
  }

  private async askClaim(i: number) {
    await this.create(claim(`c${i}.red`));
    return async () => asList(asBag((await this.get("IPAMClaim", `c${i}.red`))?.status)?.ips).length > 0;
  }

  private async askVm(i: number) {
    await this.create(vm(`v${i}`, { red: "red" }));
    return () => this.isThere("IPAMClaim", `v${i}.red`, "default");
  }

  /** Whatever is not switched on somebody else does: makes its claim, gives that its address. */
  private async askLauncher(i: number, flags: Flags) {
    await this.create(vm(`p${i}`, { red: "red" }));
    const name = `p${i}.red`;
    const { apiVersion, kind, metadata } = (await this.get("VirtualMachine", `p${i}`)) as Any & { apiVersion: string };
    const owner = { apiVersion, kind, name: metadata.name, uid: (metadata as { uid?: string }).uid };
    if (!flags.vmClaims) await this.create(claim(name, { ownerReferences: [owner] }));
    const pod = await this.virt.start(`p${i}`);
    return async () => {
      if (!flags.ipamClaims) await this.give(name, i);
      return ipsOf((await this.get("Pod", pod)) ?? { metadata: {} }).length > 0;
    };
  }

  private async give(name: string, i: number): Promise<void> {
    const there = await this.get("IPAMClaim", name);
    if (there === undefined || asBag(there.status)?.ips !== undefined) return;
    const conditions = [condition("IPsAllocated", "SuccessfulAllocation")];
    const body = { status: { ...showing(name, `10.3.15.${i}/20`).status, conditions } };
    await this.kube.patch(resources.IPAMClaim, name, "default", body, { type: "merge", subresource: "status" });
  }

  /** Nothing makes its pods here: its ConfigMap says what they will have. */
  private async askWorkload(i: number, kind: "StatefulSet" | "Deployment") {
    const name = `${kind === "StatefulSet" ? "w" : "d"}${i}`;
    await this.create(workload(kind, name, { replicas: 1 }));
    return async () => {
      const all = await this.kube.list<Any>(resources.ConfigMap, { namespace: "default" });
      return all.some(({ metadata }) => Object.values(metadata.labels ?? {}).includes(name));
    };
  }

  private async askPod(i: number) {
    await this.create(singlePod(`x${i}`));
    return async () => ipsOf((await this.get("Pod", `x${i}`)) ?? { metadata: {} }).length > 0;
  }

  /** Makes these; what has a finalizer is being deleted from then on. `starts`: this VM among them runs. */
  async throwIn({ objects, starts, edit }: Thrown): Promise<void> {
    for (const object of objects) {
      await this.create(object);
      if (metadataOf(object).finalizers !== undefined) await this.remove(object);
    }
    if (starts !== undefined) await this.virt.start(starts);
    if (edit !== undefined) await this.write(edit, edit.body);
  }

  /** Deletes them, whatever keeps them, and puts back what was there. */
  async takeAway({ objects, starts, edit }: Thrown): Promise<void> {
    if (edit?.back !== undefined) await this.write(edit, edit.back);
    for (const object of objects.toReversed()) {
      const { name, namespace, finalizers } = metadataOf(object);
      const body = { metadata: { finalizers: [] } };
      if (finalizers !== undefined) await this.kube.patch(resourceOf(object), name, namespace, body, { type: "merge" });
      await this.remove(object);
    }
    if (starts !== undefined) await this.virt.stop(starts);
  }

  private async write({ kind, name, namespace }: Edit, body: Bag): Promise<void> {
    await this.kube.patch(resources[kind], name, namespace, body, { type: "merge" });
  }

  private remove(object: Bag): Promise<void> {
    const { name, namespace } = metadataOf(object);
    return removeAnyhow(this.kube, resourceOf(object), name, namespace);
  }

  private create(object: Bag): Promise<unknown> {
    return this.kube.create(resourceOf(object), object as never);
  }

  private get(kind: keyof typeof resources, name: string, namespace?: string): Promise<Any | undefined> {
    return this.kube.get<Any>(resources[kind], name, namespace ?? "default");
  }

  private async isThere(kind: keyof typeof resources, name: string, namespace?: string): Promise<boolean> {
    return (await this.kube.get(resources[kind], name, namespace)) !== undefined;
  }
}

function resourceOf({ kind }: Bag): Resource {
  return resources[kind as keyof typeof resources];
}

function metadataOf({ metadata }: Bag): KubeObject["metadata"] & { readonly finalizers?: readonly string[] } {
  return metadata as KubeObject["metadata"];
}

function condition(type: string, reason: string): Bag {
  return { type, status: "True", reason, message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
}

/** A configuration with one network, and these hosts. */
function infra(hosts: readonly string[]): string {
  const macs = hosts.map((name, i) => `      ${name}: {em0: "02:00:00:00:00:${(i + 16).toString(16)}"}`);
  return `infra:
  networks:
    hosts: {netmask: 24, addressRange: {start: 10.0.8.10, end: 10.0.8.250}, gateway: 10.0.8.1}
nodepools:
  pool:
    replicas: ${hosts.length}
    hostSelector: {rack: "1"}
    networkConfig: [{type: interface, name: em0, addresses: [{ip_netmask: "{{ ip['hosts'] }}"}]}]
    macMapping:${hosts.length === 0 ? " {}" : `\n${macs.join("\n")}`}
`;
}
