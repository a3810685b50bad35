import { setTimeout as sleep } from "node:timers/promises";
import { isDeleting } from "../../../integrations/contract/object-metadata.ts";
import { isGated, isOver } from "../../../integrations/networks/gated-pod.ts";
import { isFreed } from "../../../integrations/workload/pods.ts";
import type { KubeObject, Objects, Stored } from "../../../kube/index.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { ipsOf } from "../objects/workload-objects.ts";

export const podsResource = { apiVersion: "v1", plural: "pods" };

export type Pod = Stored & Bag;

/** Says on a pod that it runs on a node. */
const kubelet = "test/kubelet";

/**
 * The nodes of a cluster that has none: a pod without gates begins, and says that it is ready; one that is being deleted takes a moment
 * to end. At every look, no two pods that may run have one address.
 */
export class PodRunner {
  private readonly kube: Objects;
  private readonly stopped = new AbortController();
  private readonly running: Promise<void>;
  /** How long the end of a pod takes, in milliseconds. */
  ending = 100;
  /** Pods, by their names, that never end. */
  readonly hanging = new Set<string>();
  /** Runs the init containers of a pod, and says their status. */
  init: (pod: Pod) => Promise<Bag> = async () => ({});
  /** What was wrong. */
  readonly broken: string[] = [];
  /** Each address that a pod has had, by the pod's name. */
  readonly had = new Map<string, Set<string>>();

  constructor(kube: Objects) {
    this.kube = kube;
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.running;
  }

  pods(): Promise<Pod[]> {
    return this.kube.list<KubeObject & Bag>(podsResource, { namespace: "default" });
  }

  private async run(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      const pods = await this.pods();
      this.look(pods.filter((pod) => !isGated(pod) && !isFreed(pod)));
      // Whoever was faster: it is looked at again.
      await Promise.all(pods.map((pod) => this.reconcile(pod).catch(() => {})));
      await sleep(50);
    }
  }

  private look(pods: readonly Pod[]): void {
    const holders = new Map<string, string>();
    for (const pod of pods)
      for (const ip of ipsOf(pod)) {
        const { name } = pod.metadata;
        const other = holders.get(ip);
        if (other !== undefined) this.broken.push(`${ip} is in ${other} and ${name}`);
        holders.set(ip, name);
        this.had.set(name, (this.had.get(name) ?? new Set()).add(ip));
      }
  }

  private async reconcile(pod: Pod): Promise<void> {
    const { name, resourceVersion } = pod.metadata;
    const isHere = asList(asBag(pod.metadata)?.finalizers).includes(kubelet);
    const patch = (body: Bag, subresource?: "status") =>
      this.kube.patch(
        podsResource,
        name,
        "default",
        { ...body },
        { type: "merge", ...(subresource && { subresource }) },
      );
    if (isDeleting(pod)) {
      if (!isHere || this.hanging.has(name)) return;
      await sleep(this.ending);
      await patch({ metadata: { finalizers: null } });
    } else if (!isGated(pod) && (!isHere || isStuck(asBag(pod.status)))) {
      if (!isHere) await patch({ metadata: { finalizers: [kubelet], resourceVersion } });
      const status = await this.init(pod);
      const conditions = ["Ready", "ContainersReady"].map((type) => ({ type, status: "True" }));
      await patch(
        { status: isStuck(status) || isOver({ status }) ? status : { ...status, phase: "Running", conditions } },
        "status",
      );
    }
  }
}

/** Does an init container of it wait to be tried again? */
function isStuck(status: Bag | undefined): boolean {
  return asList(status?.initContainerStatuses).some((one) => asBag(asBag(one)?.state)?.waiting !== undefined);
}
