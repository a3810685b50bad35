import { isDeleting, ownersOf, uidOf } from "../../../integrations/contract/object-metadata.ts";
import { isGated, isOver } from "../../../integrations/networks/gated-pod.ts";
import type { Stored } from "../../../kube/index.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { gate } from "../objects/workload-objects.ts";
import type { SimServer } from "./server.ts";

const kinds = {
  StatefulSet: { apiVersion: "apps/v1", plural: "statefulsets" },
  Deployment: { apiVersion: "apps/v1", plural: "deployments" },
  ReplicaSet: { apiVersion: "apps/v1", plural: "replicasets" },
  Pod: { apiVersion: "v1", plural: "pods" },
  ConfigMap: { apiVersion: "v1", plural: "configmaps" },
  NetworkAttachmentDefinition: { apiVersion: "k8s.cni.cncf.io/v1", plural: "network-attachment-definitions" },
  Node: { apiVersion: "v1", plural: "nodes" },
  NodeIPPool: { apiVersion: "nmstate.io/v1", plural: "nodeippools" },
} as const;
export type SimKind = keyof typeof kinds;

export type SimObject = Stored & Bag;

/** A pod of a node that still may run. */
const kubelet = "sim/kubelet";

/** The controllers of StatefulSets and Deployments, and the nodes that run their pods, on a server in memory. */
export class SimApps {
  readonly server: SimServer;
  /** The nodes that do nothing: pods there neither begin nor end. */
  areNodesStuck = false;
  /** Pods, by their uids, that their nodes cannot end. */
  readonly hanging = new Set<string>();
  /** Where the next pod runs. */
  node = "n1";
  private readonly say: (what: string) => void;
  private pods = 0;

  constructor(server: SimServer, say: (what: string) => void = () => {}) {
    this.server = server;
    this.say = say;
  }

  all(kind: SimKind): SimObject[] {
    return [...this.server.objects.values()].filter((one) => one.kind === kind);
  }

  find(kind: SimKind, name: string): SimObject | undefined {
    return this.all(kind).find(({ metadata }) => metadata.name === name);
  }

  create(object: Bag & { readonly kind: string }): SimObject {
    return this.server.create(kinds[object.kind as SimKind], object as never) as SimObject;
  }

  remove({ kind, metadata }: Bag): void {
    this.server.remove(kinds[kind as SimKind], {
      metadata: { ...asBag(metadata), resourceVersion: undefined },
    } as never);
  }

  change({ kind, metadata }: Bag, update: (object: Bag) => Bag): void {
    const { name, namespace } = metadata as Stored["metadata"];
    this.server.change(kinds[kind as SimKind], name, update, namespace);
  }

  /** Somebody changes what a workload is to be. */
  edit(kind: SimKind, name: string, spec: Bag): void {
    const there = this.find(kind, name);
    if (there !== undefined) this.change(there, (one) => ({ ...one, spec: { ...asBag(one.spec), ...spec } }));
  }

  /** Its pods are to be made anew. */
  roll(kind: SimKind, name: string, annotations: Bag = { revision: `${++this.pods}` }): void {
    const { template } = (this.find(kind, name)?.spec ?? {}) as { template?: Bag };
    const metadata = asBag(template?.metadata);
    const changed = { ...metadata, annotations: { ...asBag(metadata?.annotations), ...annotations } };
    this.edit(kind, name, { template: { ...template, metadata: changed } });
  }

  /** A node says how it is; it is made, if it is not there. */
  says(name: string, isReady: boolean): void {
    const status = { conditions: [{ type: "Ready", status: isReady ? "True" : "Unknown" }] };
    const there = this.find("Node", name);
    if (there !== undefined) this.change(there, (one) => ({ ...one, status }));
    else this.create({ apiVersion: "v1", kind: "Node", metadata: { name }, status });
  }

  podsOf({ metadata }: SimObject): SimObject[] {
    return this.all("Pod").filter((pod) => ownersOf(pod).some(({ uid }) => uid === metadata.uid));
  }

  /** Steps that somebody may take next, each a small one. */
  steps(): (() => void)[] {
    return [
      ...this.all("StatefulSet").flatMap((set) => (isDeleting(set) ? [] : this.stepsOfSet(set))),
      ...this.all("Deployment").flatMap((one) => (isDeleting(one) ? [] : this.stepsOfDeployment(one))),
      ...(this.areNodesStuck ? [] : this.all("Pod").flatMap((pod) => this.stepsOfPod(pod))),
    ];
  }

  private stepsOfSet(set: SimObject): (() => void)[] {
    const { replicas = 1 } = set.spec as { replicas?: number };
    const { name } = set.metadata;
    const pods = new Map(this.podsOf(set).map((pod) => [pod.metadata.name, pod]));
    const wanted = Array.from({ length: replicas }, (_, i) => `${name}-${i}`);
    const missing = wanted.filter((pod) => this.find("Pod", pod) === undefined);
    const isOld = (pod: SimObject) => isOver(pod) || revisionOf(pod) !== templateOf(set);
    const [old] = [...pods.values()].filter((pod) => isOld(pod) && !isDeleting(pod));
    const extra = [...pods.values()].filter((pod) => !wanted.includes(pod.metadata.name) && !isDeleting(pod));
    return [
      ...missing.map((pod) => () => this.makePod(set, set, pod)),
      ...[...extra, ...(old === undefined ? [] : [old])].map((pod) => () => this.end(pod)),
    ];
  }

