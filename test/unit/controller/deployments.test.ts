import { describe, expect, it } from "vitest";
import { keep } from "../../../controller/cache/seen.ts";
import { podDelivery } from "../../../integrations/workload/pod-delivery.ts";
import { indexAnnotation } from "../../../integrations/workload/pods.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { gate, ipsOf, singlePod } from "../../support/objects/workload-objects.ts";
import { isRunning } from "../../support/sim/apps.ts";
import { beginWorkloads } from "../../support/sim/begin-workloads.ts";
import { SimReconciler } from "../../support/sim/reconciler.ts";

const rolling = (replicas: number, maxSurge = 1) => ({ replicas, strategy: { rollingUpdate: { maxSurge } } });

describe("a Deployment whose pods wait for the controller", () => {
  /** The addresses of its pods that run, sorted. */
  const running = ({ apps }: ReturnType<typeof beginWorkloads>) =>
    apps.all("Pod").filter(isRunning).flatMap(ipsOf).sort();

  it("S5: each pod has an index, and its address; there are as many as pods, and those of a rollout", async () => {
    const all = beginWorkloads();
    all.create("Deployment", "web", rolling(3));
    await all.pass();
    expect(running(all)).toEqual(["10.0.0.1/24", "10.0.0.2/24", "10.0.0.3/24"]);
    expect(all.sim.lines()).toEqual([0, 1, 2, 3].map((i) => `10.0.0.${i + 1} Deployment/default:web/${i}/net1`));
    const map = all.apps.find("ConfigMap", "nodeippool-deployment.web") as Bag;
    expect(Object.keys(asBag(map.data) ?? {})).toEqual(["0", "1", "2", "3"]);
  });

  it("rolled, it needs no more: what a pod had, the next one has once it has ended", async () => {
    const all = beginWorkloads();
    const { apps, sim, reconciler, create, pass } = all;
    create("Deployment", "web", rolling(3));
    await pass();
    const lines = sim.lines();
    for (let i = 0; i < 4; i++) {
      apps.roll("Deployment", "web");
      await pass(5000);
    }
    expect(new Set(running(all)).size).toBe(3);
    expect(sim.lines()).toEqual(lines);
    apps.areNodesStuck = true;
    for (const pod of apps.all("Pod")) apps.remove(pod);
    await pass(90_000);
    // One index is free, and three pods end without end.
    expect(apps.all("Pod").filter((pod) => ipsOf(pod).length === 0)).toHaveLength(2);
    expect(reconciler.said.join()).toContain(
      "ConfigMap nodeippool-deployment.web has addresses for 4 pods of Deployment web",
    );
    apps.areNodesStuck = false;
    await pass(5000);
    expect(new Set(running(all)).size).toBe(3);
  });

  it("S10: scaled, a pod that stays keeps its address, whichever index it has; it is free once the pod has ended", async () => {
    const all = beginWorkloads();
    const { apps, sim, create, pass } = all;
    create("Deployment", "web", rolling(5));
    await pass();
    for (const pod of apps.all("Pod").slice(0, 3)) apps.remove(pod);
    apps.edit("Deployment", "web", rolling(2));
    await pass(60_000);
    const before = running(all);
    expect(before).toHaveLength(2);
    create("Deployment", "app", rolling(3));
    await pass(60_000);
    expect(running(all)).toHaveLength(5);
    expect(new Set(running(all)).size).toBe(5);
    apps.roll("Deployment", "web");
    await pass(90_000);
    expect(sim.lines().filter((line) => line.includes("/default:web/"))).toHaveLength(3);
  });

  it.each([
    ["both wait", true, [1, 0]],
    ["the second one has begun", false, [0, 1]],
  ])("two pods with one index, of which %s: one of them keeps it", async (_, isGated, indexes) => {
    const { apps, create, pass, told, reconciler } = beginWorkloads();
    create("Deployment", "web", rolling(2));
    reconciler.isFrozen = true;
    for (let i = 0; i < 3; i++) for (const step of apps.steps()) step();
    const pods = apps.all("Pod");
    expect(pods).toHaveLength(2);
    for (const [i, pod] of pods.entries())
      apps.change(pod, (one) => ({
        ...one,
        metadata: {
          ...asBag(one.metadata),
          annotations: {
            ...asBag(asBag(one.metadata)?.annotations),
            "nodeippool.nmstate.io/pod-index": "Deployment/web/1",
          },
        },
        ...(i === 1 && !isGated ? { spec: { schedulingGates: [] } } : {}),
      }));
    reconciler.isFrozen = false;
    await pass();
    const found = apps
      .all("Pod")
      .map((pod) => asBag(asBag(pod.metadata)?.annotations)?.["nodeippool.nmstate.io/pod-index"]);
    expect(found).toEqual(indexes.map((index) => `Deployment/web/${index}`));
    expect(new Set(told()).size).toBe(2);
  });
});

