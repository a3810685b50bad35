import { describe, expect, it } from "vitest";
import type { Facts } from "../../../integrations/contract/facts.ts";
import type { Known } from "../../../integrations/contract/known.ts";
import { objectKey } from "../../../integrations/contract/object-key.ts";
import type { Step } from "../../../integrations/contract/step.ts";
import { workloadsInCluster } from "../../../integrations/workload/in-cluster.ts";
import { podDelivery } from "../../../integrations/workload/pod-delivery.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { definition, macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { gate, ipsOf, networksKey, workload } from "../../support/objects/workload-objects.ts";

const indexKey = "nodeippool.nmstate.io/pod-index";
const deletionTimestamp = "2026-01-01T00:00:00Z";

/** What somebody says of a pod: it waits with network `red`, unless it is said otherwise. */
interface Said {
  readonly index?: string;
  readonly runs?: boolean;
  readonly ends?: boolean;
  readonly networks?: string;
  readonly gates?: readonly string[];
  readonly owners?: readonly Bag[];
}

const replicaSet = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-abc" };
const set = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web" };

/** A pod; those with later letters are younger. */
function pod(name: string, { index, runs = false, ends = false, networks = "red", ...said }: Said = {}): Bag {
  const { gates = runs ? [] : [gate], owners = [replicaSet] } = said;
  const annotations = { [networksKey]: networks, ...(index && { [indexKey]: index }) };
  return {
    ...{ apiVersion: "v1", kind: "Pod", status: { phase: runs ? "Running" : "Pending" } },
    metadata: {
      ...{ name, namespace: "default", uid: name, creationTimestamp: `2026-01-01T00:00:00Z${name}`, annotations },
      ...{
        labels: { [gate]: "gated", "pod-template-hash": "abc" },
        ownerReferences: owners,
      },
      ...(ends && { deletionTimestamp }),
    },
    spec: { schedulingGates: gates.map((one) => ({ name: one })) },
  };
}

const told = (...networks: readonly (readonly [string, string, string?])[]) =>
  JSON.stringify(networks.map(([name, nic, ip]) => ({ name, interface: nic, ...(ip && { ips: [`${ip}/24`] }) })));

