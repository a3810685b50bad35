import { describe, expect, it } from "vitest";
import { type Allocation, parseAddress } from "../../../core/index.ts";
import type { Facts } from "../../../integrations/contract/facts.ts";
import { objectKey } from "../../../integrations/contract/object-key.ts";
import { gone, isStillNamed } from "../../../integrations/workload/kept-addresses.ts";
import type { Bag } from "../../../schema/objects.ts";
import { pool } from "../../support/objects/ipam-claims.ts";
import { macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { gate, networksKey, workload } from "../../support/objects/workload-objects.ts";

const owners: Readonly<Record<string, Bag>> = {
  StatefulSet: { apiVersion: "apps/v1", kind: "StatefulSet", name: "web" },
  Deployment: { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-abc" },
  other: { apiVersion: "apps/v1", kind: "StatefulSet", name: "app" },
};
const networks = (ip: string) => JSON.stringify([{ name: "red", interface: "net1", ips: [ip] }]);

/** A pod of that workload that says these networks; one with its name alone waits. */
function pod(of: string, name: string, said = "red", phase = "Pending"): Bag {
  const labels = { [gate]: "gated", "pod-template-hash": "abc" };
  const annotations = { [networksKey]: said };
  return {
    ...{ apiVersion: "v1", kind: "Pod", status: { phase } },
    metadata: { name, namespace: "default", labels, annotations, ownerReferences: [owners[of]] },
    spec: { schedulingGates: said.startsWith("[") ? [] : [{ name: gate }] },
  };
}

function map(key: string, ip: string): Bag {
  const labels = { "nodeippool.nmstate.io/statefulset": "web", [gate]: "pods" };
  const metadata = { name: "nodeippool-web", namespace: "default", labels };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { [key]: networks(ip) } };
}

const its = networks("10.0.0.1/24");

function line(owner: string): Allocation {
  const address = parseAddress("10.0.0.1").value as Allocation["address"];
  return { claim: `${owner}/1/net1`, address, pool: "lan" } as Allocation;
}

/** What is in the cluster besides, where network `red` takes addresses of these pools. */
function cluster(pools = "lan") {
  const own = pool("lan", "10.0.0.0/24", "10.0.0.9");
  const known = [macvlanNetwork("red", pools), own, pool("more", "10.1.0.0/24", "10.1.0.9")];
  return (key: string) => known.find((one) => objectKey(one as never) === key) as Bag | undefined;
}

it.each<[boolean, string, Bag[], { kind?: string; pools?: string }]>([
  [true, "there is nothing", [], {}],
  [false, "a pod runs with it", [pod("StatefulSet", "web-1", its, "Running")], {}],
  [true, "a pod with it has ended", [pod("StatefulSet", "web-1", its, "Failed")], {}],
  [true, "a pod runs with another one", [pod("StatefulSet", "web-1", networks("10.0.0.2/24"))], {}],
  [false, "the ConfigMap has it", [map("web-1", "10.0.0.1/24")], {}],
  [true, "the ConfigMap has another one", [map("web-1", "10.0.0.2/24")], {}],
  [false, "the pod of its index waits", [pod("StatefulSet", "web-1")], {}],
  [true, "the pod of its index waited, and has ended", [pod("StatefulSet", "web-1", "red", "Failed")], {}],
  [
    false,
    "it waits beside others of its set",
    [pod("StatefulSet", "web-0"), pod("StatefulSet", "web-1"), pod("StatefulSet", "web-2")],
    {},
  ],
  [true, "the pod of another index waits", [pod("StatefulSet", "web-0"), pod("StatefulSet", "web-11")], {}],
  [true, "the pod of its index waits for another NIC", [pod("StatefulSet", "web-1", "red@eth7")], {}],
  [true, "a pod of another workload waits", [pod("other", "app-1")], {}],
  [false, "any pod of its Deployment waits", [pod("Deployment", "web-abc-x")], { kind: "Deployment" }],
  [
    false,
    "pods of its Deployment wait, of which some are of another template",
    [pod("Deployment", "web-abc-x"), pod("Deployment", "web-abc-y", "red@eth7")],
    { kind: "Deployment" },
  ],
  // Else a pod that waits for another pool, which has no room, would keep the addresses of the first one for ever.
  [true, "the pod of its index waits for another pool", [pod("StatefulSet", "web-1")], { pools: "more" }],
  [false, "the pod of its index waits for a pool that is not there", [pod("StatefulSet", "web-1")], { pools: "lann" }],
])(
  "an address that is releasing is free: %s, where %s",
  (isFree, _, objects, { kind = "StatefulSet", pools = "lan" }) => {
    const one = line(`${kind}/default:web`);
    expect(gone(objects, {} as Facts, [one], false, cluster(pools))).toEqual(isFree ? [one] : []);
  },
);

describe("an address that its owner has stays", () => {
  const set = (replicas: number, networks = "red", marks = {}) => {
    const { metadata, ...rest } = workload("StatefulSet", "web", { replicas }, networks);
    return { ...rest, metadata: { ...metadata, ...marks } };
  };
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  /** A pod by itself with the address, told to the index of that pod. */
  const alone = (of: string): Bag => {
    const one = pod("StatefulSet", "one", its, "Running") as Bag & { metadata: { annotations: object } };
    const annotations = { ...one.metadata.annotations, "nodeippool.nmstate.io/pod-index": `Pod/${of}/1` };
    return { ...one, metadata: { ...one.metadata, ownerReferences: [], annotations } };
  };

  it.each<[boolean, string, Bag, { pools?: string; of?: string }]>([
    [true, "its template names its index, network and pool", set(2), {}],
    [false, "there are fewer indexes", set(1), {}],
    [false, "its network has another NIC", set(2, "red@eth7"), {}],
    [false, "its network names another pool", set(2), { pools: "more" }],
    [true, "its network names a pool that is not there", set(2), { pools: "lann" }],
    [false, "it is being deleted", set(2, "red", { deletionTimestamp, finalizers: ["foregroundDeletion"] }), {}],
    [true, "it is a pod with that address", alone("one"), { of: "Pod/default:one" }],
    [false, "it is a pod with that address as another one's", alone("two"), { of: "Pod/default:one" }],
  ])("%s: %s", (isNamed, _, owner, { pools, of = "StatefulSet/default:web" }) => {
    expect(isStillNamed(owner, line(of), cluster(pools))).toBe(isNamed);
  });
});