it("of two controllers, the one that sees a pod as it was before gives its index to no other one", async () => {
  const { apps, create, pass, told, reconciler, sim } = beginWorkloads();
  create("Deployment", "web", rolling(1, 1));
  reconciler.isFrozen = true;
  for (let i = 0; i < 2; i++) for (const step of apps.steps()) step();
  await sim.pass(3000);
  const late = new SimReconciler(podDelivery, sim.server);
  const created = (creationTimestamp: string) => (one: Bag) => ({
    ...one,
    metadata: { ...asBag(one.metadata), creationTimestamp },
  });
  apps.change(apps.all("Pod")[0] as Bag, created("2025-01-02T00:00:00Z"));
  // It knows the pod and the ConfigMap, and hears no more of them.
  for (const one of [...apps.all("Pod"), ...apps.all("ConfigMap"), ...apps.all("NetworkAttachmentDefinition")])
    late.cache.set(keep(late.cache.kindFor(one as never), one));
  reconciler.isFrozen = false;
  await pass();
  const [first] = told();
  // The clock of another API server is late: the next pod seems to be older.
  const [{ metadata, spec }] = apps.all("Pod") as unknown as [{ metadata: Bag; spec: Bag }];
  const next = apps.create({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...metadata,
      ...{ name: "next", creationTimestamp: "2025-01-01T00:00:00Z", finalizers: [] },
      annotations: { "k8s.v1.cni.cncf.io/networks": "red" },
    },
    spec: { ...spec, schedulingGates: [{ name: gate }] },
  });
  late.isFrozen = true;
  late.cache.set(keep(late.cache.kindFor(next as never), next));
  await late.pass(5000);
  expect(told()).toEqual(["next 10.0.0.2/24", first]);
});

describe("the ConfigMap of a plan", () => {
  it("serves the pods that wait as well; one that is not in it waits, and an Event says why", async () => {
    const { sim, apps, reconciler, create, pass, told } = beginWorkloads({ spec: { authority: "Plan" } });
    create("Deployment", "web", rolling(1));
    create("StatefulSet", "db", { replicas: 2 });
    await pass();
    expect(sim.said.join("\n")).toContain(
      "Deployment.apps/default:web Refused: a plan gives the addresses of its pods",
    );
    const map = (name: string, kind: string, of: string, key: string, ip: string) =>
      apps.create({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: {
          ...{ name, namespace: "default" },
          labels: { [`nodeippool.nmstate.io/${kind}`]: of, "nodeippool.nmstate.io/addresses": "pods" },
        },
        data: { [key]: JSON.stringify([{ name: "red", interface: "net1", ips: [ip] }]) },
      });
    map("nodeippool-deployment.web", "deployment", "web", "0", "10.0.0.7/24");
    map("nodeippool-db", "statefulset", "db", "db-0", "10.0.0.8/24");
    await pass();
    expect(told().map((text) => text.split(" ")[1])).toEqual(["10.0.0.8/24", undefined, "10.0.0.7/24"]);
    expect(reconciler.said.join("\n")).toContain(
      "Pod/default:db-1 Refused: ConfigMap nodeippool-db has no addresses for it: allocate, render and apply StatefulSet db",
    );
    expect(sim.lines()).toEqual([]);
  });
});

it("a pod is told nothing for which the server was asked too long ago", async () => {
  const { reconciler, create, pass, told } = beginWorkloads();
  reconciler.delay = (verb) => (verb.startsWith("list") ? 6_000 : 0);
  create("Deployment", "web", { replicas: 1 });
  await pass(60_000);
  expect(told().map((text) => text.split(" ").length)).toEqual([1]);
  reconciler.delay = () => 0;
  await pass(60_000);
  expect(told().map((text) => text.split(" ").length)).toEqual([2]);
});

it("a pod is told while other pods around it change all the time", async () => {
  const { reconciler, apps, create, pass, told } = beginWorkloads();
  apps.create({ ...singlePod("other"), spec: {} });
  reconciler.delayAfter = (verb) => (verb.startsWith("list") ? 1_100 : 0);
  create("Deployment", "web", { replicas: 1 });
  for (let i = 0; i < 30; i++) {
    apps.change(apps.find("Pod", "other") ?? {}, (pod) => marked(pod, { beat: `${i}` }));
    await pass(1_000);
  }
  expect(told().filter((text) => / 10\.0\.0\./.test(text))).toHaveLength(1);
});

it("an index is not told that another pod has by what the watch shows while the server is asked", async () => {
  const { sim, reconciler, apps, create, pass, told } = beginWorkloads();
  create("Deployment", "web", { replicas: 1 });
  await pass();
  const [first] = apps.all("Pod");
  reconciler.isFrozen = true;
  apps.edit("Deployment", "web", { replicas: 2 });
  await pass(200);
  const second = apps.all("Pod").find((pod) => pod.metadata.name !== first?.metadata.name);
  apps.change(second ?? {}, (pod) => marked(pod, { [indexAnnotation]: "Deployment/web/0" }));
  // Another controller, which has not seen the first one yet.
  const other = new SimReconciler(podDelivery, sim.server);
  const { world } = other.reconciler;
  const see = (kind: Parameters<typeof apps.find>[0], name: unknown) =>
    world.take(world.allKinds().find((one) => one.kind === kind) as never, apps.find(kind, `${name}`) as never);
  see("ConfigMap", "nodeippool-deployment.web");
  see("NetworkAttachmentDefinition", "red");
  see("Pod", second?.metadata.name);
  other.isFrozen = true;
  other.delay = (verb) => (verb.startsWith("list") ? 2_000 : 0);
  await other.pass(1_000);
  see("Pod", first?.metadata.name);
  await other.pass(2_000);
  expect(other.requests.filter((verb) => verb.startsWith("list"))).not.toEqual([]);
  expect(told().filter((text) => text.endsWith(" 10.0.0.1/24"))).toHaveLength(1);
  await other.pass(10_000);
  expect(
    told()
      .map((text) => text.replace(/.* /, ""))
      .sort(),
  ).toEqual(["10.0.0.1/24", "10.0.0.2/24"]);
});

function marked(pod: Bag, annotations: Bag) {
  const metadata = asBag(pod.metadata);
  return {
    ...pod,
    metadata: { ...metadata, annotations: { ...asBag(metadata?.annotations), ...annotations } },
  } as never;
}
