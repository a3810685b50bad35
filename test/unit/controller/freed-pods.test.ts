import { describe, expect, it } from "vitest";
import { isDeleting } from "../../../integrations/contract/object-metadata.ts";
import { isGated } from "../../../integrations/networks/gated-pod.ts";
import { allocatedAnnotation } from "../../../integrations/networks/pod-allocation.ts";
import { freedPods } from "../../../integrations/workload/freed-pods.ts";
import { freedAnnotation, usesOfWorkloadPod } from "../../../integrations/workload/pods.ts";
import { reconcilersInCluster } from "../../../pipeline/integrations.ts";
import { asBag, type Bag, placeless } from "../../../schema/objects.ts";
import { gate, ipsOf, networksKey } from "../../support/objects/workload-objects.ts";
import { beginWorkloads } from "../../support/sim/begin-workloads.ts";
import { SimReconciler } from "../../support/sim/reconciler.ts";

type Nodes = Parameters<typeof freedPods>[0];
const grace = 30;
const minute = 60_000;

/** A Deployment of one pod, whose node does nothing any more: it was deleted, and the next one waits for its index. */
async function stuck(nodes: Nodes | undefined, node: boolean | undefined, kind = "Deployment") {
  const all = beginWorkloads({ ...(nodes && { free: freedPods(nodes, minute) }) });
  const { apps, create, pass } = all;
  if (node !== undefined) apps.says("n1", node);
  create(kind, "web", { replicas: 1, strategy: { rollingUpdate: { maxSurge: 0 } } });
  await pass();
  const [old] = apps.all("Pod") as Bag[] as [Bag];
  apps.areNodesStuck = true;
  apps.remove(old);
  apps.change(old, (one) => ({ ...one, metadata: { ...asBag(one.metadata), deletionGracePeriodSeconds: grace } }));
  /** The addresses of the pod that was deleted, and of the next one; none that waits. */
  const had = () =>
    apps
      .all("Pod")
      .sort((a, b) => Number(isDeleting(b)) - Number(isDeleting(a)))
      .map((pod) => ipsOf(pod).join());
  return { ...all, old, had };
}

const waits = ["10.0.0.1/24", ""];
const goesOn = ["10.0.0.1/24", "10.0.0.1/24"];

describe("a pod of a Deployment that is deleted and does not end", () => {
  it.each([
    ["S42: its node is Ready", "ready-nodes", true, goesOn],
    ["S42: the same, for all nodes", "all-nodes", true, goesOn],
    ["S42: nobody asked for that", undefined, true, waits],
    ["S43: its node is not Ready", "all-nodes", false, goesOn],
    ["S43: the same, for nodes that are Ready", "ready-nodes", false, waits],
    ["S43: nobody asked for that", undefined, false, waits],
    ["S43: its node is gone", "all-nodes", undefined, goesOn],
    ["S43: the same, for nodes that are Ready", "ready-nodes", undefined, waits],
  ] as const)("%s (%s)", async (_, nodes, node, after) => {
    const { had, pass, sim } = await stuck(nodes, node);
    const lines = sim.lines();
    await pass(1000 * grace + minute - 1000);
    expect(had()).toEqual(waits);
    await pass(10_000);
    expect(had()).toEqual(after);
    expect(sim.lines()).toEqual(lines);
  });

  it("S42: an Event says that, and what to do", async () => {
    const { pass, freeing, old } = await stuck("ready-nodes", true);
    await pass(1000 * grace + 2 * minute);
    const { name } = old.metadata as { name: string };
    expect([...new Set(freeing?.said)]).toEqual([
      `Pod/default:${name} Freed: 10.0.0.1 may be another pod's by now: this one was deleted, and node n1 did not end it in time. See that it runs no more, and delete it by force`,
    ]);
  });

  it("S42: loses nothing where its node was not Ready in between, also if only the server knows that", async () => {
    const { pass, apps, had, freeing } = await stuck("ready-nodes", true);
    await pass(minute);
    apps.says("n1", false);
    await pass();
    apps.says("n1", true);
    await pass(minute);
    expect(had()).toEqual(waits);
    if (freeing !== undefined) freeing.isFrozen = true;
    apps.says("n1", false);
    await pass(2 * minute);
    expect(had()).toEqual(waits);
  });

  it("S43: is waited for anew by a controller that is started anew; a mark holds without one", async () => {
    const { pass, sim, had, freeing, old, apps } = await stuck("all-nodes", false);
    await pass(minute);
    if (freeing !== undefined) freeing.isFrozen = true;
    const next = new SimReconciler(freedPods("all-nodes", minute), sim.server);
    freeing?.reconciler.queue.close();
    for (let i = 0; i < 8; i++) {
      await pass(5000);
      await next.pass(5000);
    }
    expect(had()).toEqual(waits);
    for (let i = 0; i < 12; i++) {
      await pass(5000);
      await next.pass(5000);
    }
    expect(had()).toEqual(goesOn);
    const { name, uid } = old.metadata as { name: string; uid: string };
    expect(asBag(apps.find("Pod", name)?.metadata)?.annotations).toMatchObject({ [freedAnnotation]: uid });
  });

  it("S43: releases what its Deployment asks for no more", async () => {
    const { pass, sim, apps } = await stuck("all-nodes", false);
    apps.remove(apps.find("Deployment", "web") ?? {});
    await pass(minute);
    expect(sim.lines()).toEqual(["10.0.0.1 Deployment/default:web/0/net1 releasing"]);
    await pass(2 * minute);
    expect(sim.lines()).toEqual([]);
  });

  it("keeps all while it is not deleted, or bears the mark of another one, as a copy does", async () => {
    const all = beginWorkloads({ free: freedPods("all-nodes", 0) });
    all.create("Deployment", "web", { replicas: 2, strategy: { rollingUpdate: { maxSurge: 0 } } });
    await all.pass();
    const [one, other] = all.apps.all("Pod") as Bag[] as [Bag, Bag];
    for (const pod of [one, other])
      all.apps.change(pod, (there) => {
        const uid = pod === one ? asBag(one.metadata)?.uid : "another";
        const metadata = asBag(there.metadata);
        return {
          ...there,
          metadata: { ...metadata, annotations: { ...asBag(metadata?.annotations), [freedAnnotation]: uid } },
        };
      });
    all.freeing?.reconciler.queue.close();
    all.apps.areNodesStuck = true;
    all.apps.remove(other);
    await all.pass(minute);
    expect(all.apps.all("Pod").filter(isGated)).toHaveLength(1);
  });

  it("is marked once, without a look in between: the controller waits", async () => {
    const { pass, freeing } = await stuck("all-nodes", false);
    const looks: string[] = [];
    const ask = freeing?.reconciler.world.ofOwner.bind(freeing.reconciler.world);
    if (freeing !== undefined && ask !== undefined)
      freeing.reconciler.world.ofOwner = (name) => {
        looks.push(name);
        return ask(name);
      };
    await pass(2 * minute);
    expect(looks.length).toBeLessThan(8);
    expect(freeing?.requests.filter((one) => one.startsWith("patch"))).toHaveLength(1);
  });
});

