import { describe, expect, it } from "vitest";
import { keep } from "../../../controller/cache/seen.ts";
import { podDelivery } from "../../../integrations/workload/pod-delivery.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { detected } from "../../support/objects/pod-detects.ts";
import { gate, ipsOf, networksKey } from "../../support/objects/workload-objects.ts";
import type { SimObject } from "../../support/sim/apps.ts";
import { beginWorkloads } from "../../support/sim/begin-workloads.ts";
import { SimReconciler } from "../../support/sim/reconciler.ts";

const indexKey = "nodeippool.nmstate.io/pod-index";
const rolling = (replicas: number, maxSurge = 0) => ({ replicas, strategy: { rollingUpdate: { maxSurge } } });

/** The watch of a reconciler shows an object. */
function show({ cache }: SimReconciler, object: object): void {
  cache.set(keep(cache.kindFor(object as never), structuredClone(object)));
}

function begin(options: Parameters<typeof beginWorkloads>[0] = {}) {
  const all = beginWorkloads(options);
  const { apps } = all;
  /** Somebody else writes data of a ConfigMap. */
  const write = (name: string, data: (before: Bag) => Bag) =>
    apps.change(apps.find("ConfigMap", name) as Bag, (one) => ({ ...one, data: data(asBag(one.data) ?? {}) }));
  /** Their pods say that other hosts answer for these addresses. */
  const find = (...ips: readonly string[]) => {
    const pods = apps.all("Pod").filter((pod) => ips.some((ip) => ipsOf(pod).includes(`${ip}/24`)));
    for (const pod of pods)
      apps.change(pod, (one) => ({
        ...one,
        status: detected(4, `conflict ${ipsOf(pod)[0]?.replace("/24", "")} net1`),
      }));
    return pods;
  };
  const deletes = () => all.reconciler.requests.filter((one) => one === "delete pods").length;
  return { ...all, write, find, deletes };
}

describe("what a pod is told is right by what the server has", () => {
  it("not by a ConfigMap that is otherwise by now", async () => {
    const { apps, sim, reconciler, create, pass, told, write } = begin();
    create("StatefulSet", "web", { replicas: 1 });
    await pass();
    for (const one of [sim, reconciler]) one.isFrozen = true;
    write("nodeippool-web", (data) => ({ "web-0": `${data["web-0"]}`.replace("10.0.0.1/", "10.0.0.5/") }));
    apps.remove(apps.find("Pod", "web-0") as Bag);
    await pass(1000);
    expect(told()).toEqual(["web-0"]);
    show(reconciler, apps.find("Pod", "web-0") as SimObject);
    await pass();
    expect(told()).toEqual(["web-0 10.0.0.5/24"]);
  });

  it("not by the pods of a Deployment that are seen: another one runs with this index", async () => {
    const { apps, sim, reconciler, create, pass, told } = begin();
    create("Deployment", "web", rolling(1, 1));
    await pass();
    reconciler.isFrozen = true;
    const [first] = apps.all("Pod") as [SimObject];
    const next = apps.create({
      ...{ apiVersion: "v1", kind: "Pod" },
      metadata: {
        ...{ ...first.metadata, name: "next", finalizers: [] },
        annotations: { [networksKey]: "red", [indexKey]: "Deployment/web/0" },
      },
      spec: { schedulingGates: [{ name: gate }] },
    });
    const late = new SimReconciler(podDelivery, sim.server);
    late.isFrozen = true;
    for (const one of [next, ...apps.all("ConfigMap"), ...apps.all("NetworkAttachmentDefinition")]) show(late, one);
    await late.pass(3000);
    expect(told()).toEqual(["next 10.0.0.2/24", `${first.metadata.name} 10.0.0.1/24`]);
  });

  it("all of it is sent soon after the server was asked: those that are left are asked for again", async () => {
    const { reconciler, create, pass, told } = begin({ last: 20 });
    reconciler.delay = (verb) => (verb === "patch pods" ? 6_000 : 0);
    create("Deployment", "web", rolling(20));
    await pass(40_000);
    const sent = reconciler.requests
      .join()
      .split("list pods")
      .map((run) => run.split("patch pods").length - 1);
    expect(Math.max(...sent)).toBe(16);
    expect(new Set(told().map((text) => text.split(" ")[1]))).toHaveLength(20);
  });
});

describe("a pod that does not start, as another host answers for its address", () => {
  it("stays where its ConfigMap has its index again, and nobody saw that", async () => {
    const { apps, sim, reconciler, create, pass, write, find, deletes } = begin();
    create("Deployment", "web", rolling(1, 1));
    await pass();
    sim.isFrozen = true;
    write("nodeippool-deployment.web", (data) => ({ ...data, conflicts: "0" }));
    await pass(1000);
    reconciler.isFrozen = true;
    write("nodeippool-deployment.web", ({ conflicts: _, ...data }) => data);
    for (const { metadata } of find("10.0.0.1")) show(reconciler, apps.find("Pod", metadata.name) as SimObject);
    await pass();
    expect(deletes()).toBe(0);
  });

  it("makes way for as many others as there are indexes", async () => {
    const { create, pass, find, deletes, told } = begin({ last: 3 });
    create("Deployment", "web", rolling(2, 1));
    await pass();
    const pods = find("10.0.0.1", "10.0.0.2").map(({ metadata }) => metadata.name);
    await pass(20_000);
    expect(deletes()).toBe(1);
    expect(
      told()
        .map((text) => text.split(" ")[1])
        .sort(),
    ).toContain("10.0.0.3/24");
    expect(told().filter((text) => pods.some((name) => text.startsWith(name)))).toHaveLength(1);
  });

  it("makes way, although another one that is being deleted has not ended", async () => {
    const { apps, create, pass, find, deletes } = begin({ last: 4 });
    create("Deployment", "web", rolling(2, 2));
    await pass();
    apps.areNodesStuck = true;
    apps.remove(apps.all("Pod")[0] as Bag);
    await pass(1000);
    const [, second] = find("10.0.0.1", "10.0.0.2");
    await pass(5000);
    expect(deletes()).toBe(1);
    expect(apps.find("Pod", `${second?.metadata.name}`)?.metadata).toHaveProperty("deletionTimestamp");
  });
});