function map(kind: "deployment" | "statefulset", data: Bag, marks = {}): Bag {
  const name = kind === "deployment" ? "nodeippool-deployment.web" : "nodeippool-web";
  const labels = { [`nodeippool.nmstate.io/${kind}`]: "web", [gate]: "pods" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default", labels, ...marks }, data };
}

const networks = [
  macvlanNetwork("red", "lan"),
  macvlanNetwork("bound", "lan"),
  definition("plain", "default", { type: "macvlan", ipam: { type: "dhcp" } }),
];
const find = (key: string) => networks.find((one) => objectKey(one as never) === key) as Bag | undefined;
const stepsOf = (...belonging: readonly Bag[]) => podDelivery.steps("", belonging, find);

/** `a 10.0.0.1/24`, `a chooses Deployment/web/0`, or why it waits. */
function says(step: Step): string {
  if (step.verb === "warn") return step.message;
  if (step.verb !== "change") return step.verb;
  const name = asBag(step.object.metadata)?.name;
  const ips = ipsOf(step.fields);
  const index = asBag(asBag(step.fields.metadata)?.annotations)?.[indexKey];
  return ips.length > 0 ? `${name} ${ips.join(" ")}` : `${name} chooses ${index}`;
}

describe("which index a pod of a Deployment has", () => {
  const two = { 0: told(["red", "net1", "10.0.0.1"]), 1: told(["red", "net1", "10.0.0.2"]) };
  const [at0, at1] = [{ index: "Deployment/web/0" }, { index: "Deployment/web/1" }];
  const none = expect.stringContaining("has addresses for 2 pods of Deployment web");
  it.each<[string, readonly Bag[], readonly unknown[], Bag?]>([
    [
      "the oldest ones choose first",
      [pod("b"), pod("a")],
      ["a chooses Deployment/web/0", "b chooses Deployment/web/1"],
    ],
    ["it is told the index that nobody else has", [pod("a", at1)], ["a 10.0.0.2/24"]],
    ["its index is no more", [pod("a", { index: "Deployment/web/7" })], ["a chooses Deployment/web/0"]],
    ["its index is one that is left out", [pod("a", at0)], ["a chooses Deployment/web/1"], { conflicts: "0" }],
    ["its index is a running one's", [pod("a", at0), pod("b", { ...at0, runs: true })], ["a chooses Deployment/web/1"]],
    [
      "its index is that of one that may have been told it as it was deleted",
      [pod("a", at0), pod("b", { ...at0, ends: true })],
      ["a chooses Deployment/web/1"],
    ],
    [
      "two have one: the younger one chooses, and the other one is told once that is seen",
      [pod("a", at0), pod("b", at0)],
      ["b chooses Deployment/web/1"],
    ],
    [
      "its index is another one's, and none is left",
      [pod("c", at0), pod("a", { ...at0, runs: true }), pod("b", { ...at1, runs: true })],
      ["c chooses null", none],
    ],
    [
      "it has none, and none is left",
      [pod("c"), pod("a", { ...at0, runs: true }), pod("b", { ...at1, runs: true })],
      [none],
    ],
    ["one that is deleted is told nothing", [pod("a", { ...at0, ends: true })], []],
    [
      "a copy of its pod that waits has none of its indexes",
      [pod("a", { ...at0, owners: [] }), pod("b"), pod("c", { ...at1, owners: [] }), pod("d", at1)],
      ["b chooses Deployment/web/0", "d 10.0.0.2/24"],
    ],
  ])("%s", (_, pods, expected, data = {}) => {
    expect(stepsOf(map("deployment", { ...two, ...data }), ...pods).map(says)).toEqual(expected);
  });

  it("is that of a pod, too, which its ReplicaSet gave away", () => {
    const orphan = pod("a", { ...at0, runs: true, owners: [] });
    expect(podDelivery.belongsTo(orphan)).toContain("Deployment/default:web");
    expect(stepsOf(map("deployment", two), orphan, pod("b")).map(says)).toEqual(["b chooses Deployment/web/1"]);
  });

  it("nobody is told by a ConfigMap that is being deleted", () => {
    const steps = stepsOf(map("deployment", two, { deletionTimestamp }), pod("a", at0), pod("b"));
    expect(steps.filter(({ verb }) => verb !== "warn")).toEqual([]);
  });
});

describe("what a pod is told of its networks", () => {
  const steps = (data: string, said: Said) =>
    stepsOf(map("statefulset", { "web-0": data }), pod("web-0", { owners: [set], ...said }));

  it.each<[string, string, string, readonly unknown[]]>([
    [
      "which another template had",
      "plain",
      told(["red", "net1", "10.0.0.1"]),
      [
        expect.stringContaining(
          "has nothing for network default/plain (net1) of this pod: is it of an earlier template",
        ),
      ],
    ],
    [
      "which takes no addresses any more",
      "plain",
      told(["plain", "net1", "10.0.0.1"]),
      ["NetworkAttachmentDefinition default/plain takes no addresses"],
    ],
    [
      "which is not there",
      "gone",
      told(["gone", "net1", "10.0.0.1"]),
      [expect.stringContaining("there is no NetworkAttachmentDefinition default/gone")],
    ],
    [
      "which takes addresses by now: it will have some",
      "red, bound",
      told(["red", "net1", "10.0.0.1"], ["bound", "net2"]),
      [],
    ],
    ["which has none", "red, plain", told(["red", "net1", "10.0.0.1"], ["plain", "net2"]), ["web-0 10.0.0.1/24"]],
  ])("%s", (_, asked, data, expected) => {
    expect(steps(data, { networks: asked }).map(says)).toEqual(expected);
  });

  it("is right by those that have none, too: they may take addresses by now", () => {
    const found = steps(told(["red", "net1", "10.0.0.1"], ["plain", "net2"]), { networks: "red, plain" });
    const keys = networks.map((one) => objectKey(one as never)).filter((key) => !key.endsWith(":bound"));
    expect(found).toMatchObject([{ needs: { keys: ["ConfigMap/default:nodeippool-web", ...keys] } }]);
  });

  it("leaves the gates of others", () => {
    const found = steps(told(["red", "net1", "10.0.0.1"]), { gates: ["example.com/other", gate] });
    expect(found).toMatchObject([{ fields: { spec: { schedulingGates: [{ name: "example.com/other" }] } } }]);
  });
});

it("of a workload that is being deleted, nothing is said", () => {
  const object = workload("StatefulSet", "web", { replicas: 1 }, "gone");
  const report = (metadata: object) => {
    const known = { object: { ...object, metadata }, made: [], find: () => undefined, pending: [] } as unknown as Known;
    return workloadsInCluster.report?.(known, { nodes: [], pools: new Map() } as Facts);
  };
  expect(report(object.metadata)).toMatchObject([{ verb: "warn" }]);
  expect(report({ ...object.metadata, deletionTimestamp })).toEqual([]);
});
