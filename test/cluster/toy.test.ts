import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, it } from "vitest";
import { formatAddress } from "../../core/index.ts";
import { isGated } from "../../integrations/networks/gated-pod.ts";
import { addressesGiven } from "../../integrations/networks/pod-allocation.ts";
import { type Access, findAccess, type KubeObject, type Objects, objectsOf, type Resource } from "../../kube/index.ts";
import { asBag, type Bag, conditionOf } from "../../schema/objects.ts";
import { kubernetes } from "../../state/kubernetes/backend.ts";
import { installNodeIPPool } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { withController } from "../support/controller/run.ts";
import { afterHold, hurried } from "../support/controller/timing.ts";
import { gate } from "../support/objects/workload-objects.ts";
import { podLabel, toySystem } from "../support/toy-in-cluster.ts";
import { toyObjects } from "../support/toy-integration.ts";

const printers = { apiVersion: "toys.example.org/v1", plural: "printers" };
const pools = { apiVersion: "nmstate.io/v1", plural: "nodeippools" };
const pods = { apiVersion: "v1", plural: "pods" };
const crd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "printers.toys.example.org" },
  spec: {
    group: "toys.example.org",
    scope: "Namespaced",
    names: { kind: "Printer", plural: "printers" },
    versions: [
      {
        ...{ name: "v1", served: true, storage: true, subresources: { status: {} } },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};
/** With one address. */
const pool = { ...toyObjects.pool, spec: { range: { cidr: "10.0.0.0/29", end: "10.0.0.1" } } };
const podOf = (name: string) => ({
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default", labels: { [podLabel]: "" } } },
  spec: { schedulingGates: [{ name: gate }], containers: [{ name: "main", image: "main" }] },
});

const cluster = clusterOfFile(async (started) => {
  await installNodeIPPool(started);
  await started.kubectl(["create", "-f", "-"], JSON.stringify(crd));
  await started.kubectl(["create", "namespace", "nodeippool"]);
  await started.kubectl(["wait", "--for=condition=Established", "crd/printers.toys.example.org"]);
});
let access: Access;
let kube: Objects;
beforeAll(() => {
  access = findAccess({ kubeconfig: cluster().kubeconfig });
  kube = objectsOf(access);
  return () => kube.close();
});

const served = (work: () => Promise<void>) => withController(access, work, { timing: hurried, systems: [toySystem] });
const get = (kind: Resource, name: string) => kube.get<KubeObject & Bag>(kind, name, "default");
const remove = async (kind: Resource, name: string) => kube.delete(kind, (await get(kind, name)) as never);
const make = (name: string) => kube.create(printers, toyObjects.printer(name, "default"));
const until = (what: () => Promise<unknown>, expected: unknown) =>
  expect.poll(what, { timeout: 20_000, interval: 50 }).toEqual(expected);
/** `10.0.0.1/29 True`, as the status of a Printer says it. */
const says = async (name: string) => {
  const { address, conditions } = asBag((await get(printers, name))?.status) ?? {};
  return `${address ?? ""} ${conditionOf(conditions, "Ready")?.status}`;
};
/** The addresses of its pod; none while that waits. */
const told = async (name: string) => {
  const pod = await get(pods, name);
  return pod === undefined || isGated(pod) ? [] : addressesGiven(pod).flatMap(({ ips }) => ips);
};
const lines = async () => {
  const { allocations, releasing } = await kubernetes(kube, "nodeippool").read();
  const text = ({ address, claim }: (typeof allocations)[number]) => `${formatAddress(address)} ${claim}`;
  return [...allocations.map(text), ...releasing.map((line) => `${text(line)} releasing`)];
};

/** A Printer has the one address, and its pod; it goes, and the next one waits until its pod has gone, too. */
async function handOver(name: string, next: string) {
  const ip = "10.0.0.1/29";
  await until(() => says(name), `${ip} True`);
  await kube.create(pods, podOf(name));
  await until(() => told(name), [ip]);
  await make(next);
  await kube.create(pods, podOf(next));
  await until(() => says(next), " False");
  await remove(printers, name);
  const releasing = `10.0.0.1 Printer/default:${name}/lan releasing`;
  await until(lines, [releasing]);
  await sleep(afterHold);
  expect([await lines(), await says(next), await told(next)]).toEqual([[releasing], " False", []]);
  await remove(pods, name);
  await until(() => says(next), `${ip} True`);
  await until(() => told(next), [ip]);
  expect(await lines()).toEqual([`10.0.0.1 Printer/default:${next}/lan`]);
}

it("a system of one file is served on a real API server, and again by a controller that begins anew: allocated, told, released by evidence alone", async () => {
  await kube.create(pools, pool);
  await make("lobby");
  await served(() => handOver("lobby", "attic"));
  await remove(pods, "attic");
  await served(() => handOver("attic", "lobby"));
});
