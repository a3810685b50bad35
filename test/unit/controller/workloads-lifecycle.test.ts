import { describe, expect, it } from "vitest";
import { kindsOf } from "../../../controller/cache/kinds.ts";
import { sweep } from "../../../controller/run/sweep.ts";
import { timing } from "../../../controller/timing.ts";
import { objectKey } from "../../../integrations/contract/object-key.ts";
import { workloadsInCluster } from "../../../integrations/workload/in-cluster.ts";
import { asBag, asList, type Bag, conditionOf } from "../../../schema/objects.ts";
import { pool } from "../../support/objects/ipam-claims.ts";
import { macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { workload } from "../../support/objects/workload-objects.ts";
import { SimApps, type SimObject } from "../../support/sim/apps.ts";
import { beginWorkloads } from "../../support/sim/begin-workloads.ts";
import { SimController } from "../../support/sim/controller.ts";

describe("the addresses of pods", () => {
  it("S1: are for any node, where their pool says nothing else", async () => {
    const { apps, create, pass } = beginWorkloads();
    create("StatefulSet", "web", { replicas: 1 });
    await pass();
    expect(asBag(apps.find("Pod", "web-0")?.spec)?.affinity).toBeUndefined();
  });

  it("S7, S9, S10: are recorded with the workload that has them, and those of a StatefulSet are used again", async () => {
    const { sim, apps, create, pass, told } = beginWorkloads();
    create("StatefulSet", "web", { replicas: 1 });
    await pass();
    expect(sim.lines()).toEqual(["10.0.0.1 StatefulSet/default:web/0/net1"]);
    const [owner] = asList(asBag(apps.find("ConfigMap", "nodeippool-web")?.metadata)?.ownerReferences);
    expect(owner).toMatchObject({
      kind: "StatefulSet",
      name: "web",
      uid: apps.find("StatefulSet", "web")?.metadata.uid,
    });
    create("StatefulSet", "app", { replicas: 1 });
    apps.remove(apps.find("Pod", "web-0") ?? {});
    await pass(10_000);
    expect(told()).toEqual(["app-0 10.0.0.2/24", "web-0 10.0.0.1/24"]);
  });

  it("I7, S9: hold nobody back: neither pods nor their ConfigMap have a finalizer, and a set that is made again before they end has the same", async () => {
    const { apps, create, pass, told } = beginWorkloads();
    create("StatefulSet", "web", { replicas: 2 });
    await pass();
    for (const { metadata } of [...apps.all("Pod"), ...apps.all("ConfigMap"), ...apps.all("StatefulSet")])
      expect(asList((metadata as Bag).finalizers).filter((one) => one !== "sim/kubelet")).toEqual([]);
    const [owner] = asList(asBag(apps.find("ConfigMap", "nodeippool-web")?.metadata)?.ownerReferences);
    expect(owner).not.toHaveProperty("blockOwnerDeletion");
    const before = told();
    apps.areNodesStuck = true;
    apps.remove(apps.find("StatefulSet", "web") ?? {});
    await pass(60_000);
    create("StatefulSet", "app", { replicas: 2 });
    create("StatefulSet", "web", { replicas: 2 });
    await pass(60_000);
    apps.areNodesStuck = false;
    await pass(60_000);
    expect(told()).toEqual(["app-0 10.0.0.3/24", "app-1 10.0.0.4/24", ...before]);
  });

  it("S6: are free half a minute after their last pod has ended, and not before that", async () => {
    const { sim, apps, create, pass } = beginWorkloads();
    create("StatefulSet", "web", { replicas: 2 });
    create("StatefulSet", "app", { replicas: 2 });
    await pass();
    apps.edit("StatefulSet", "web", { replicas: 1 });
    await pass(30_000);
    expect(sim.lines()).toHaveLength(3);
    apps.areNodesStuck = true;
    apps.edit("StatefulSet", "app", { replicas: 1 });
    await pass(120_000);
    expect(sim.lines()).toHaveLength(3);
    apps.areNodesStuck = false;
    await pass(30_000);
    expect(sim.lines()).toHaveLength(2);
  });

  it("S8: of a Deployment go from pod to pod within its own set", async () => {
    const { sim, apps, create, pass, told } = beginWorkloads();
    create("Deployment", "web", { replicas: 2 });
    await pass();
    const before = sim.lines();
    apps.roll("Deployment", "web");
    await pass(60_000);
    expect(sim.lines()).toEqual(before);
    const used = told().flatMap((text) => text.split(" ").slice(1));
    expect(used).toHaveLength(2);
    for (const ip of used) expect(before.some((line) => line.startsWith(`${ip.replace("/24", "")} `))).toBe(true);
  });

  it("S38, S39, S45: of a workload that is deleted are free once its pods are gone, and nothing is left of it", async () => {
    const { sim, apps, create, pass } = beginWorkloads();
    create("StatefulSet", "web", { replicas: 2 });
    create("Deployment", "api", { replicas: 1 });
    await pass();
    for (const kind of ["StatefulSet", "Deployment"] as const) for (const one of apps.all(kind)) apps.remove(one);
    await pass(90_000);
    expect([sim.lines(), apps.all("ConfigMap"), apps.all("Pod")]).toEqual([[], [], []]);
  });

  it("S40: of pods whose end no event has told are free by the next look at the record", async () => {
    const { sim, apps, create, pass } = beginWorkloads();
    create("StatefulSet", "web", { replicas: 2 });
    await pass();
    const { queue } = sim.engine;
    const add = queue.add.bind(queue);
    queue.add = () => {};
    apps.edit("StatefulSet", "web", { replicas: 1 });
    await pass(5000);
    queue.add = add;
    await pass(timing.again / 2);
    expect(sim.lines()).toEqual(["10.0.0.1 StatefulSet/default:web/0/net1"]);
  });

  it("S40, S41: of pods whose end no watch has told are free by the next look at everything, and so are their indexes", async () => {
    const { sim, reconciler, apps, create, pass, told } = beginWorkloads();
    create("Deployment", "web", { replicas: 1, strategy: { rollingUpdate: { maxSurge: 0 } } });
    create("StatefulSet", "db", { replicas: 1 });
    await pass();
    const caches = [sim.cache, reconciler.cache];
    const ghosts = caches.flatMap((cache) => cache.all("Pod").map((pod) => () => cache.set(pod)));
    apps.remove(apps.find("StatefulSet", "db") ?? {});
    for (const pod of apps.all("Pod")) {
      apps.remove(pod);
      apps.change(pod, (one) => ({ ...one, metadata: { ...asBag(one.metadata), finalizers: [] } }));
    }
    for (const one of [sim, reconciler]) await one.pass(100);
    for (const show of ghosts) show();
    await pass(90_000);
    expect(told().map((text) => text.split(" ")[1])).toEqual([undefined]);
    expect(sim.lines()).toHaveLength(2);
    await sweep(sim.cache, async () => new Set(apps.all("Pod").map((pod) => objectKey(pod as never))));
    // In a whole controller this is the same cache.
    const isThere = (key: string) => sim.cache.get(key) !== undefined;
    for (const key of reconciler.cache.all("Pod").map(objectKey)) if (!isThere(key)) reconciler.cache.delete(key);
    sim.engine.resync();
    await pass(60_000);
    expect(told().map((text) => text.split(" ")[1])).toEqual(["10.0.0.1/24"]);
    expect(sim.lines()).toHaveLength(1);
  });

  it("S41: of pods whose end nobody saw are free once it is seen", async () => {
    const { sim, apps, create, pass } = beginWorkloads();
    create("StatefulSet", "web", { replicas: 2 });
    await pass();
    sim.isFrozen = true;
    apps.edit("StatefulSet", "web", { replicas: 1 });
    await pass(5000);
    expect(sim.lines()).toHaveLength(2);
    sim.isFrozen = false;
    await pass(90_000);
    expect(sim.lines()).toEqual(["10.0.0.1 StatefulSet/default:web/0/net1"]);
  });

  describe("are not free where only the server knows that they are used", () => {
    /** The pod of a StatefulSet that is gone does not end; the engine hears nothing more. */
    const begin = async (areNodesStuck: boolean) => {
      const all = beginWorkloads();
      const { sim, apps, create, pass } = all;
      create("StatefulSet", "web", { replicas: 1 });
      await pass();
      const map = apps.find("ConfigMap", "nodeippool-web") as SimObject & { kind: string };
      apps.areNodesStuck = areNodesStuck;
      apps.edit("StatefulSet", "web", { replicas: 0 });
      await pass(5000);
      expect(sim.lines()).toEqual(["10.0.0.1 StatefulSet/default:web/0/net1 releasing"]);
      sim.isFrozen = true;
      return { ...all, map };
    };

    it("by a pod that no watch has shown", async () => {
      const { sim, apps, pass } = await begin(true);
      const [pod] = apps.all("Pod") as Bag[] as [Bag];
      sim.cache.delete(objectKey(pod as never));
      apps.change(pod, (one) => ({ ...one, status: { phase: "Running", podIPs: [] } }));
      await pass(90_000);
      expect(sim.lines()).toHaveLength(1);
    });

    it("by a StatefulSet that is made again", async () => {
      const { sim, apps, pass } = await begin(false);
      const [set] = apps.all("StatefulSet") as [SimObject & { kind: string }];
      sim.isFrozen = false;
      apps.remove(set);
      await pass(5000);
      sim.isFrozen = true;
      apps.create({ ...set, spec: { ...asBag(set.spec), replicas: 1 } });
      await sim.pass(90_000);
      expect(sim.lines()).toHaveLength(1);
    });

    it("by a ConfigMap that a plan has made", async () => {
      const { sim, apps, pass, map } = await begin(false);
      expect(apps.all("ConfigMap")).toEqual([]);
      const labels = { "nodeippool.nmstate.io/statefulset": "web", "nodeippool.nmstate.io/addresses": "pods" };
      apps.create({ ...map, metadata: { name: "nodeippool-web", namespace: "default", labels } });
      await pass(90_000);
      expect(sim.lines()).toHaveLength(1);
    });
  });

  it("are neither releasing nor free while pods cannot be seen", async () => {
    const all = [workloadsInCluster];
    const served = kindsOf(all).map(({ kind }) => kind);
    const begin = (kinds: readonly string[], replicas: number) => {
      const sim = new SimController(undefined, undefined, kinds, all);
      const apps = new SimApps(sim.server);
      apps.create(pool("lan", "10.0.0.0/24", "10.0.0.9"));
      apps.create(macvlanNetwork("red", "lan"));
      apps.create(workload("StatefulSet", "web", { replicas }));
      return { sim, apps };
    };
    const blind = served.filter((kind) => kind !== "Pod");
    for (const [kinds, after] of [[served, 5000] as const, [blind, 90_000] as const]) {
      const { sim, apps } = begin(kinds, 1);
      await sim.pass(3000);
      apps.edit("StatefulSet", "web", { replicas: 0 });
      await sim.pass(after);
      expect(sim.lines()).toEqual([`10.0.0.1 StatefulSet/default:web/0/net1${kinds === served ? " releasing" : ""}`]);
      // It stays so for a controller that begins with that record.
      const { sim: next } = begin(blind, 0);
      next.record = sim.record;
      await next.pass(90_000);
      expect(next.lines()).toEqual(sim.lines());
    }
  });

  it("S44, I6: of a pod that runs and shows none stay its", async () => {
    const { sim, apps, create, pass } = beginWorkloads();
    create("Deployment", "web", { replicas: 1, strategy: { type: "Recreate" } });
    await pass();
    for (const pod of apps.all("Pod"))
      apps.change(pod, (one) => ({ ...one, status: { phase: "Running", podIPs: [] } }));
    apps.remove(apps.find("Deployment", "web") ?? {});
    apps.areNodesStuck = true;
    await pass(90_000);
    expect(sim.lines()).toEqual(["10.0.0.1 Deployment/default:web/0/net1 releasing"]);
  });

  it("I16: are never those of the gateway, the network or its broadcast", async () => {
    const { sim, apps, create, pass, told } = beginWorkloads({ pools: "small" });
    const spec = { range: { cidr: "10.9.0.0/29" }, gateway: "10.9.0.1", authority: "Cluster" };
    apps.create({ apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: { name: "small" }, spec });
    create("StatefulSet", "web", { replicas: 6 });
    await pass();
    expect(told().slice(0, 5)).toEqual([2, 3, 4, 5, 6].map((n, i) => `web-${i} 10.9.0.${n}/29`));
    expect(told()[5]).toBe("web-5");
    expect(sim.said.join()).toContain("pool small is exhausted");
  });
});

describe("a pool with addresses of pods", () => {
  const deletePool = (apps: ReturnType<typeof beginWorkloads>["apps"]) => {
    const there = apps.find("NodeIPPool", "lan");
    if (there !== undefined) apps.remove(there);
  };

  it("S35, S36, S37, I14: stays while it is in use, gives nothing new, takes addresses back, and goes once all are free", async () => {
    const { sim, apps, create, pass, told } = beginWorkloads();
    create("StatefulSet", "web", { replicas: 2 });
    await pass();
    deletePool(apps);
    apps.edit("StatefulSet", "web", { replicas: 3 });
    await pass(10_000);
    expect(told()).toEqual(["web-0 10.0.0.1/24", "web-1 10.0.0.2/24", "web-2"]);
    expect(asList(asBag(apps.find("NodeIPPool", "lan")?.metadata)?.finalizers)).toHaveLength(1);
    apps.edit("NodeIPPool", "lan", {
      range: { cidr: "10.0.0.0/24", start: "10.0.0.1", end: "10.0.0.9", exclude: ["10.0.0.9"] },
    });
    apps.edit("StatefulSet", "web", { replicas: 1 });
    await pass(90_000);
    expect(sim.lines()).toEqual(["10.0.0.1 StatefulSet/default:web/0/net1"]);
    apps.remove(apps.find("StatefulSet", "web") ?? {});
    await pass(90_000);
    expect([apps.find("NodeIPPool", "lan"), sim.lines()]).toEqual([undefined, []]);
  });

  it("S14: has none of another pool: the older one gives them, and the newer one says why it gives none", async () => {
    const { sim, apps, create, pass, told } = beginWorkloads();
    apps.create(pool("twin", "10.0.0.0/24", "10.0.0.5"));
    create("StatefulSet", "web", { replicas: 1 });
    await pass();
    expect(told()).toEqual(["web-0 10.0.0.1/24"]);
    const available = (name: string) =>
      conditionOf(asBag(apps.find("NodeIPPool", name)?.status)?.conditions, "Available");
    expect(["lan", "twin"].map((name) => available(name)?.reason)).toEqual(["ReconciledPool", "OverlappingIPPool"]);
    expect(sim.lines()).toEqual(["10.0.0.1 StatefulSet/default:web/0/net1"]);
  });
});