it("a pod of a StatefulSet that is deleted and does not end keeps its address", async () => {
  const { pass, sim, had } = await stuck("all-nodes", false, "StatefulSet");
  await pass(5 * minute);
  expect(had()).toEqual(["10.0.0.1/24"]);
  expect(sim.lines()).toEqual(["10.0.0.1 StatefulSet/default:web/0/net1"]);
});

it("S52: other flags move nothing, and take nothing back", async () => {
  const { sim, apps, create, pass, told, had } = await stuck("all-nodes", false);
  create("StatefulSet", "db", { replicas: 2 });
  await pass(2 * minute);
  apps.areNodesStuck = false;
  await pass();
  const before = () => [sim.lines(), told(), had()];
  const known = before();
  for (const freeTerminating of ["never", "ready-nodes", "all-nodes"] as const) {
    const asked = { workloadAddresses: true, freeTerminating, freeTerminatingAfter: 0 };
    const ofPods = reconcilersInCluster(asked).filter(({ kinds }) => kinds.some(({ kind }) => kind === "Pod"));
    const all = ofPods.map((one) => new SimReconciler(one, sim.server));
    expect(all).toHaveLength(freeTerminating === "never" ? 1 : 2);
    sim.engine.resync();
    for (const one of all) await one.pass(5000);
    await pass(5000);
    expect(before()).toEqual(known);
  }
});

describe("which pods are marked", () => {
  const ready = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n1" },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  };
  const said = '[{"name":"red","interface":"net1","ips":["10.0.0.1/24"]}]';
  const given = '[{"interface":"net1","ips":["10.0.0.1/24"]}]';
  const pod = ({
    of = "ReplicaSet",
    networks = said,
    nodeName = "n1",
    gated = false,
    phase = "Running",
    mark = "",
    allocated = "",
  }) => {
    const ownerReferences = [{ apiVersion: "apps/v1", kind: of, name: of === "ReplicaSet" ? "web-abc" : "web" }];
    const labels = { [gate]: "gated", "pod-template-hash": "abc" };
    const annotations = {
      [networksKey]: networks,
      ...(mark && { [freedAnnotation]: mark }),
      ...(allocated && { [allocatedAnnotation]: allocated }),
    };
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    return {
      ...{ apiVersion: "v1", kind: "Pod", status: { phase } },
      metadata: {
        name: "web-0",
        namespace: "default",
        uid: "u",
        ownerReferences,
        labels,
        annotations,
        deletionTimestamp,
      },
      spec: { nodeName, schedulingGates: gated ? [{ name: gate }] : [] },
    };
  };

  it.each<[boolean, string, Parameters<typeof pod>[0]]>([
    [true, "one that runs", {}],
    [true, "one that was told its addresses, and never came to a node", { nodeName: "", phase: "Pending" }],
    [true, "one whose networks somebody has written anew", { networks: "red", allocated: given }],
    [false, "one that waits", { gated: true }],
    [false, "one without addresses", { networks: "red" }],
    [false, "one that has ended", { phase: "Failed" }],
    [false, "one of a StatefulSet", { of: "StatefulSet" }],
  ])("%s: %s", (isMarked, _, fields) => {
    const { belongsTo, steps } = freedPods("ready-nodes", minute);
    const one = pod(fields);
    const names = belongsTo(one) as readonly string[];
    const nodes = one.spec.nodeName === "" ? [] : [ready];
    const found = names.flatMap((name) => steps(name, [one, ...nodes], () => undefined));
    expect(found.map(({ verb }) => verb)).toEqual(isMarked ? ["change"] : []);
  });

  it.each([
    [0, "of a Deployment", {}],
    [1, "of a StatefulSet, by whoever wrote that", { of: "StatefulSet" }],
  ])("%i address stays, where the mark is on a pod %s", (count, _, fields) => {
    expect(usesOfWorkloadPod(placeless(pod({ ...fields, mark: "u" }) as never))).toHaveLength(count);
  });
});
