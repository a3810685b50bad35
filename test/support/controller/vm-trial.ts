import { isDeleting, nameOf, ownersOf, uidOf } from "../../../integrations/contract/object-metadata.ts";
import { isGated, isOver } from "../../../integrations/networks/gated-pod.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";

/** KubeVirt as a script plays it: the real one, or a stand-in, each with the controller beside it. */
export interface VmTrial {
  /** Makes a VM on network `red`, which is to run. */
  create(name: string): Promise<unknown>;
  start(name: string): Promise<unknown>;
  stop(name: string): Promise<unknown>;
  migrate(name: string): Promise<unknown>;
  /** The VM is to have network `more`, too, of definition `green`. */
  plug(name: string): Promise<unknown>;
  unplug(name: string): Promise<unknown>;
  delete(name: string): Promise<unknown>;
  /** The guests of a VM take their time to end and to migrate, or no longer do. */
  hang(name: string, isHanging: boolean): void;
}

/** What is done to a VM, step by step. */
export const vmScript: readonly (readonly [string, (trial: VmTrial) => Promise<unknown>])[] = [
  ["it starts", (trial) => trial.create("vm-1")],
  ["it migrates", (trial) => hanging(trial, () => trial.migrate("vm-1"))],
  ["it has migrated", goesOn],
  ["a network is plugged in", (trial) => trial.plug("vm-1")],
  ["a network is unplugged", (trial) => trial.unplug("vm-1")],
  ["it is to stop, and its guest takes its time", (trial) => hanging(trial, () => trial.stop("vm-1"))],
  ["it has stopped", goesOn],
  ["another one starts", (trial) => trial.create("vm-2")],
  ["it starts again", (trial) => trial.start("vm-1")],
  ["it is deleted, and its guest takes its time", (trial) => hanging(trial, () => trial.delete("vm-1"))],
  ["it is gone", goesOn],
  ["it is made again under its name", (trial) => trial.create("vm-1")],
];

function hanging(trial: VmTrial, work: () => Promise<unknown>): Promise<unknown> {
  trial.hang("vm-1", true);
  return work();
}

async function goesOn(trial: VmTrial): Promise<void> {
  trial.hang("vm-1", false);
}

/** What is on the server, and in the record. */
export interface VmObjects {
  readonly vms: readonly Bag[];
  readonly instances: readonly Bag[];
  readonly pods: readonly Bag[];
  readonly claims: readonly Bag[];
  readonly lines: readonly string[];
}

/** What KubeVirt and the controller wrote, without names and numbers that are drawn by chance; each list in order of its text. */
export function writtenIn({ vms, instances, pods, claims, lines }: VmObjects) {
  const lists = {
    vms: vms.map(common),
    instances: instances.map((one) => {
      const { networks, domain } = asBag(one.spec) ?? {};
      return {
        ...common(one),
        ...ownersIn(one, vms),
        networks: bagsIn(networks).flatMap(({ name, multus }) => (multus === undefined ? [] : [{ name, multus }])),
        interfaces: secondary(bagsIn(asBag(asBag(domain)?.devices)?.interfaces)).map(({ name, state }) => [
          name,
          state,
        ]),
        shown: secondary(bagsIn(asBag(one.status)?.interfaces)).map(({ name }) => name),
      };
    }),
    pods: pods.map((one) => writtenOn(one, instances)),
    claims: claims.map((one) => ({
      ...common(one),
      ...ownersIn(one, vms),
      ips: asBag(one.status)?.ips,
      spec: one.spec,
    })),
    lines: [...lines],
  };
  for (const list of Object.values(lists)) list.sort((a, b) => byText(JSON.stringify(a), JSON.stringify(b)));
  return lists;
}

function writtenOn(pod: Bag, instances: readonly Bag[]) {
  const { labels, annotations } = asBag(pod.metadata) ?? {};
  const { "kubevirt.io": kind, "kubevirt.io/created-by": uid, "vm.kubevirt.io/name": vm } = asBag(labels) ?? {};
  const listed = (key: string): Bag[] => JSON.parse(`${asBag(annotations)?.[key] ?? "[]"}`);
  return {
    labels: { kind, vm, isOfInstance: instances.some((one) => uidOf(one) === uid) },
    ...ownersIn(pod, instances),
    domain: asBag(annotations)?.["kubevirt.io/domain"],
    networks: listed("k8s.v1.cni.cncf.io/networks"),
    allocated: listed("nodeippool.nmstate.io/allocated"),
    attached: listed("k8s.v1.cni.cncf.io/network-status")
      .filter((one) => one.interface !== "eth0")
      .map((one) => [one.interface, one.ips]),
    ...{ isGated: isGated(pod), isEnding: isDeleting(pod), isOver: isOver(pod) },
  };
}

function common(object: Bag) {
  const finalizers = asList(asBag(object.metadata)?.finalizers).map(String).sort();
  return { name: nameOf(object), isEnding: isDeleting(object), finalizers };
}

/** Who owns it, and whether that is there under the same uid. */
function ownersIn(object: Bag, there: readonly Bag[]) {
  const uids = new Set(there.map(uidOf));
  return { owners: ownersOf(object).map(({ kind, name, uid }) => ({ kind, name, isThere: uids.has(`${uid}`) })) };
}

function bagsIn(list: unknown): Bag[] {
  return asList(list).map((one) => asBag(one) ?? {});
}

/** Without the network of the cluster. */
function secondary(list: readonly Bag[]): Bag[] {
  return list.filter(({ name }) => name !== "default");
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}