  private stepsOfDeployment(deployment: SimObject): (() => void)[] {
    const { replicas = 1, strategy } = deployment.spec as { replicas?: number; strategy?: Bag };
    const surge = Number(asBag(strategy?.rollingUpdate)?.maxSurge ?? 0);
    const hash = hashOf(templateOf(deployment));
    const sets = this.all("ReplicaSet").filter((one) => ownersOf(one)[0]?.uid === uidOf(deployment));
    const current = sets.find(({ metadata }) => metadata.name.endsWith(`-${hash}`));
    if (current === undefined) return [() => this.makeReplicaSet(deployment, hash)];
    const active = sets.flatMap((set) => this.podsOf(set)).filter((pod) => !isDeleting(pod) && !isOver(pod));
    const isNew = (pod: SimObject) => ownersOf(pod)[0]?.uid === current.metadata.uid;
    const [fresh, old] = [active.filter(isNew), active.filter((pod) => !isNew(pod))];
    const ready = active.filter(isRunning);
    const isSpare = (pod: SimObject) => !isRunning(pod) || ready.length > replicas - (surge === 0 ? 1 : 0);
    const extra = fresh.length > replicas ? fresh.slice(-1) : [];
    const over = sets.flatMap((set) => this.podsOf(set)).filter(isOver);
    return [
      ...(fresh.length < replicas && active.length < replicas + surge
        ? [() => this.makePod(deployment, current, `${current.metadata.name}-${++this.pods}`, hash)]
        : []),
      ...[...old.filter(isSpare), ...extra, ...over.filter((pod) => !isDeleting(pod))].map(
        (pod) => () => this.end(pod),
      ),
    ];
  }

  private makeReplicaSet(deployment: SimObject, hash: string): void {
    const { name, uid } = deployment.metadata;
    const owner = { apiVersion: "apps/v1", kind: "Deployment", name, uid };
    const metadata = { name: `${name}-${hash}`, namespace: "default", ownerReferences: [owner] };
    if (this.find("ReplicaSet", metadata.name) === undefined)
      this.create({ apiVersion: "apps/v1", kind: "ReplicaSet", metadata });
  }

  private makePod(workload: SimObject, owner: SimObject, name: string, hash?: string): void {
    const { template } = workload.spec as { template: { metadata: Record<"labels" | "annotations", Bag>; spec?: Bag } };
    const { labels, annotations } = template.metadata;
    const { nodeSelector } = template.spec ?? {};
    if (this.find("Pod", name) !== undefined) return;
    this.say(`pod ${name}`);
    const { apiVersion, kind, metadata } = owner;
    const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }];
    this.create({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        ...{ name, namespace: "default", ownerReferences },
        labels: { ...labels, ...(hash !== undefined && { "pod-template-hash": hash }) },
        annotations: { ...annotations, "sim/template": templateOf(workload) },
      },
      spec: {
        schedulingGates: labels[gate] === "gated" ? [{ name: gate }] : [],
        ...(nodeSelector !== undefined && { nodeSelector }),
      },
    });
  }

  private end(pod: SimObject): void {
    this.say(`end ${pod.metadata.name}`);
    this.remove(pod);
  }

  private stepsOfPod(pod: SimObject): (() => void)[] {
    const finalizers = asList(asBag(pod.metadata)?.finalizers);
    const isHere = finalizers.includes(kubelet);
    const edited = (metadata: Bag, status: Bag) =>
      this.change(pod, (one) => ({ ...one, metadata: { ...asBag(one.metadata), ...metadata }, status }));
    if (this.hanging.has(uidOf(pod))) return [];
    if (isDeleting(pod)) return isHere ? [() => edited({ finalizers: [] }, { phase: "Succeeded" })] : [];
    const begin = () => {
      this.change(pod, (one) => ({ ...one, spec: { ...asBag(one.spec), nodeName: this.node } }));
      edited({ finalizers: [kubelet] }, { phase: "Running" });
    };
    return isGated(pod) || isHere || isOver(pod) ? [] : [begin];
  }
}

/** A pod that is on its node. */
export function isRunning({ status }: Bag): boolean {
  return asBag(status)?.phase === "Running";
}

function templateOf({ spec }: Bag): string {
  return JSON.stringify(asBag(asBag(spec)?.template)?.metadata);
}

function revisionOf({ metadata }: Bag): unknown {
  return asBag(asBag(metadata)?.annotations)?.["sim/template"];
}

function hashOf(text: string): string {
  return [...text].reduce((hash, letter) => (hash * 31 + letter.charCodeAt(0)) % 1_000_003, 7).toString(36);
}
